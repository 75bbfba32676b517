"""Why a leg stayed unmet: how far each side got, which anchor is at fault, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.types import FloatArray, Problem, TreePicture

STUCK = 0.1
"""A side that got away from its anchor by less than this share of the leg hardly moved."""


@dataclass(frozen=True)
class Side:
    """What was found from one end of a leg: name and place [d] of its anchor, the other end [d], and all
    places [n, d] that its trees came to."""

    name: str
    place: FloatArray
    other: FloatArray
    reached: FloatArray

    @property
    def away(self) -> float:
        """Units that it got away from its anchor."""
        return float(np.linalg.norm(self.reached - self.place, axis=1).max())

    @property
    def is_stuck(self) -> bool:
        """Whether it hardly moved."""
        return self.away < STUCK * float(np.linalg.norm(self.other - self.place))

    def told(self, frame: Frame) -> str:
        """Where it came nearest to the other end."""
        left = np.linalg.norm(self.reached - self.other, axis=1)
        nearest = int(np.argmin(left))
        return (
            f"from {self.name} the search came to {frame.show_local(self.reached[nearest])}, "
            f"{left[nearest]:.3g} {frame.unit} short"
        )


def shortfalls(
    unmet: Sequence[tuple[str, str]], problem: Problem, trees: Sequence[TreePicture], frame: Frame
) -> tuple[str, ...]:
    """A sentence about every unmet leg (from, to); the problem is in the user's coordinates, the trees are in
    the plane of the frame."""
    places = dict(zip(problem.names, frame.to_local(problem.anchors), strict=True))
    sentences = []
    for source, target in unmet:
        sides = (
            Side(source, places[source], places[target], _reached(source, places[source], trees)),
            Side(target, places[target], places[source], _reached(target, places[target], trees)),
        )
        found = " and ".join(side.told(frame) for side in sides)
        sentences.append(f"{source}→{target}: {found}; {_advice(*sides)}")
    return tuple(sentences)


def _reached(name: str, place: FloatArray, trees: Sequence[TreePicture]) -> FloatArray:
    """[n, d] all places that the trees of an anchor came to, its own place first."""
    own = [tree.segments.reshape(-1, len(place)) for tree in trees if tree.anchor == name]
    return np.concatenate([place[None], *own])


def _advice(source: Side, target: Side) -> str:
    """Who is at fault, and what would help."""
    if source.is_stuck and target.is_stuck:
        return "neither end is joined to the recordings; move both to where more was recorded"
    if source.is_stuck:
        return f"{source.name} is at fault: record a way that leaves it, or move it to where others set out"
    if target.is_stuck:
        return f"{target.name} is at fault: record a way that leads there, or move it to where others arrive"
    return "record a way between the two, or allow more time if it was limited"
