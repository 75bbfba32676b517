"""What planning returns, saved as JSON that loads back and drawn as a picture."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import BadResult
from chronoforest.files import reading, write_text
from chronoforest.names import check_plan_file
from chronoforest.planning import exports
from chronoforest.planning.anchors import unrecorded
from chronoforest.planning.shortfalls import Missing, missing, shortfalls
from chronoforest.typed import from_plain
from chronoforest.types import (
    Certificate,
    FloatArray,
    Gap,
    Plan,
    Problem,
    RoundStats,
    Support,
    TreePicture,
    lengths_along,
)


@dataclass(frozen=True)
class PlanResult:
    """Routes for all agents with the evidence behind them; `complete` only when every leg is met and every
    waypoint visited.

    unmet: (from, to) names of legs without a bridge; left_out: names of waypoints that no route visits,
    because nobody gets there or away; gaps: what cuts these off; meetings: [n, 2] places where trees touched;
    frame: the problem and the routes are in its user's coordinates, gaps, trees, meetings and support in its
    plane.
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

    def __repr__(self) -> str:
        state = "complete" if self.complete else self.missing
        agents = f"{len(self.routes)} route{'s' * (len(self.routes) != 1)}"
        return f"PlanResult({state}, {agents}, {self.length:.1f} units, {self.seconds:.1f} s)"

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
    def saved(self) -> float:
        """Share of the raw length that post-processing cut."""
        return 1.0 - self.length / self.raw_length if self.raw_length > 0 else 0.0

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

    def summary(self) -> str:
        """A few lines for people."""
        state = "complete" if self.complete else f"incomplete, {self.missing}"
        num_proposed = sum(leg.evidence == "proposed" for route in self.routes for leg in route.legs)
        state += f", {num_proposed} legs proposed and not verified" if num_proposed else ""
        state += f", {self.num_refuted} proposed ways refuted" if self.num_refuted else ""
        state += ", which changed the order" if self.num_refuted and self.is_reordered else ""
        lines = [f"{state}; {self.num_rounds} rounds, {self.num_expanded} expansions, {self.seconds:.1f} s"]
        lines += [f"  {sentence}" for sentence in (*self.shortfalls, *self.unrecorded)]
        unit = self.frame.unit
        lines += [f"  {' → '.join(route.order)}  {self._extent(route)}" for route in self.routes]
        is_cut = self.saved >= 0
        change = "cut by post-processing" if is_cut else "longer than found, to keep room"
        lines.append(f"  {self.length:.1f} {unit} in all, {100 * abs(self.saved):.1f} % {change}")
        return "\n".join(lines)

    def _extent(self, route: Plan) -> str:
        """Length and, where the recordings had a clock, duration."""
        lasts = f", {route.duration:.0f} s" if self.frame.has_clock and len(route.times) else ""
        return f"{route.length:.1f} {self.frame.unit}{lasts}"

    def to_json(self) -> str:
        """Strict JSON of format `exports.FORMAT`, without NaN or infinity."""
        return exports.plan_json(self)

    def to_geojson(self) -> str:
        """A line for every route and a point for every anchor, with times and speeds."""
        return exports.geojson(self)

    def to_gpx(self) -> str:
        """A track for every route and a waypoint for every anchor; refused where places are no degrees."""
        return exports.gpx(self)

    def to_csv(self) -> str:
        """A row for every point of every route."""
        return exports.csv_text(self)

    def to_dataframe(self) -> Any:
        """The rows of `to_csv` as a pandas DataFrame."""
        return exports.dataframe(self)

    def save(self, path: str | Path) -> None:
        """Write the plan, complete or not at all: GeoJSON, GPX or CSV by the file's ending, JSON that loads
        back otherwise."""
        check_plan_file(Path(path))
        write = {".geojson": self.to_geojson, ".gpx": self.to_gpx, ".csv": self.to_csv}
        write_text(path, write.get(Path(path).suffix.lower(), self.to_json)())

    def plot(self, path: str | Path | None = None, ax: Any = None) -> Any:
        """Draw trees, meetings, routes and anchors over the data's support, on `ax` or on axes of its own,
        into a file where one is named; returns the axes."""
        from chronoforest.report import drawing

        axes = drawing.ground(self.support, ax)
        drawing.draw_trees(axes, self.trees)
        drawing.draw_paths(axes, [self.frame.to_local(route.path) for route in self.routes])
        drawing.draw_meetings(axes, self.meetings)
        drawing.draw_anchors(axes, self.problem.moved(self.frame.to_local))
        drawing.draw_frame(axes, self.support, self.frame)
        orders = "   ".join(" → ".join(route.order) for route in self.routes)
        state = "" if self.complete else "incomplete: "
        title = f"{state}{orders}   {self.length:.1f} {self.frame.unit}, {self.num_expanded} expansions"
        axes.set_title(title, fontsize=12, color=drawing.INK)
        if path is not None:
            drawing.save(axes.figure, path)
        return axes


