"""When an agent is where on its path: what the distance says of every leg, spread evenly over its length.

Not what the planner weighs legs by: that is dearer where a way is in doubt, and nobody drives slower for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from chronoforest.planning.shortening import AssemblyParams, resample
from chronoforest.types import Distance, FloatArray, Plan


def travel_time(path: FloatArray, distance: Distance, params: AssemblyParams) -> float:
    """Steps along a path [t, 2]: the temporal distance summed over hops of `timing_hop` units."""
    return travel_times([path], distance, params)[0]


def travel_times(paths: Sequence[FloatArray], distance: Distance, params: AssemblyParams) -> list[float]:
    """The same for each of some paths, in one call of the distance."""
    if not paths:
        return []
    parts = [resample(path, params.timing_hop) for path in paths]
    codes = distance.encode(np.concatenate(parts))
    # A hop from the end of a path to the beginning of the next one is told, too, and in no sum.
    hops = distance.between(codes[:-1], codes[1:])
    ends = np.cumsum([len(part) for part in parts])
    return [float(hops[end - len(part) : end - 1].sum()) for part, end in zip(parts, ends, strict=True)]


def step_times(route: Plan, distance: Distance, params: AssemblyParams) -> FloatArray:
    """[T] steps after the start; the path of the route must be in the plane that was planned in."""
    if len(route.path) == 0:
        return np.zeros(0)
    ends = [*route.stops, *([len(route.path) - 1] if len(route.stops) <= len(route.legs) else [])]
    parts = [route.path[first : last + 1] for first, last in pairwise(ends)]
    when = np.cumsum([0.0, *travel_times(parts, distance, params)])
    return np.interp(route.along, [0.0, *(float(route.along[last]) for last in ends[1:])], when)
