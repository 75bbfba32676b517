"""OSRM's services over a learned world; what OSRM does not have is the evidence of every leg."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import shapely

from chronoforest.routing.solver import AutoSolver
from chronoforest.service.router import Route, Router, Snap
from chronoforest.service.search import Search
from chronoforest.service.wire import Refusal, Request, geometry, parsed
from chronoforest.types import FloatArray, IntArray, Problem, lengths_along

SHARPEST = ((20.0, "straight"), (60.0, "slight {}"), (120.0, "{}"), (170.0, "sharp {}"), (181.0, "uturn"))
"""Degrees up to which a turn is called so."""

Values = dict[str, Any]


def answer(router: Router, path: str, query: str) -> tuple[int, Values]:
    """HTTP status and JSON of a request."""
    try:
        request = parsed(path, query)
        serve = {"route": _route, "table": _table, "nearest": _nearest, "trip": _trip, "match": _match}
        return 200, {"code": "Ok", **serve[request.service](_Asked(router, request))}
    except Refusal as refusal:
        return 400, {"code": refusal.code, "message": str(refusal)}


class _Asked:
    """A request with the router that answers it, its closures, and how its lines are written."""

    def __init__(self, router: Router, request: Request) -> None:
        self.router, self.network, self.request = router, router.network, request
        if not self.network.frame.is_known(request.places).all():
            raise Refusal("InvalidValue", "Invalid coordinate value.")
        self.places = self.network.frame.to_local(request.places)
        self.closure: Search | None = None
        if request.closed:
            self.closure = router.closure([self.network.frame.to_local(one) for one in request.closed])
        hour = request.depart.hour if request.depart else None
        self.pace = 1.0 if hour is None else float(self.network.pace[hour])

    def snaps(self) -> list[Snap]:
        """The states around every place; a bearing and a radius as asked."""
        request = self.request
        found = []
        for row, (place, radius, bearing) in enumerate(
            zip(self.places, request.radii.tolist(), request.bearings, strict=True)
        ):
            snap = self.router.snap(place, radius, bearing, self.closure)
            if snap is None:
                raise Refusal("NoSegment", f"Could not find a matching segment for coordinate {row}")
            found.append(snap)
        return found

    def waypoint(self, row: int, state: int) -> Values:
        """Where a place was joined to the network, and how far away that is."""
        off = float(np.linalg.norm(self.network.position[state] - self.places[row]))
        location = np.round(self.network.places[state], 6).tolist()
        return {"name": "", "location": location, "distance": round(off, 2), "hint": f"state-{state}"}

    def described(self, route: Route) -> Values:
        """A route as OSRM writes it."""
        request, network = self.request, self.network
        kind = request.choice("geometries", "polyline", "polyline6", "geojson")
        overview = request.choice("overview", "simplified", "full", "false")
        legs = [
            self._leg(hops, *ends, kind)
            for hops, ends in zip(route.legs, pairwise(route.states), strict=True)
        ]
        total = {
            name: round(sum(leg[name] for leg in legs), 3) for name in ("distance", "duration", "weight")
        }
        values: Values = {"legs": legs, "weight_name": "duration", **total}
        if overview != "false":
            hops = np.concatenate(route.legs).astype(np.int64)
            line = network.line(hops) if len(hops) else network.position[route.states[:1]]
            if overview == "simplified" and len(line) > 1:
                kept = shapely.simplify(shapely.linestrings(line), network.reach, preserve_topology=False)
                line = shapely.get_coordinates(kept)
            values["geometry"] = geometry(network.frame.to_user(line), kind)
        return values

    def _leg(self, hops: IntArray, start: int, end: int, kind: str) -> Values:
        network, pace = self.network, self.pace
        metres, seconds = network.length[hops], network.seconds[hops] * pace
        duration, distance = float(seconds.sum()), float(metres.sum())
        recorded = float(metres[network.is_recorded[hops]].sum())
        low, high = (float(value[hops].sum()) * pace for value in (network.low, network.high))
        leg: Values = {
            "distance": round(distance, 3),
            "duration": round(duration, 3),
            "weight": round(duration, 3),
            "summary": "",
            "steps": self._steps(hops, start, end, kind) if self.request.flag("steps") else [],
            "duration_interval": [round(min(low, duration), 3), round(max(high, duration), 3)],
            "evidence": {
                "recordings": int(network.count[hops].min(initial=network.count.max(initial=1))),
                "recorded": round(recorded / distance, 4) if distance else 1.0,
                "hops": len(hops),
            },
        }
        wanted = self.request.options.get("annotations", "false")
        if wanted != "false":
            leg["annotation"] = self._annotation(hops, start, wanted)
        return leg

    def _annotation(self, hops: IntArray, start: int, wanted: str) -> Values:
        """Of every hop of a leg."""
        network = self.network
        metres, seconds = network.length[hops], network.seconds[hops] * self.pace
        known = {
            "duration": seconds,
            "distance": metres,
            "weight": seconds,
            "speed": metres / np.maximum(seconds, 1e-3),
            "nodes": np.append(network.source[hops[:1]] if len(hops) else [start], network.target[hops]),
            "datasources": np.zeros(len(hops), dtype=np.int64),
            "recordings": network.count[hops],
        }
        names = list(known) if wanted == "true" else wanted.split(",")
        if unknown := set(names) - set(known):
            raise Refusal(
                "InvalidQuery", f"annotations are true, false or {','.join(known)}, not {min(unknown)!a}"
            )
        return {name: np.round(known[name], 3).tolist() for name in names}

    def _steps(self, hops: IntArray, start: int, end: int, kind: str) -> list[Values]:
        """The pieces of a leg between turns, and its end."""
        network = self.network
        frame, length, seconds = network.frame, network.length[hops], network.seconds[hops] * self.pace
        corners = turns(network.position[network.source[hops]], network.reach) if len(hops) else []
        cuts = [0, *corners, len(hops)] if len(hops) else [0]
        steps = []
        for first, last in pairwise(cuts):
            piece = hops[first:last]
            ahead = _bearing(network.line(piece)[:2])
            back = _bearing(network.line(hops[first - 1 : first])[-2:]) if first else 0
            maneuver = {"type": "turn", "modifier": _modifier(ahead - back)} if first else {"type": "depart"}
            line = frame.to_user(network.line(piece))
            size = float(length[first:last].sum()), float(seconds[first:last].sum())
            before = back if first else None
            steps.append(_step(geometry(line, kind), line[0], size, maneuver, before, ahead))
        place = network.places[[end if len(hops) else start]]
        back = _bearing(network.line(hops[-1:])[-2:]) if len(hops) else 0
        here = geometry(place, kind), place[0], (0.0, 0.0)
        if not steps:
            steps.append(_step(*here, {"type": "depart"}, None, back))
        steps.append(_step(*here, {"type": "arrive"}, back, None))
        return steps


def _step(
    line: Any, place: FloatArray, size: tuple[float, float], maneuver: Values, *bearings: int | None
) -> Values:
    """A step of so many units and seconds; bearings of the motion before and after, None where there is
    none."""
    location, (back, ahead) = np.round(place, 6).tolist(), bearings
    ways = [(None if back is None else (back + 180) % 360, "in"), (ahead, "out")]
    known = [(bearing, side) for bearing, side in ways if bearing is not None]
    crossing = {
        "location": location,
        "bearings": [bearing for bearing, _ in known],
        "entry": [side == "out" for _, side in known],
        **{side: number for number, (_, side) in enumerate(known)},
    }
    distance, duration = (round(value, 3) for value in size)
    return {
        "geometry": line,
        "maneuver": {
            **maneuver,
            "bearing_before": back or 0,
            "bearing_after": ahead or 0,
            "location": location,
        },
        "mode": "driving",
        "driving_side": "right",
        "name": "",
        "intersections": [crossing],
        "distance": distance,
        "duration": duration,
        "weight": duration,
    }


def turns(line: FloatArray, reach: float) -> list[int]:
    """Rows of a line [n, 2] at which it turns by more than a slight bend within twice the reach."""
    along = lengths_along(line)
    before, after = (
        np.stack([np.interp(along + side * 2.0 * reach, along, axis) for axis in line.T], axis=1)
        for side in (-1, 1)
    )
    angles = [np.arctan2(*(to - at).T[::-1]) for at, to in ((before, line), (line, after))]
    bend = np.abs((np.degrees(angles[1] - angles[0]) + 180.0) % 360.0 - 180.0)
    bend[(along < reach) | (along > along[-1] - reach)] = 0.0
    found: list[int] = []
    for row in np.argsort(-bend, kind="stable"):
        if bend[row] <= 2 * SHARPEST[0][0]:
            break
        if all(abs(along[row] - along[other]) > 4.0 * reach for other in found):
            found.append(int(row))
    return sorted(found)


def _modifier(turn: float) -> str:
    """What a turn clockwise by so many degrees is called."""
    turn = (turn + 180.0) % 360.0 - 180.0
    name = next(name for most, name in SHARPEST if abs(turn) < most)
    return name.format("right" if turn > 0 else "left")


def _bearing(ends: FloatArray) -> int:
    """Degrees clockwise from north of the way between two places."""
    east, north = ends[-1] - ends[0]
    return round(float(np.degrees(np.arctan2(east, north)))) % 360


def _route(asked: _Asked) -> Values:
    request, router, snaps = asked.request, asked.router, asked.snaps()
    wanted = request.options.get("alternatives", "false")
    number = {"false": 0, "true": 3}.get(wanted, -1)
    number = request.count("alternatives", 0, 0, 3) if number < 0 else number
    may_turn = request.choice("continue_straight", "default", "true", "false") == "false"
    if number and len(snaps) == 2:
        routes = router.alternatives(snaps[0], snaps[1], number, asked.closure)
    else:
        found = router.route(snaps, asked.closure, may_turn)
        routes = [] if found is None else [found]
    if not routes:
        raise Refusal("NoRoute", "No route found between points")
    waypoints = [asked.waypoint(row, state) for row, state in enumerate(routes[0].states)]
    return {"routes": [asked.described(route) for route in routes], "waypoints": waypoints}


def _table(asked: _Asked) -> Values:
    request, snaps = asked.request, asked.snaps()
    sources, targets = request.rows("sources"), request.rows("destinations")
    wanted = request.options.get("annotations", "duration").split(",")
    if not set(wanted) <= {"duration", "distance"}:
        raise Refusal("InvalidQuery", "annotations are duration, distance or duration,distance")
    seconds, metres = asked.router.table(
        [snaps[k] for k in sources], [snaps[k] for k in targets], asked.closure, "distance" in wanted
    )
    seconds = seconds * (asked.pace * request.number("scale_factor", 1.0, 1e-9))
    is_same = np.equal.outer(sources, targets)
    seconds[is_same], metres[is_same] = 0.0, 0.0
    values: Values = {}
    if "fallback_speed" in request.options:
        gaps = np.argwhere(~np.isfinite(seconds))
        places = asked.places
        beeline = np.linalg.norm(places[sources][:, None] - places[targets][None], axis=2)
        seconds = np.where(
            np.isfinite(seconds), seconds, beeline / request.number("fallback_speed", 1.0, 1e-9)
        )
        metres = np.where(np.isfinite(metres), metres, beeline)
        values["fallback_speed_cells"] = gaps.tolist()
    for name, table in (("duration", seconds), ("distance", metres)):
        if name in wanted:
            values[f"{name}s"] = _finite(table)
    for name, rows in (("sources", sources), ("destinations", targets)):
        values[name] = [asked.waypoint(row, int(snaps[row].states[0])) for row in rows]
    return values


def _finite(table: FloatArray) -> list[list[float | None]]:
    values = np.round(table, 1).astype(object)
    values[~np.isfinite(table)] = None
    return list(values.tolist())


def _nearest(asked: _Asked) -> Values:
    number = asked.request.count("number", 1, 1, 100)
    asked.snaps()
    found = asked.router.nearest(asked.places[0], number, asked.request.bearings[0], asked.closure)
    radius = float(asked.request.radii[0])
    network = asked.network
    nodes = [[int(state)] * 2 for state in found[:number]]
    states = [state for state in found if np.linalg.norm(network.position[state] - asked.places[0]) <= radius]
    return {
        "waypoints": [
            {**asked.waypoint(0, state), "nodes": pair} for state, pair in zip(states, nodes, strict=False)
        ]
    }


def _trip(asked: _Asked) -> Values:
    request, snaps = asked.request, asked.snaps()
    is_round = request.flag("roundtrip", "true")
    first = request.choice("source", "any", "first") == "first"
    last = request.choice("destination", "any", "last") == "last"
    seconds = asked.router.table(snaps, snaps, asked.closure, is_measured=False)[0]
    order = visiting_order(seconds, is_round, first, last)
    if order is None:
        raise Refusal("NoTrips", "No trip visiting all destinations possible.")
    stops = [snaps[row] for row in order] + ([snaps[order[0]]] if is_round else [])
    route = asked.router.route(stops, asked.closure)
    if route is None:
        raise Refusal("NoTrips", "No trip visiting all destinations possible.")
    waypoints: list[Values] = [{}] * len(snaps)
    for number, (row, state) in enumerate(zip(order, route.states, strict=False)):
        waypoints[row] = {**asked.waypoint(row, state), "trips_index": 0, "waypoint_index": number}
    return {"trips": [asked.described(route)], "waypoints": waypoints}


def visiting_order(cost: FloatArray, is_round: bool, first: bool, last: bool) -> list[int] | None:
    """The order [k] in which a tour visits all places, None where there is none.

    Two more places, from and to which every way is free unless the tour must begin or end elsewhere, make a
    problem with one start and one goal of it.
    """
    count = len(cost)
    between = np.full((count + 2, count + 2), np.inf)
    between[1:-1, 1:-1] = cost
    fixed = np.where(np.arange(count) == 0, 0.0, np.inf)
    final = np.where(np.arange(count) == count - 1, 0.0, np.inf)
    between[0, 1:-1] = fixed if first or is_round else 0.0
    between[1:-1, -1] = final if last else 0.0
    if is_round and not last:
        between[1:-1, -1] = cost[:, 0]
    elif is_round:
        between[1:-1, -1] = final + cost[-1, 0]
    orders = visiting_orders(between, 1)
    return None if orders is None else [row - 1 for row in orders[0][1:-1]]


def visiting_orders(cost: FloatArray, num_agents: int) -> tuple[tuple[int, ...], ...] | None:
    """Rows in the order of each agent's visits, None where no ways lead to all: starts come first and goals
    last. Places are numbers alone, because only costs count."""
    places = np.stack([np.arange(len(cost)), np.zeros(len(cost))], axis=1)
    goal = len(cost) - num_agents
    problem = Problem(places[:num_agents], places[goal:], places[num_agents:goal])
    route = AutoSolver()(cost, problem, None)
    return route.orders if np.isfinite(route.cost(cost)) else None


def _match(asked: _Asked) -> Values:
    request, router = asked.request, asked.router
    times = request.times()
    if times is not None and (np.diff(times) < 0).any():
        raise Refusal("InvalidValue", "Timestamps need to be monotonically increasing.")
    radii = np.where(np.isfinite(request.radii), request.radii, 4.0 * router.params.deviation)
    gaps = np.zeros(len(radii), dtype=np.bool_)
    if times is not None and request.choice("gaps", "split", "ignore") == "split":
        gaps[1:] = np.diff(times) > 60.0
    found = router.match(asked.places, radii, gaps)
    if not found:
        raise Refusal("NoMatch", "Could not match the trace.")
    tracepoints: list[Values | None] = [None] * len(radii)
    matchings = []
    for index, (rows, route) in enumerate(found):
        off = np.linalg.norm(asked.network.position[route.states] - asked.places[rows], axis=1)
        likely = float(np.exp(-0.5 * (off / router.params.deviation) ** 2).mean())
        matchings.append({**asked.described(route), "confidence": round(likely, 4)})
        for number, (row, state) in enumerate(zip(rows.tolist(), route.states, strict=True)):
            here = {"matchings_index": index, "waypoint_index": number, "alternatives_count": 0}
            tracepoints[row] = {**asked.waypoint(row, state), **here}
    return {"matchings": matchings, "tracepoints": tracepoints}
