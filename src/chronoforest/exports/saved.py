"""Plans read back from JSON, and compared with themselves: what does not fit together is refused."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import BadResult
from chronoforest.exports import plans
from chronoforest.files import reading
from chronoforest.planning.result import PlanResult
from chronoforest.typed import from_plain
from chronoforest.types import FloatArray, Gap, Plan, Problem, RoundStats, lengths_along


def load_result(path: str | Path) -> PlanResult:
    """Read what `PlanResult.save` wrote; what does not fit together is refused."""
    with reading(path, "a saved plan", BadResult):
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        if values["format"] not in (plans.FORMAT, plans.EARLIER):
            raise BadResult(f"it has format {values['format']!r}, expected {plans.FORMAT!r}")
        # Plans were in the plane before they had a frame, and left nothing out.
        values = {
            "frame": Frame().to_dict(),
            "left_out": (),
            "gaps": (),
            "depart": "",
            "notices": (),
            **(values if values["format"] == plans.FORMAT else _understated(values)),
        }
        result = from_plain(PlanResult, {known.name: values[known.name] for known in fields(PlanResult)})
        routes = tuple(_measured(route, result.frame) for route in result.routes)
        result = replace(result, routes=routes, meetings=_planar(result.meetings))
        _refuse_odd(result)
        _refuse_unlike(result, values)
        return result


def _understated(values: dict[str, Any]) -> dict[str, Any]:
    """An earlier plan whose legs say no more than that something proposed them: what it calls verified, and
    a width of 0 of what was not measured, are more than was checked."""
    routes = [
        {**route, "legs": [_understated_leg(leg) for leg in route["legs"]]} for route in values["routes"]
    ]
    known = {name: value for name, value in values["certificate"].items() if name != "is_exact"}
    return {**values, "routes": routes, "certificate": known}


def _understated_leg(leg: dict[str, Any]) -> dict[str, Any]:
    if leg["evidence"] not in ("verified", "proposed"):
        raise BadResult(f"a leg has evidence {leg['evidence']!r}, expected 'verified' or 'proposed'")
    return {**leg, "evidence": "inferred" if leg["is_met"] else "none", "width": leg["width"] or None}


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
    _refuse_other_visits(result)


def _refuse_other_visits(result: PlanResult) -> None:
    """Refuse routes that visit other anchors than the plan says, or pass them by."""
    problem, visited = result.problem, [name for route in result.routes for name in route.order]
    if sorted([*visited, *result.left_out]) != sorted(problem.names):
        raise BadResult("its routes and what is left out are not every anchor once")
    for agent, route in enumerate(result.routes):
        start, goal = problem.start_index(agent), problem.goal_index(agent)
        if (route.order[0], route.order[-1]) != (problem.names[start], problem.names[goal]):
            raise BadResult(f"route {agent + 1} leads from {route.order[0]} to {route.order[-1]}")
        if [(leg.source, leg.target) for leg in route.legs] != list(pairwise(route.order)):
            raise BadResult(f"the legs of route {agent + 1} do not follow its order")
        if not _passes_its_stops(route, problem, result.frame):
            raise BadResult(f"route {agent + 1} does not pass its stops")
    unmet = [(leg.source, leg.target) for route in result.routes for leg in route.legs if not leg.is_met]
    if sorted(unmet) != sorted(result.unmet):
        raise BadResult(f"its unmet legs are {sorted(unmet)}, it says {sorted(result.unmet)}")


def _passes_its_stops(route: Plan, problem: Problem, frame: Frame) -> bool:
    """Whether the path is at an anchor at every stop, one after each leg that is met until one is not."""
    num_met = next((k for k, leg in enumerate(route.legs) if not leg.is_met), len(route.legs))
    if len(route.stops) != 1 + num_met or not len(route.path):
        return False
    rows = [problem.names.index(name) for name in route.order[: len(route.stops)]]
    apart = route.path[list(route.stops)] - problem.anchors[rows]
    if frame.is_degrees:  # the same place may be written with another turn around the globe
        apart[:, 0] = (apart[:, 0] + 180.0) % 360.0 - 180.0
    return bool((np.abs(apart) <= 10.0**-frame.decimals).all())


def _refuse_unlike(result: PlanResult, values: dict[str, Any]) -> None:
    """Refuse a plan whose own totals, as the file has them, are not those of its routes."""
    if values["complete"] != result.complete:
        raise BadResult(f"it says complete: {values['complete']}, its legs say {result.complete}")
    # Points are rounded when they are written, so that each hop may differ by this much; no other slack.
    num_points = sum(len(route.path) for route in result.routes)
    metres = 111_320.0 if result.frame.is_degrees else 1.0  # a degree of latitude
    slack = 3.0 * metres * num_points * 10.0**-result.frame.decimals
    for name, least in (("length", slack), ("raw_length", 0.0)):
        said, found = float(values[name]), float(getattr(result, name))
        if not abs(said - found) <= least + 1e-6 * abs(found):
            raise BadResult(f"it says {name}: {said:g}, its routes have {found:g}")


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
