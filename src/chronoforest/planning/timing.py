"""When an agent is where on its path: the travel time of every leg, spread evenly over its length."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from chronoforest.planning.shortening import AssemblyParams, travel_time
from chronoforest.types import Distance, FloatArray, Plan


def step_times(route: Plan, distance: Distance, params: AssemblyParams) -> FloatArray:
    """[T] steps after the start; the path of the route must be in the plane that was planned in.

    A leg that is met takes what its certificate says; an attempt at one that is not is timed by the distance.
    """
    if len(route.path) == 0:
        return np.zeros(0)
    ends = [*route.stops, *([len(route.path) - 1] if len(route.stops) <= len(route.legs) else [])]
    knots, when = [0.0], [0.0]
    for leg, (first, last) in zip(route.legs, pairwise(ends), strict=False):
        part = route.path[first : last + 1]
        is_known = leg.is_met and np.isfinite(leg.cost)
        knots.append(float(route.along[last]))
        when.append(when[-1] + (leg.cost if is_known else travel_time(part, distance, params)))
    return np.interp(route.along, knots, when)
