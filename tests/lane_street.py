"""A street with a lane each way and a turning circle at its end, as a roadmap without a world behind it."""

import numpy as np

from chronoforest.roadmap.hops import AGAINST, Hops
from chronoforest.roadmap.places import Places
from chronoforest.roadmap.turns import turns
from chronoforest.roadmap.ways import Joined
from chronoforest.types import Problem

STREET = [(0, 0), (8, 0), (12, 0), (13, 1), (13, 2), (12, 3), (11, 3), (10, 2), (8, 1), (0, 1)]
START, STOP, GOAL = (-4, 0), (4, 0.5), (-4, 1)
CIRCLE = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8)]
HOPS = [(10, 0), (0, 11), (0, 1), (11, 1), *CIRCLE, (8, 11), (8, 9), (11, 9), (9, 12)]
PROBLEM = Problem([START], [GOAL], [STOP])


def joined_street(hops=HOPS, undriven=()):
    """The street with start, stop and goal in it, over hops of one step each; some were driven by nobody."""
    source, target = np.array([*hops, *undriven]).T
    is_driven = np.arange(len(source)) < len(hops)
    made = Hops(source, target, np.where(is_driven, 1.0, AGAINST), is_driven)
    places = Places(np.array([*STREET, START, STOP, GOAL], dtype=float), np.ones(len(STREET) + 3))
    return Joined(places, made, 3, turns(places.position, made, 3))