def load_result(path: str | Path) -> PlanResult:
    """Read what `PlanResult.save` wrote; what does not fit together is refused."""
    with reading(path, "a saved plan", BadResult):
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        if values["format"] != exports.FORMAT:
            raise BadResult(f"it has format {values['format']!r}, expected {exports.FORMAT!r}")
        # Plans were in the plane before they had a frame, and left nothing out.
        values = {"frame": Frame().to_dict(), "left_out": (), "gaps": (), **values}
        result = from_plain(PlanResult, {known.name: values[known.name] for known in fields(PlanResult)})
        routes = tuple(_measured(route, result.frame) for route in result.routes)
        result = replace(result, routes=routes, meetings=_planar(result.meetings))
        _refuse_odd(result)
        return result


def _refuse_odd(result: PlanResult) -> None:
    """Refuse routes that name what the problem does not have, or stop where their path does not go."""
    problem = result.problem
    if len(result.routes) != problem.num_agents:
        raise BadResult(f"it has {len(result.routes)} routes for {problem.num_agents} agents")
    named = [name for route in result.routes for name in _names_of(route)]
    named += [*result.left_out, *(name for gap in result.gaps for name in _names_at(gap))]
    unknown = {*named, *(name for pair in result.unmet for name in pair)} - set(problem.names)
    if unknown:
        raise BadResult(f"it names {sorted(unknown)}, the problem has {', '.join(problem.names)}")
    rows = [row for stats in result.rounds for row in _rows_of(stats)]
    if not all(0 <= row < problem.num_anchors for row in rows):
        raise BadResult(f"its rounds name anchors beyond the {problem.num_anchors} there are")
    if any(tree.segments.size and tree.segments.shape[2:] != (2,) for tree in result.trees):
        raise BadResult("its trees are not made of segments [frames, 2]")
    if not all(map(_is_walkable, result.routes)):
        raise BadResult("its stops do not lie on its paths")
    if not all(map(_is_timed, result.routes)):
        raise BadResult("its times do not rise along its paths")
    if not np.isfinite([result.seconds, result.length, result.raw_length]).all():
        raise BadResult("its time or its lengths are not finite")


def _measured(route: Plan, frame: Frame) -> Plan:
    """A route as it was read, with the lengths along its path."""
    path = _planar(route.path)
    return replace(route, path=path, along=lengths_along(frame.to_local(path)))


def _planar(points: FloatArray) -> FloatArray:
    """[n, 2], also where there are none."""
    if points.size and (points.ndim != 2 or points.shape[1] != 2):
        raise BadResult(f"places of shape {list(points.shape)}, expected points [n, 2]")
    return points.reshape(-1, 2)


def _names_of(route: Plan) -> list[str]:
    return [*route.order, *(name for leg in route.legs for name in (leg.source, leg.target, *leg.chain))]


def _names_at(gap: Gap) -> list[str]:
    return [gap.source, gap.target, *gap.left_out]


def _rows_of(stats: RoundStats) -> list[int]:
    ends = [end for pair in (*stats.pairs, *stats.accepted) for end in (pair.source, pair.target)]
    return [*ends, *(anchor for order in stats.route.orders for anchor in order)]


def _is_walkable(route: Plan) -> bool:
    stops, num_rows = route.stops, max(1, len(route.path))
    is_along = list(stops) == sorted(stops) and all(0 <= stop < num_rows for stop in stops)
    return is_along and len(stops) <= len(route.order)


def _is_timed(route: Plan) -> bool:
    """Whether there is a time for every point, or none at all."""
    is_rising = route.times.ndim == 1 and bool((np.diff(route.times) >= 0).all())
    return is_rising and len(route.times) in (0, len(route.path))
