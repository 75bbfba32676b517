"""What planning returns, saved as JSON that loads back and drawn as a picture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from chronoforest.data.frames import Frame
from chronoforest.exports import plans
from chronoforest.files import write_text
from chronoforest.names import check_plan_file
from chronoforest.planning.anchors import unrecorded
from chronoforest.planning.explanations import Missing, missing, shortfalls
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
