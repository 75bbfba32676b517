"""A strait with two one-way lanes, crossings and T-junctions, in kilometres; and recordings of its ships."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.worlds.lanes import LaneWorld, at_distances, directions, drive
from chronoforest.data.episodes import Episodes
from chronoforest.data.imports import save_episodes
from chronoforest.types import FloatArray, lengths_along

STRAIT = LaneWorld(
    places={
        # the eastbound lane in the south, the westbound lane in the north
        "e0": (0, 8), "e1": (14, 8), "e2": (28, 8), "e3": (42, 8), "e4": (62, 8),
        "w0": (62, 14), "w1": (42, 14), "w2": (28, 14), "w3": (14, 14), "w4": (0, 14),
        # roads along the coasts: the southern one leads west, the northern one east
        "s1": (14, 0), "s2": (28, 0), "s3": (42, 0),
        "n1": (14, 22), "n2": (28, 22), "n3": (42, 22),
        # a ferry that crosses both lanes, both ways
        "fs": (53, 0), "fn": (53, 22), "f": (53, 11),
    },
    turns=(
        # the lanes themselves
        ("e0", "e1", "e2"), ("e1", "e2", "e3"), ("e2", "e3", "e4"),
        ("w0", "w1", "w2"), ("w1", "w2", "w3"), ("w2", "w3", "w4"),
        # the northbound crossing: from the southern coast, joined from and left for the lanes
        ("s1", "e1", "w3"), ("e1", "w3", "n1"), ("e0", "e1", "w3"), ("s1", "e1", "e2"), ("e1", "w3", "w4"),
        # the southbound crossing; nobody leaves the eastbound lane for it
        ("n3", "w1", "e3"), ("w1", "e3", "s3"), ("w0", "w1", "e3"), ("n3", "w1", "w2"), ("w1", "e3", "e4"),
        # T-junctions: out of the eastbound lane to the coast, from the coast into the westbound lane
        ("e1", "e2", "s2"), ("e2", "s2", "s1"), ("n2", "w2", "w3"), ("n1", "n2", "w2"),
        # the coasts
        ("s3", "s2", "s1"), ("e3", "s3", "s2"), ("s2", "s1", "e1"),
        ("n1", "n2", "n3"), ("w3", "n1", "n2"), ("n2", "n3", "w1"),
        # the ferry, which joins nothing
        ("fs", "f", "fn"), ("fn", "f", "fs"),
    ),
    corner=2.0,
    reach=1.5,
)  # fmt: skip


@dataclass(frozen=True)
class Traffic:
    """How ships are recorded: rows of num_rows positions, speed units apart; wander: kilometres from a lane's
    middle, which changes slowly; jitter: error that is new in every row."""

    num_recordings: int = 1200
    num_rows: int = 41
    speed: float = 0.5
    wander: float = 0.3
    memory: float = 30.0
    jitter: float = 0.03


def record(traffic: Traffic, seed: int) -> FloatArray:
    """[E, T, 2] recordings; the same seed gives the same ones."""
    rng = np.random.default_rng(seed)
    found: list[FloatArray] = []
    while len(found) < traffic.num_recordings:
        way = drive(STRAIT, 1.2 * traffic.speed * traffic.num_rows, rng)
        step = traffic.speed * rng.normal(1.0, 0.05)
        if lengths_along(way)[-1] >= step * (traffic.num_rows - 1):
            found.append(_recorded(way, step, traffic, rng))
    return np.stack(found)


def write(path: Path, traffic: Traffic, seed: int) -> None:
    """Write recordings as a dataset."""
    places = record(traffic, seed).astype(np.float32)
    about = {"generator": "python -m benchmarks record strait", "seed": seed}
    save_episodes(path, Episodes(places, np.zeros((*places.shape[:2], 0), dtype=np.float32), about))


def _recorded(way: FloatArray, step: float, traffic: Traffic, rng: np.random.Generator) -> FloatArray:
    """[T, 2] a ship's positions along the middle of a way."""
    place = at_distances(way, np.arange(traffic.num_rows, dtype=np.float64) * step)
    ahead = directions(place)
    aside = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
    place = place + slow_noise(traffic, rng)[:, None] * aside
    return np.asarray(place + rng.normal(0, traffic.jitter, place.shape))


def slow_noise(traffic: Traffic, rng: np.random.Generator) -> FloatArray:
    """[T] noise as large as the wander, which forgets itself over `memory` rows; never above twice that."""
    keep = np.exp(-1.0 / traffic.memory)
    noise = [rng.normal(0, traffic.wander)]
    while len(noise) < traffic.num_rows:
        noise.append(keep * noise[-1] + rng.normal(0, traffic.wander * np.sqrt(1 - keep**2)))
    return np.clip(noise, -2 * traffic.wander, 2 * traffic.wander)
