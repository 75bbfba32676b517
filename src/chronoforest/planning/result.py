"""What planning returns, saved as JSON that loads back and drawn as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.exports import plans
from chronoforest.files import write_text
from chronoforest.names import check_plan_file
from chronoforest.planning.anchors import unrecorded
from chronoforest.planning.timetable import Timetable, timetable
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
        legs = ", ".join(f"{source}→{target}" for source, target in self.unmet)
        parts = [f"unmet: {legs}"] if legs else []
        return "; ".join([*parts, f"left out: {', '.join(self.left_out)}"] if self.left_out else parts)

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """Of every unmet leg and every waypoint that is left out: how far each side got, which anchor is at
        fault, and what would help."""
        return shortfalls(self)

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


def clock(depart: str, seconds: float | None) -> datetime | None:
    """When it is so many seconds after a departure; None where either is unknown."""
    if not depart or seconds is None:
        return None
    return datetime.fromisoformat(depart) + timedelta(seconds=round(seconds, 3))


STUCK = 0.1
"""A side that got away from its anchor by less than this share of the leg hardly moved."""


def shortfalls(result: PlanResult) -> tuple[str, ...]:
    """A sentence about every unmet leg, and about waypoints that are left out, together where one gap is the
    reason."""
    frame, names = result.frame, result.problem.names
    places = dict(zip(names, frame.to_local(result.problem.anchors), strict=True))
    across = {(gap.source, gap.target): gap for gap in result.gaps if not gap.left_out}
    cut_off = [gap for gap in result.gaps if gap.left_out]
    sentences = [
        _across(across[leg], places, frame) if leg in across else _grown(leg, places, result.trees, frame)
        for leg in ((source, target) for source, target in result.unmet)
    ]
    sentences += [_across(gap, places, frame) for gap in cut_off]
    known = {name for gap in cut_off for name in gap.left_out}
    if rest := [name for name in result.left_out if name not in known]:
        sentences.append(
            f"{_listed(rest)} left out: no order leads there as well as to the others; "
            "record more ways between them, or plan for them apart"
        )
    return tuple(sentences)


def _across(gap: Gap, places: dict[str, FloatArray], frame: Frame) -> str:
    """About a gap of the roadmap."""
    leg, width = (gap.source, gap.target), float(np.linalg.norm(gap.wanted - gap.reached))
    span = float(np.linalg.norm(places[gap.target] - places[gap.source]))
    if not gap.is_recorded:
        between = "nothing was recorded in between"
    elif gap.is_searched:
        between = "trees were grown there in vain"
    else:
        between = "no recording turns there so" if width == 0 else "no recording leads across"
    head = f"{_listed(gap.left_out)} left out" if gap.left_out else f"{gap.source}→{gap.target}"
    is_stuck = [extent < STUCK * span for extent in gap.extents]
    advice = _advice(leg, is_stuck, more_time=gap.is_recorded and not gap.is_searched)
    return (
        f"{head}: ways from {gap.source} come to {frame.show_local(gap.reached)}, ways to {gap.target} begin "
        f"at {frame.show_local(gap.wanted)}, {width:.3g} {frame.unit} farther; {between}; {advice}"
    )


def _grown(
    leg: tuple[str, str], places: dict[str, FloatArray], trees: Sequence[TreePicture], frame: Frame
) -> str:
    """About a leg that trees were grown for."""
    found, is_stuck = [], []
    for name, other in (leg, leg[::-1]):
        own = [tree.segments.reshape(-1, len(places[name])) for tree in trees if tree.anchor == name]
        reached = np.concatenate([places[name][None], *own])
        short = np.linalg.norm(reached - places[other], axis=1)
        place, left = frame.show_local(reached[short.argmin()]), f"{short.min():.3g} {frame.unit} short"
        found.append(f"from {name} the search came to {place}, {left}")
        span = np.linalg.norm(places[other] - places[name])
        is_stuck.append(bool(np.linalg.norm(reached - places[name], axis=1).max() < STUCK * span))
    return f"{leg[0]}→{leg[1]}: {' and '.join(found)}; {_advice(leg, is_stuck, more_time=True)}"


def _advice(leg: tuple[str, str], is_stuck: Sequence[bool], more_time: bool) -> str:
    """Which end is at fault, one that hardly moved, and what would help; more_time: whether that might."""
    source, target = leg
    if all(is_stuck):
        return "neither end is joined to the recordings; move both to where more was recorded"
    if is_stuck[0]:
        return f"{source} is at fault: record a way that leaves it, or move it to where others set out"
    if is_stuck[1]:
        return f"{target} is at fault: record a way that leads there, or move it to where others arrive"
    return f"record a way between the two{', or allow more time if it was limited' if more_time else ''}"


def _listed(names: Sequence[str]) -> str:
    """Names as the beginning of a sentence, with its verb."""
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"
