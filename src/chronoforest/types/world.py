"""What recordings say about the world they were made in."""

from __future__ import annotations

from dataclasses import dataclass

from chronoforest.errors import require_positive


@dataclass(frozen=True)
class WorldParams:
    """Facts that models, planning and walking share.

    is_reversible: any recorded motion could have been made backward, so that one tree serves both directions
    and the distance is the same both ways; is_one_way: ways are lanes, the way back is a detour wherever one
    is, so that directions of motion count; jump: world units; a longer step was not walked but is a teleport.
    """

    is_reversible: bool = True
    is_one_way: bool = False
    jump: float = 1.5

    def __post_init__(self) -> None:
        require_positive(self, "jump")
