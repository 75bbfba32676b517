"""Ways that the roadmap proposed, and what the denoiser realised of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.planning.assembly import Bridge
from chronoforest.types import FloatArray


@dataclass(frozen=True, eq=False)
class ProposedWay:
    """A leg's way: bridge: shortened; steps: expected along it; pieces: what is left to verify of it;
    segments: what was realised."""

    bridge: Bridge
    steps: float
    pieces: tuple[FloatArray, ...]
    segments: tuple[FloatArray, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether somebody moves like that all along."""
        return not self.pieces


def padded(segments: Sequence[FloatArray]) -> FloatArray:
    """[n, t, d] segments of different lengths; the shorter ones stay at their end."""
    longest = max(len(segment) for segment in segments)
    return np.stack([np.pad(s, ((0, longest - len(s)), (0, 0)), mode="edge") for s in segments])
