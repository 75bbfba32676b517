"""From meetings to plans: join the halves of a bridge, shorten it, join bridges along an order, time them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chronoforest.planning.shortening import AssemblyParams
from chronoforest.roadmap.straight import resample
from chronoforest.search.tree import Forest
from chronoforest.types import (
    Calibration,
    Distance,
    FloatArray,
    Leg,
    Meeting,
    Pair,
    Plan,
    Problem,
    path_length,
)


@dataclass(frozen=True)
class Bridge:
    """A way from anchor to anchor: path [t, 2] after post-processing, and the length before it."""

    path: FloatArray
    raw_length: float

    @property
    def length(self) -> float:
        """World units."""
        return path_length(self.path)

    @property
    def reversed(self) -> Bridge:
        """The way back, in a world where that takes as long."""
        return Bridge(self.path[::-1], self.raw_length)


def build_bridges(
    forest: Forest,
    meetings: Sequence[Meeting],
    shortened: Callable[[Sequence[FloatArray]], list[FloatArray]],
) -> list[Bridge]:
    """Join the halves of every meeting, out of the source to where the trees touch and in to the target, and
    shorten them, all at once."""
    raw = []
    for meeting in meetings:
        source, target = forest.sides(meeting.pair)
        halves = source.path_to(meeting.source_frame), target.path_to(meeting.target_frame)[::-1]
        raw.append(np.concatenate(halves))
    return [Bridge(path, path_length(way)) for path, way in zip(shortened(raw), raw, strict=True)]


def concatenated(parts: Sequence[FloatArray]) -> tuple[FloatArray, tuple[int, ...]]:
    """Legs that share their ends as one path, and the row where each leg's end lies."""
    path = np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
    stops = np.cumsum([0, *(len(part) - 1 for part in parts)])
    return path, tuple(int(stop) for stop in stops)


def along(bridges: Sequence[Bridge]) -> Bridge:
    """Adjoining bridges as one."""
    path, _ = concatenated([bridge.path for bridge in bridges])
    return Bridge(path, sum(bridge.raw_length for bridge in bridges))


def best_effort(forest: Forest, leg: Pair, calibration: Calibration, spacing: float) -> Bridge:
    """The way to the outgoing tree's node that looks nearest to the leg's target."""
    source, target = forest.sides(leg)
    left = source.outward_pairwise(source.codes, target.codes).min(axis=1)
    node = int(np.argmin(source.cost + calibration.inflate(left)))
    path = resample(source.frame_state[source.prefix_frames(node)], spacing)
    return Bridge(path, path_length(path))


def make_plan(
    order: Sequence[int],
    problem: Problem,
    describe: Callable[[Pair], Leg],
    way: Callable[[Pair], Bridge],
) -> Plan:
    """The ways of one agent's legs up to the first that is not met, whose best effort ends the path.

    order: rows of the problem's anchors. The plan's stops are those that the path reaches.
    """
    pairs = [Pair(a, b) for a, b in pairwise(order)]
    legs = tuple(describe(pair) for pair in pairs)
    num_met = next((k for k, leg in enumerate(legs) if not leg.is_met), len(legs))
    ways = [way(pair) for pair in pairs[: num_met + 1]]
    path, stops = concatenated([way.path for way in ways])
    return Plan(
        order=[problem.names[anchor] for anchor in order],
        path=path,
        legs=legs,
        raw_length=sum(way.raw_length for way in ways),
        stops=stops[: num_met + 1],
    )


def travel_times(paths: Sequence[FloatArray], distance: Distance, params: AssemblyParams) -> list[float]:
    """Steps along each path [t, 2]: the temporal distance summed over hops of `timing_hop` units; one call of
    the distance for all."""
    if not paths:
        return []
    parts = [resample(path, params.timing_hop) for path in paths]
    codes = distance.encode(np.concatenate(parts))
    # The hop between the end of one path and the start of the next is computed too, but is in no sum.
    hops = distance.between(codes[:-1], codes[1:])
    ends = np.cumsum([len(part) for part in parts])
    return [float(hops[end - len(part) : end - 1].sum()) for part, end in zip(parts, ends, strict=True)]


def way_times(
    paths: Sequence[FloatArray], distance: Distance, pace: float, surely: float, params: AssemblyParams
) -> list[float]:
    """Steps along each walkable way [t, 2]: its length at one pace, in steps per unit, and longer only where
    even `surely` times what the distance says is more. Orders differ by a few per cent, and lengths are more
    exact than a learned time."""
    learned = travel_times(paths, distance, params)
    return [max(pace * path_length(way), surely * steps) for way, steps in zip(paths, learned, strict=True)]


def step_times(route: Plan, distance: Distance | None, params: AssemblyParams) -> FloatArray:
    """Steps after the start at each point of a route's path [t] in the plane of the models, the time of a leg
    spread evenly over its length: how long recordings took on each, or else how long they take by the
    distance; empty without either.

    The costs of legs are not used: they are raised where a leg is in doubt, which makes no agent slower.
    """
    took = [leg.took[0] for leg in route.legs if leg.is_met and leg.took is not None]
    is_short = len(route.stops) <= len(route.legs)
    if len(route.path) > 0 and len(took) >= len(route.stops) - 1 and not is_short:
        ends = list(route.stops)
    elif len(route.path) > 0 and distance is not None:
        ends = [*route.stops, *([len(route.path) - 1] if is_short else [])]
        took = travel_times([route.path[a : b + 1] for a, b in pairwise(ends)], distance, params)
    else:
        return np.zeros(0)
    lengths, when = [float(route.along[end]) for end in ends], np.cumsum([0.0, *took[: len(ends) - 1]])
    return np.interp(route.along, lengths, when)
