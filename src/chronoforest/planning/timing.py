"""When an agent is where on its path: what the distance says of every leg, spread evenly over its length.

Not what the planner weighs legs by: that is dearer where a way is in doubt, and nobody drives slower for it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from chronoforest.planning.shortening import AssemblyParams, travel_time
from chronoforest.types import Distance, FloatArray, Plan


def step_times(route: Plan, distance: Distance, params: AssemblyParams) -> FloatArray:
    """[T] steps after the start; the path of the route must be in the plane that was planned in."""
    if len(route.path) == 0:
        return np.zeros(0)
    ends = [*route.stops, *([len(route.path) - 1] if len(route.stops) <= len(route.legs) else [])]
    parts = [route.path[first : last + 1] for first, last in pairwise(ends)]
    when = np.cumsum([0.0, *(travel_time(part, distance, params) for part in parts)])
    return np.interp(route.along, [0.0, *(float(route.along[last]) for last in ends[1:])], when)
