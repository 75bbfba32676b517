"""Joint routes in VROOM's words: vehicles with a start and an end, and jobs that one of them has to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from chronoforest.errors import InvalidProblem
from chronoforest.service.osrm import visiting_orders
from chronoforest.service.requests import Fleet
from chronoforest.service.router import Router, Snap
from chronoforest.service.wire import geometry
from chronoforest.types import FloatArray


def planned(router: Router, fleet: Fleet) -> dict[str, Any]:
    """VROOM's output for a fleet; jobs that no vehicle can do and go on from are unassigned."""
    frame = router.network.frame
    starts = [vehicle.start for vehicle in fleet.vehicles]
    goals = [vehicle.end or vehicle.start for vehicle in fleet.vehicles]
    places = np.array([*starts, *(job.location for job in fleet.jobs), *goals], dtype=np.float64)
    if not frame.is_known(places).all():
        raise InvalidProblem(f"{frame.show(places[~frame.is_known(places)][0])} is no longitude and latitude")
    snaps = [router.snap(place) for place in frame.to_local(places)]
    assert all(snap is not None for snap in snaps)
    stops = [snap for snap in snaps if snap is not None]
    seconds = router.table(stops, stops, is_measured=False)[0]
    first, last = len(starts), len(places) - len(goals)
    seconds[:, last:][:, [vehicle.end is None for vehicle in fleet.vehicles]] = 0.0
    is_way = np.isfinite(seconds)
    # Jobs that some vehicle can get to and then to its end.
    can = np.any(is_way[:first, first:last].T & is_way[first:last, last:], axis=1)
    kept = first + np.flatnonzero(can)
    rows = np.concatenate([np.arange(first), kept, np.arange(last, len(places))])
    orders = visiting_orders(seconds[np.ix_(rows, rows)], first)
    if orders is None:
        raise InvalidProblem("recordings lead from no vehicle's start through these jobs and on to its end")
    routes = [
        _route(router, fleet, [int(rows[row]) for row in order], stops, places)
        for order in orders
        if len(order) > 2
    ]
    left_out = [fleet.jobs[k] for k in np.flatnonzero(~can)]
    unassigned = [{"id": job.id, "type": "job", "location": job.location} for job in left_out]
    totals = {
        name: sum(route[name] for route in routes) for name in ("cost", "service", "duration", "distance")
    }
    summary = {**totals, "routes": len(routes), "unassigned": len(unassigned), "setup": 0, "waiting_time": 0}
    return {"code": 0, "summary": summary, "unassigned": unassigned, "routes": routes}


def _route(
    router: Router, fleet: Fleet, rows: list[int], stops: list[Snap], places: FloatArray
) -> dict[str, Any]:
    """One vehicle's route: a step for its start, each job and its end."""
    vehicle = fleet.vehicles[rows[0]]
    visited = rows if vehicle.end is not None else rows[:-1]
    route = router.route([stops[row] for row in visited])
    if route is None:
        raise InvalidProblem(f"vehicle {vehicle.id}: recordings do not lead on from one of its stops")
    network = router.network
    seconds = [float(network.seconds[hops].sum()) for hops in route.legs]
    metres = [float(network.length[hops].sum()) for hops in route.legs]
    steps, arrival, travelled, served = [], 0.0, 0.0, 0
    for number, row in enumerate(visited):
        step: dict[str, Any] = {"type": "end" if 0 < number == len(rows) - 1 else "start"}
        if number:
            travelled += seconds[number - 1]
            arrival += seconds[number - 1]
        work = 0
        if len(fleet.vehicles) <= row < len(fleet.vehicles) + len(fleet.jobs):
            job = fleet.jobs[row - len(fleet.vehicles)]
            step, work = (
                {"type": "job", "id": job.id, "job": job.id, "description": job.description},
                job.service,
            )
        measures = {"arrival": round(arrival), "duration": round(travelled), "service": work}
        distance = round(sum(metres[:number]))
        zero = {"setup": 0, "waiting_time": 0, "violations": []}
        steps.append({**step, "location": places[row].tolist(), **measures, "distance": distance, **zero})
        arrival, served = arrival + work, served + work
    hops = np.concatenate(route.legs).astype(np.int64)
    line = network.frame.to_user(network.line(hops) if len(hops) else network.position[route.states[:1]])
    measures = {"cost": round(travelled), "duration": round(travelled), "distance": round(sum(metres))}
    zero = {"setup": 0, "waiting_time": 0, "priority": 0, "violations": []}
    return {
        "vehicle": vehicle.id,
        "description": vehicle.description,
        **measures,
        "service": served,
        **zero,
        "steps": steps,
        "geometry": geometry(line, "polyline"),
    }
