"""Ways that the roadmap proposed, and what the denoiser realised of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.planning.assembly import Bridge
from chronoforest.types import FloatArray, Pair, TreePicture


@dataclass(frozen=True, eq=False)
class ProposedWay:
    """A leg's way: bridge: shortened; steps: expected along it; pieces: what is left to verify of it; told:
    steps that the roadmap gave for it; segments: what was realised."""

    bridge: Bridge
    steps: float
    pieces: tuple[FloatArray, ...]
    told: float
    segments: tuple[FloatArray, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether somebody moves like that all along."""
        return not self.pieces


def pictures(
    names: Sequence[str], found: Mapping[Pair, ProposedWay], legs: Iterable[Pair]
) -> tuple[TreePicture, ...]:
    """The realised segments of every leg, each with as many points as the longest; names: of the anchors."""
    return tuple(
        TreePicture(names[leg.source], padded(found[leg].segments)) for leg in legs if found[leg].segments
    )


def padded(segments: Sequence[FloatArray]) -> FloatArray:
    """[n, t, d] segments of different lengths; the shorter ones stay at their end."""
    longest = max(len(segment) for segment in segments)
    return np.stack([np.pad(s, ((0, longest - len(s)), (0, 0)), mode="edge") for s in segments])
