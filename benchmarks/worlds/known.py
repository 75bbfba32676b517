"""Worlds whose every way is known, in tens of metres, and what is recorded in them: a taxi city of one-way
streets with a motorway over it, a mountain trail with switchbacks, a harbour with a fairway and berths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from benchmarks.worlds.lanes import LaneWorld, Turn, at_distances, directions, drive
from benchmarks.worlds.strait import Traffic, slow_noise
from chronoforest.types import FloatArray, lengths_along

BLOCK, NUM_STREETS = 10, 4
"""Tens of metres between the streets of the taxi city, and streets along each axis."""

LEG, APART, NUM_LEGS = 12.0, 1.5, 12
"""Tens of metres: the length of the legs of the trail and the way from one to the next; and how many legs."""


@dataclass(frozen=True)
class KnownWorld:
    """lanes: every way that is taken; traffic: how it is recorded, in tens of metres and rows three seconds
    apart."""

    lanes: LaneWorld
    traffic: Traffic

    def recordings(self, seed: int) -> pd.DataFrame:
        """Trips with trip, time, x and y; the same seed gives the same ones."""
        rng = np.random.default_rng(seed)
        parts: list[pd.DataFrame] = []
        while len(parts) < self.traffic.num_recordings:
            step = self.traffic.speed * rng.normal(1.0, 0.1)
            way = drive(self.lanes, step * self.traffic.num_rows, rng)
            num_rows = int(lengths_along(way)[-1] / step) + 1
            if num_rows >= self.traffic.num_rows // 2:
                place = self._seen(at_distances(way, step * np.arange(num_rows, dtype=np.float64)), rng)
                time = 3.0 * np.arange(num_rows)
                parts.append(
                    pd.DataFrame({"trip": len(parts), "time": time, "x": place[:, 0], "y": place[:, 1]})
                )
        return pd.concat(parts)

    def _seen(self, place: FloatArray, rng: np.random.Generator) -> FloatArray:
        """[n, 2] places as a receiver has them."""
        ahead = directions(place)
        aside = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
        wander = slow_noise(replace(self.traffic, num_rows=len(place)), rng)
        return np.asarray(place + wander[:, None] * aside + rng.normal(0, self.traffic.jitter, place.shape))


def _taxi() -> KnownWorld:
    """Streets lead east and west, south and north in turn; a motorway crosses above them, with two ramps."""
    places = {f"{x}{y}": (BLOCK * x, BLOCK * y) for x, y in product(range(NUM_STREETS), repeat=2)}
    order = range(NUM_STREETS)
    rows = [[f"{x}{y}" for x in (order if y % 2 == 0 else order[::-1])] for y in order]
    columns = [[f"{x}{y}" for y in (order if x % 2 else order[::-1])] for x in order]
    links = [link for street in (*rows, *columns) for link in pairwise(street)]
    turns: list[Turn] = [(a, b, d) for (a, b), (c, d) in product(links, repeat=2) if b == c]
    places |= {"m0": (-10, 15), "m1": (5, 15), "m2": (15, 15), "m3": (25, 15), "m4": (45, 15)}
    turns += [("m0", "m1", "m2"), ("m1", "m2", "m3"), ("m2", "m3", "m4")]
    turns += [("03", "02", "m1"), ("02", "m1", "m2"), ("m1", "m2", "21"), ("m2", "21", "20")]
    return KnownWorld(
        LaneWorld(places, tuple(turns), corner=1.0, reach=1.2),
        Traffic(num_recordings=500, num_rows=40, speed=2.4, wander=0.3, memory=20.0, jitter=0.1),
    )


def _trail() -> KnownWorld:
    """Hikers go up and down and do not turn round on the way."""
    ends = [(x, APART * k) for k in range(NUM_LEGS) for x in ((0.0, LEG) if k % 2 == 0 else (LEG, 0.0))]
    names = [f"t{k}" for k in range(len(ends))]
    up = list(zip(names, names[1:], names[2:], strict=False))
    return KnownWorld(
        LaneWorld(dict(zip(names, ends, strict=True)), (*up, *((c, b, a) for a, b, c in up)), 0.5, 0.6),
        Traffic(num_recordings=60, num_rows=120, speed=0.7, wander=0.2, memory=20.0, jitter=0.05),
    )


def _harbour() -> KnownWorld:
    """Ships come in by one lane of the fairway and leave by the other, turn in the basin or at a berth."""
    places = {"in": (0, 2), "i": (30, 2), "basin": (65, 0), "o": (30, -2), "out": (0, -2)}
    berths = {"q1": (65, 15), "q2": (78, 8), "q3": (78, -8), "q4": (65, -15)}
    turns: list[Turn] = [("in", "i", "basin"), ("basin", "o", "out")]
    for berth in berths:
        turns += [("i", "basin", berth), ("basin", berth, "basin"), (berth, "basin", "o")]
        turns += [(berth, "basin", other) for other in berths if other != berth]
    return KnownWorld(
        LaneWorld({**places, **berths}, tuple(turns), corner=2.0, reach=1.2),
        Traffic(num_recordings=200, num_rows=60, speed=1.5, wander=0.3, memory=30.0, jitter=0.1),
    )


WORLDS = {"taxi": _taxi(), "trail": _trail(), "harbour": _harbour()}
