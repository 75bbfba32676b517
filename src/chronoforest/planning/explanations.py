"""Why a plan is not complete: how far each side got, which anchor is at fault, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.types import FloatArray, Gap, Problem, TreePicture

STUCK = 0.1
"""A side that got away from its anchor by less than this share of the leg hardly moved."""


@dataclass(frozen=True, eq=False)
class Missing:
    """What a plan lacks: unmet legs (from, to) and waypoints that are left out; and the reasons: gaps and
    trees, in the plane of a frame."""

    unmet: Sequence[tuple[str, str]]
    left_out: Sequence[str]
    gaps: Sequence[Gap]
    trees: Sequence[TreePicture]


@dataclass(frozen=True, eq=False)
class Side:
    """One end of a leg: name of its anchor; nearest: the place [d] where it came nearest to the other side;
    away: units that it got away from its anchor; span: units between the two anchors."""

    name: str
    nearest: FloatArray
    away: float
    span: float

    @property
    def is_stuck(self) -> bool:
        """Whether it hardly moved."""
        return self.away < STUCK * self.span


def missing(unmet: Sequence[Sequence[str]], left_out: Sequence[str]) -> str:
    """Unmet legs (from, to) and waypoints that are left out, in a few words."""
    legs = ", ".join(f"{source}→{target}" for source, target in unmet)
    parts = [f"unmet: {legs}"] if unmet else []
    parts += [f"left out: {', '.join(left_out)}"] if left_out else []
    return "; ".join(parts)


def shortfalls(lacking: Missing, problem: Problem, frame: Frame) -> tuple[str, ...]:
    """A sentence about every unmet leg, and about waypoints that are left out, together where one gap is the
    reason; the problem is in the user's coordinates."""
    places = dict(zip(problem.names, frame.to_local(problem.anchors), strict=True))
    across = {(gap.source, gap.target): gap for gap in lacking.gaps if not gap.left_out}
    sentences = [
        _across(across[leg], places, frame) if leg in across else _grown(leg, places, lacking.trees, frame)
        for leg in map(tuple, lacking.unmet)
    ]
    cut_off = [gap for gap in lacking.gaps if gap.left_out]
    sentences += [_across(gap, places, frame) for gap in cut_off]
    cut_off_names = {name for gap in cut_off for name in gap.left_out}
    rest = [name for name in lacking.left_out if name not in cut_off_names]
    if rest:
        sentences.append(
            f"{_listed(rest)} left out: no order leads there as well as to the others; "
            "record more ways between them, or plan for them apart"
        )
    return tuple(sentences)


def _across(gap: Gap, places: dict[str, FloatArray], frame: Frame) -> str:
    """About a gap of the roadmap."""
    span = float(np.linalg.norm(places[gap.target] - places[gap.source]))
    sides = (
        Side(gap.source, gap.reached, gap.extents[0], span),
        Side(gap.target, gap.wanted, gap.extents[1], span),
    )
    width = float(np.linalg.norm(gap.wanted - gap.reached))
    head = f"{_listed(gap.left_out)} left out" if gap.left_out else f"{gap.source}→{gap.target}"
    return (
        f"{head}: ways from {gap.source} come to {frame.show_local(gap.reached)}, ways to {gap.target} begin "
        f"at {frame.show_local(gap.wanted)}, {width:.3g} {frame.unit} farther; {_between(gap, width)}; "
        f"{_advice(*sides, more_time=gap.is_recorded and not gap.is_searched)}"
    )


def _between(gap: Gap, width: float) -> str:
    """What is known of a gap."""
    if not gap.is_recorded:
        return "nothing was recorded in between"
    if gap.is_searched:
        return "trees were grown there in vain"
    return "no recording turns there so" if width == 0 else "no recording leads across"


def _grown(
    leg: tuple[str, ...], places: dict[str, FloatArray], trees: Sequence[TreePicture], frame: Frame
) -> str:
    """About a leg that trees were grown for."""
    source, target = leg
    sides = (_grown_side(source, target, places, trees), _grown_side(target, source, places, trees))
    found = " and ".join(
        f"from {side.name} the search came to {frame.show_local(side.nearest)}, "
        f"{np.linalg.norm(side.nearest - places[other.name]):.3g} {frame.unit} short"
        for side, other in zip(sides, sides[::-1], strict=True)
    )
    return f"{source}→{target}: {found}; {_advice(*sides, more_time=True)}"


def _grown_side(name: str, other: str, places: dict[str, FloatArray], trees: Sequence[TreePicture]) -> Side:
    """What the trees of an anchor came to."""
    place, goal = places[name], places[other]
    own = [tree.segments.reshape(-1, len(place)) for tree in trees if tree.anchor == name]
    reached = np.concatenate([place[None], *own])
    nearest = reached[int(np.argmin(np.linalg.norm(reached - goal, axis=1)))]
    away = float(np.linalg.norm(reached - place, axis=1).max())
    return Side(name, nearest, away, float(np.linalg.norm(goal - place)))


def _advice(source: Side, target: Side, more_time: bool) -> str:
    """Who is at fault, and what would help; more_time: whether that might."""
    if source.is_stuck and target.is_stuck:
        return "neither end is joined to the recordings; move both to where more was recorded"
    if source.is_stuck:
        return f"{source.name} is at fault: record a way that leaves it, or move it to where others set out"
    if target.is_stuck:
        return f"{target.name} is at fault: record a way that leads there, or move it to where others arrive"
    return f"record a way between the two{', or allow more time if it was limited' if more_time else ''}"


def _listed(names: Sequence[str]) -> str:
    """Names as the beginning of a sentence, with its verb."""
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
