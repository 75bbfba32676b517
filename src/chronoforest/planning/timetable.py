"""A plan as a timetable: who is where and when, how far and how long each leg is, and what speaks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from chronoforest.errors import InvalidParameter
from chronoforest.names import optional

if TYPE_CHECKING:
    from chronoforest.planning.result import PlanResult
    from chronoforest.types import Leg, Plan


@dataclass(frozen=True)
class Stop:
    """A row of the timetable.

    agent: from 1 on; name: as the plan has it, such as W1; label: what the user calls it; arrival: seconds
    after the departure, or steps without a clock, None for a stop that is not reached; clock: the same as a
    date, to the second, where the departure is known; length, duration: of the leg that leads there; band:
    the 5–95 % range of the duration, where it is known; evidence: as of a `Leg`; "" at a start.
    """

    agent: int
    name: str
    label: str
    place: tuple[float, float]
    arrival: float | None
    clock: datetime | None = None
    length: float | None = None
    duration: float | None = None
    band: tuple[float, float] | None = None
    evidence: str = ""


@dataclass(frozen=True)
class Timetable:
    """The stops of all agents in the order of travel; unit, time_unit: of lengths and times."""

    stops: tuple[Stop, ...]
    unit: str
    time_unit: str

    def __iter__(self) -> Iterator[Stop]:
        return iter(self.stops)

    def __len__(self) -> int:
        return len(self.stops)

    def __str__(self) -> str:
        columns = []
        for cells, put in zip(zip(self.header, *self.rows, strict=True), "><>>><<", strict=True):
            if any(cells[1:]):
                width = max(map(len, cells))
                columns.append([f"{cell:{put}{width}}" for cell in cells])
        return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))

    def to_dataframe(self) -> Any:
        """A row for every stop, as a pandas DataFrame."""
        return optional("pandas", "geo").DataFrame([asdict(stop) for stop in self.stops])

    @property
    def header(self) -> tuple[str, ...]:
        """What stands in each column of `rows`."""
        takes = "takes" if self.time_unit == "s" else f"takes, {self.time_unit}"
        return ("agent", "stop", "arrives", f"leg, {self.unit}", takes, "5–95 %", "evidence")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The stops as text, and the totals of every agent and of all."""
        groups = {
            str(agent): [stop for stop in self.stops if stop.agent == agent]
            for agent in sorted({stop.agent for stop in self.stops})
        }
        rows = []
        for agent, stops in groups.items():
            rows += [*map(self._row, stops), self._total(agent, stops)]
        return rows if len(groups) < 2 else [*rows, self._total("all", self.stops)]

    def _row(self, stop: Stop) -> tuple[str, ...]:
        named = stop.name if stop.label == stop.name else f"{stop.name} {stop.label}"
        length = "" if stop.length is None else f"{stop.length:.1f}"
        takes = "" if stop.duration is None else self._span(stop.duration)
        band = "" if stop.band is None else "–".join(map(self._span, stop.band))
        return str(stop.agent), named, self.time(stop), length, takes, band, stop.evidence

    def _total(self, agent: str, stops: Iterable[Stop]) -> tuple[str, ...]:
        length = sum(stop.length or 0.0 for stop in stops)
        duration = sum(stop.duration or 0.0 for stop in stops)
        return agent, "total", "", f"{length:.1f}", self._span(duration), "", ""

    def _span(self, time: float) -> str:
        """Steps, or hours where there are any, minutes and seconds."""
        if self.time_unit != "s":
            return f"{time:.0f}"
        return str(timedelta(seconds=round(time))).removeprefix("0:")

    def time(self, stop: Stop) -> str:
        """When a stop is reached: by the clock where the departure is known; "–" for a stop that is not."""
        if stop.arrival is None:
            return "–"
        return self._span(stop.arrival) if stop.clock is None else stop.clock.isoformat(" ", "seconds")

    def to_html(self) -> str:
        """A table that needs no other file."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def timetable(result: PlanResult) -> Timetable:
    """The timetable of a plan."""
    stops = [stop for agent, route in enumerate(result.routes) for stop in _stops(result, agent, route)]
    return Timetable(tuple(stops), result.frame.unit, result.frame.time_unit)


def _stops(result: PlanResult, agent: int, route: Plan) -> Iterator[Stop]:
    problem, frame = result.problem, result.frame
    times = route.times if route.length else np.zeros(len(route.path))
    has_times = len(times) == len(route.path) > 0
    for number, name in enumerate(route.order):
        row, is_reached = problem.names.index(name), number < len(route.stops)
        arrival = float(times[route.stops[number]]) if is_reached and has_times else None
        place = (float(problem.anchors[row, 0]), float(problem.anchors[row, 1]))
        known: dict[str, Any] = {
            "arrival": arrival,
            "clock": result.clock(None if arrival is None else round(arrival)),
        }
        if number:
            leg = route.legs[number - 1]
            known["evidence"] = leg.evidence
        if number and is_reached:
            first, last = route.stops[number - 1], route.stops[number]
            known["length"] = float(route.along[last] - route.along[first])
            if has_times:
                known["duration"] = lasts = float(times[last] - times[first])
                known["band"] = _band(leg, lasts, frame.step_seconds or 1.0)
        yield Stop(agent + 1, name, problem.labels[row], place, **known)


def _band(leg: Leg, lasts: float, step: float) -> tuple[float, float] | None:
    """The range of a leg's duration: of the recordings on its hops, or of the distance's uncertainty."""
    if leg.took is not None:
        return leg.took[1:]
    half = 0.5 * (leg.width or 0.0) * step
    return (max(0.0, lasts - half), lasts + half) if 0 < half < float("inf") else None


def departure(value: str | datetime | None) -> str:
    """A departure as ISO 8601 has it, "" where none is given; text such as "2026-11-16 08:00" is read."""
    if value is None or value == "":
        return ""
    try:
        return (value if isinstance(value, datetime) else datetime.fromisoformat(value)).isoformat()
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"depart must be a date and time such as '2026-11-16 08:00', got {value!r:.40}"
        ) from error
