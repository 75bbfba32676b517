"""A leg's way as the roadmap proposes it, and what the denoiser said of it so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.planning.assembly import Bridge
from chronoforest.roadmap.verify import Verdict
from chronoforest.types import FloatArray, Pair, TreePicture


@dataclass(frozen=True, eq=False)
class ProposedWay:
    """A leg's way: bridge: shortened; steps: expected along it; pieces: what is left to verify of it; told:
    steps that the roadmap gave for it; segments: what was realised; doubtful: the part of each piece that is
    left to which nobody keeps, where the denoiser told."""

    bridge: Bridge
    steps: float
    pieces: tuple[FloatArray, ...]
    told: float
    segments: tuple[FloatArray, ...] = ()
    doubtful: tuple[FloatArray, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether somebody moves like that all along."""
        return not self.pieces

    @property
    def doubts(self) -> tuple[FloatArray, ...]:
        """What speaks against the way: the doubtful parts of its pieces, or these as a whole."""
        return self.doubtful or self.pieces

    def judged(self, verdicts: Sequence[Verdict]) -> ProposedWay:
        """The way after a verdict on every piece that was left."""
        left = [
            (piece, verdict)
            for piece, verdict in zip(self.pieces, verdicts, strict=True)
            if not verdict.is_verified
        ]
        segments = [verdict.segment for verdict in verdicts if verdict.segment is not None]
        return replace(
            self,
            pieces=tuple(piece for piece, _ in left),
            segments=(*self.segments, *segments),
            doubtful=tuple(
                piece if verdict.doubtful is None else verdict.doubtful for piece, verdict in left
            ),
        )


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
