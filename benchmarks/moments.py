"""A search in a few pictures: how its trees grow, how the tentative route flips, which legs are met.

A search is watched through its snapshots; of all its moments the first, the last and those around every
change of the route are kept, as values that JSON knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.suites.hamiltonian import leg_path
from chronoforest.planning.result import PlanResult
from chronoforest.planning.shortening import resample
from chronoforest.types import FloatArray, Problem, Snapshot, Support

NUM_MOMENTS = 6

SPACING = 1.0
"""Units between the points of a recorded path."""

EVERY_FRAME = 5
"""Of a tree's segment, every so many frames are recorded, and the last."""

CELLS = 3
"""So many of the support's cells, along x and y, make one of a record."""

Orders = list[list[str]]


def record_search(snapshots: Sequence[Snapshot], result: PlanResult) -> dict[str, Any]:
    """The moments worth a picture, all segments, and the ground; the last moment is the finished plan."""
    orders = [snapshot.stats.route.named(result.problem) for snapshot in snapshots]
    orders.append([list(route.order) for route in result.routes])
    last = len(snapshots)
    moments = [
        _finished(result) if moment == last else _moment(snapshots[moment])
        for moment in shown_moments(orders, NUM_MOMENTS)
    ]
    return {
        "num_flips": len(flips(orders)),
        "moments": moments,
        "trees": [_thinned(tree.segments) for tree in result.trees],
        "support": _coarse(result.support).to_dict(),
    }


def flips(orders: Sequence[Orders]) -> list[int]:
    """The moments whose route is another one than the moment before."""
    return [k for k, (before, after) in enumerate(pairwise(orders), start=1) if before != after]


def shown_moments(orders: Sequence[Orders], limit: int) -> list[int]:
    """First, last, and both sides of every flip; fewer where those are too many, more where there is room."""
    first, last, changed = 0, len(orders) - 1, flips(orders)
    wanted = {first, last, *changed, *(k - 1 for k in changed)}
    if len(wanted) > limit:
        wanted = {first, last, *_spread(changed, limit - 2)}
    while len(wanted) < min(limit, len(orders)):
        start, end = max(pairwise(sorted(wanted)), key=lambda stretch: stretch[1] - stretch[0])
        wanted.add((start + end) // 2)
    return sorted(wanted)


def _spread(values: Sequence[int], count: int) -> list[int]:
    """At most so many of the values, evenly over them, the last included."""
    rows = np.linspace(len(values) - 1, 0, min(count, len(values))).round().astype(int)
    return [values[row] for row in rows]


def outline(path: FloatArray) -> list[list[float]]:
    """A path [T, 2] with fewer points and digits, for a record."""
    return rounded(resample(path, SPACING) if len(path) else path)


def rounded(points: FloatArray) -> list[list[float]]:
    """Hundredths of a unit are enough for a picture."""
    values: list[list[float]] = np.round(points, 2).tolist()
    return values


def _moment(snapshot: Snapshot) -> dict[str, Any]:
    stats, problem = snapshot.stats, snapshot.problem
    legs = [(agent, leg) for agent, order in enumerate(stats.route.orders) for leg in pairwise(order)]
    paths = {(leg.source, leg.target): path for leg, path in snapshot.paths.items()}
    # A pair and the pair back meet in one place, told by the frame of either tree.
    meetings = {frozenset((pair.source, pair.target)): place for pair, place in snapshot.meetings.items()}
    return {
        "round": stats.round_index + 1,
        "orders": stats.route.named(problem),
        "num_expanded": stats.num_expanded,
        "length": None,
        "num_segments": [len(tree.segments) for tree in snapshot.trees],
        "legs": [[agent, *_leg(paths.get(leg), problem.anchors[list(leg)])] for agent, leg in legs],
        "meetings": rounded(np.array(list(meetings.values())).reshape(-1, 2)),
    }


def _finished(result: PlanResult) -> dict[str, Any]:
    legs = [
        [agent, *_leg(leg_path(route, number) if leg.is_met else None, _ends(result.problem, leg.chain))]
        for agent, route in enumerate(result.routes)
        for number, leg in enumerate(route.legs)
    ]
    return {
        "round": result.num_rounds,
        "orders": [list(route.order) for route in result.routes],
        "num_expanded": result.num_expanded,
        "length": round(result.length, 2),
        "num_segments": [len(tree.segments) for tree in result.trees],
        "legs": legs,
        "meetings": rounded(result.meetings),
    }


def _leg(path: FloatArray | None, ends: FloatArray) -> tuple[bool, list[list[float]]]:
    """Whether it is met, and its path or its two ends."""
    return (False, rounded(ends)) if path is None else (True, outline(path))


def _ends(problem: Problem, chain: Sequence[str]) -> FloatArray:
    return problem.anchors[[problem.names.index(chain[0]), problem.names.index(chain[-1])]]


def _coarse(support: Support) -> Support:
    """Larger cells, supported where at least half of what they hold is."""
    size = CELLS
    width, height = (count // size for count in support.mask.shape)
    blocks = support.mask[: width * size, : height * size].reshape(width, size, height, size)
    origin = support.origin + (size - 1) / 2 * support.cell
    return Support(origin, size * support.cell, blocks.mean(axis=(1, 3)) >= 0.5)


def _thinned(segments: FloatArray) -> list[list[list[float]]]:
    rows = np.unique(np.append(np.arange(0, segments.shape[1], EVERY_FRAME), segments.shape[1] - 1))
    return [rounded(segment) for segment in segments[:, rows]]
