"""A made-up town of one-way and two-way streets, as a road network in degrees."""

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.exports.network import Network
from chronoforest.service.router import Router

FRAME = Frame("degrees", (-87.65, 41.87), 1.0)
SPACING = 10.0
BLOCKS = 6
SIDE = 8
"""States between two crossings."""


def town(seed=0, is_two_way=True):
    """Every street has a state every 10 m and direction; crossings lead straight on, right and left, never
    back. A third of the streets is one-way."""
    rng = np.random.default_rng(seed)
    position, heading, hops, into, out = [], [], [], {}, {}

    def drive(start, end):
        way = start + (end - start) * (np.arange(SIDE) + 0.5)[:, None] / SIDE
        first = len(position)
        position.extend(way * SPACING * SIDE)
        heading.extend([np.arctan2(*(end - start)[::-1])] * SIDE)
        hops.extend((first + k, first + k + 1) for k in range(SIDE - 1))
        out.setdefault(tuple(start), []).append((first, end - start))
        into.setdefault(tuple(end), []).append((first + SIDE - 1, end - start))

    corners = np.argwhere(np.ones((BLOCKS, BLOCKS)))
    streets = [(start, start + step) for start in corners for step in np.eye(2, dtype=int)]
    for start, end in streets:
        if max(end) < BLOCKS:
            drive(start, end)
            if is_two_way and rng.random() > 1 / 3:
                drive(end, start)
    for place, arriving in into.items():
        for end, came in arriving:
            hops.extend((end, start) for start, goes in out.get(place, ()) if (came != -goes).any())
    hops = np.array(hops)
    seconds = rng.uniform(0.5, 2.0, len(hops))
    count = rng.integers(1, 50, len(hops))
    spread = (0.8 * seconds, 1.5 * seconds)
    return Network.straight(np.array(position), np.array(heading), hops, seconds, 12.0, FRAME, count, spread)


NETWORK = town()
ROUTER = Router(NETWORK)


def places(count, seed=0):
    """[count, 2] longitude and latitude beside streets."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(NETWORK.position), count)
    return FRAME.to_user(NETWORK.position[rows] + rng.normal(0.0, 2.0, (count, 2)))


def written(points):
    return ";".join(f"{x:.6f},{y:.6f}" for x, y in points)
