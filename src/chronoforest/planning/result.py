"""What planning returns, saved as JSON that loads back and drawn as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.exports import plans
from chronoforest.files import write_text
from chronoforest.names import check_plan_file
from chronoforest.planning.anchors import unrecorded
from chronoforest.planning.timetable import Timetable, clock, timetable
from chronoforest.types import (
    Certificate,
    FloatArray,
    Gap,
    Plan,
    Problem,
    RoundStats,
    Support,
    TreePicture,
)


@dataclass(frozen=True)
class PlanResult:
    """Routes for all agents with the evidence behind them; `complete` only when every leg is met and every
    waypoint visited.

    unmet: (from, to) names of legs without a bridge; left_out: names of waypoints that no route visits,
    because nobody gets there or away; gaps: what cuts these off; meetings: [n, 2] places where trees touched;
    frame: the problem and the routes are in its user's coordinates, gaps, trees, meetings and support in its
    plane; depart: date and time of the departure, "" where none was given; notices: of stops that were moved
    to where something was recorded.
    """

    problem: Problem
    routes: tuple[Plan, ...]
    unmet: tuple[tuple[str, str], ...]
    rounds: tuple[RoundStats, ...]
    num_expanded: int
    seconds: float
    seed: int
    variant: str
    preset: str
    certificate: Certificate
    trees: tuple[TreePicture, ...]
    meetings: FloatArray
    support: Support
    frame: Frame = field(default_factory=Frame)
    left_out: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    depart: str = ""
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        state = "complete" if self.complete else self.missing
        agents = f"{len(self.routes)} route{'s' * (len(self.routes) != 1)}"
        return f"PlanResult({state}, {agents}, {self.length:.1f} {self.frame.unit}, {self.seconds:.1f} s)"

    @property
    def complete(self) -> bool:
        """Whether every leg of every route is met and every waypoint visited."""
        return not self.unmet and not self.left_out

    @property
    def missing(self) -> str:
        """The unmet legs and what is left out, by name."""
        return missing(self.unmet, self.left_out)

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """Of every unmet leg and every waypoint that is left out: how far each side got, which anchor is at
        fault, and what would help."""
        return shortfalls(Missing(self.unmet, self.left_out, self.gaps, self.trees), self.problem, self.frame)

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """Of every anchor outside the support: how far it is from what was recorded."""
        return unrecorded(self.problem, self.support, self.frame)

    @property
    def length(self) -> float:
        """Units of the frame over all routes, after post-processing."""
        return sum(route.length for route in self.routes)

    @property
    def raw_length(self) -> float:
        """Units of the frame over all routes as they were found."""
        return sum(route.raw_length for route in self.routes)

    @property
    def evidence(self) -> dict[str, int]:
        """How many legs have which evidence, the most frequent first."""
        return dict(Counter(leg.evidence for route in self.routes for leg in route.legs).most_common())

    @property
    def num_rounds(self) -> int:
        """Rounds of the search."""
        return len(self.rounds)

    @property
    def num_refuted(self) -> int:
        """Ways that the roadmap proposed and the denoiser refuted."""
        return self.rounds[-1].num_refuted if self.rounds else 0

    @property
    def solver_share(self) -> float:
        """Share of the seconds that went into solving for the order; known for plans over the roadmap."""
        return self.rounds[-1].solver_seconds / self.seconds if self.rounds and self.seconds > 0 else 0.0

    @property
    def is_reordered(self) -> bool:
        """Whether the search changed its first order."""
        return bool(self.rounds) and self.rounds[0].route != self.rounds[-1].route

    @property
    def timetable(self) -> Timetable:
        """Per agent each stop with its arrival, and the length, duration and evidence of the leg there."""
        return timetable(self)

    def clock(self, seconds: float | None) -> datetime | None:
        """The date so many seconds after the departure, where that is known."""
        return clock(self.depart, seconds)

    def shown(self, name: str) -> str:
        """What the user calls a stop."""
        return self.problem.labels[self.problem.names.index(name)]

    def shown_order(self, route: Plan) -> str:
        """The stops of a route as the user calls them."""
        return " → ".join(map(self.shown, route.order))

    @property
    def headline(self) -> str:
        """Whether the plan is complete, with a line for everything that speaks against it."""
        state = "complete" if self.complete else f"incomplete, {self.missing}"
        state += f", {self.num_refuted} ways refuted by the model" if self.num_refuted else ""
        state += ", which changed the order" if self.num_refuted and self.is_reordered else ""
        departs = f"departs {self.clock(0)}, " if self.depart else ""
        notes = (*self.notices, *self.shortfalls, *self.unrecorded)
        return "\n".join(
            [f"{state}; {departs}planned in {self.seconds:.1f} s", *(f"  {note}" for note in notes)]
        )

    @property
    def effort(self) -> str:
        """What the search counted."""
        num_nodes = self.rounds[-1].num_nodes if self.rounds else 0
        return f"{self.num_rounds} rounds, {num_nodes} nodes, {self.num_expanded} expansions"

    def summary(self) -> str:
        """The headline and the timetable."""
        return f"{self.headline}\n{self.timetable}"

    __str__ = summary

    def _repr_html_(self) -> str:
        """The picture and the timetable, for notebooks; it needs no other file."""
        from chronoforest.report import drawing

        return self.timetable.to_html() + drawing.inline(self.plot())

    def to_json(self) -> str:
        """Strict JSON of format `plans.FORMAT`, without NaN or infinity."""
        return plans.plan_json(self)

    def to_geojson(self) -> str:
        """A line for every route and a point for every anchor, with times and speeds."""
        return plans.geojson(self)

    def to_gpx(self) -> str:
        """A track for every route and a waypoint for every anchor; refused where places are no degrees."""
        return plans.gpx(self)

    def to_csv(self) -> str:
        """A row for every point of every route."""
        return plans.csv_text(self)

    def to_dataframe(self) -> Any:
        """The rows of `to_csv` as a pandas DataFrame."""
        return plans.dataframe(self)

    def save(self, path: str | Path) -> None:
        """Write the plan, complete or not at all: GeoJSON, GPX or CSV by the file's ending, JSON that loads
        back otherwise."""
        check_plan_file(Path(path))
        write = {".geojson": self.to_geojson, ".gpx": self.to_gpx, ".csv": self.to_csv}
        write_text(path, write.get(Path(path).suffix.lower(), self.to_json)())

    def plot(self, path: str | Path | None = None, ax: Any = None) -> Any:
        """Draw the plan over the data's support, on `ax` or on axes of its own, into a file where one is
        named; returns the axes."""
        from chronoforest.report import drawing

        axes = drawing.ground(self.support, ax)
        drawing.draw_result(axes, self)
        state = "" if self.complete else f"incomplete, {self.missing}: "
        departs = f", departs {self.clock(0)}" if self.depart else ""
        axes.set_title(f"{state}{self.length:.1f} {self.frame.unit}{departs}", fontsize=12, color=drawing.INK)
        if path is not None:
            drawing.save(axes.figure, path)
        return axes


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
