"""Trips of a city's buses: reading them, and what was driven where by those that something is learned from.

They are those of `trips.csv.gz`; the page of the suites says where it comes from. Coordinates stay as they
come, in UTM metres: only the planner moves them, by the frame of its recordings.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.worlds.lanes import directions, evenly
from chronoforest.errors import BadDataset
from chronoforest.files import drafted
from chronoforest.types import FloatArray, IntArray

HELD_OUT = 5
"""One trip in so many is held out."""

SPACING = 5.0
"""Metres between the places at which trips and plans are looked at."""

BESIDE = 20.0
"""Metres within which a recorded direction counts."""

ALIKE = 45.0
"""Degrees between directions that are the same."""


@dataclass(frozen=True, eq=False)
class Trips:
    """tracks: [n, 2] the fixes of each trip, metres; numbers: of the trips."""

    tracks: tuple[FloatArray, ...]
    numbers: tuple[int, ...]

    @cached_property
    def ways(self) -> tuple[FloatArray, ...]:
        """[n, 2] places `SPACING` apart along every trip."""
        return tuple(evenly(track, SPACING) for track in self.tracks)

    @cached_property
    def known_ways(self) -> dict[int, FloatArray]:
        """The ways of the trips that are not held out, by their numbers."""
        pairs = zip(self.ways, self.numbers, strict=True)
        return {number: way for way, number in pairs if not is_held_out(number)}

    def random_places(self, count: int, rng: np.random.Generator) -> FloatArray:
        """[count, 2] places of trips that are not held out, every metre driven as likely as any other."""
        tree, _ = self._known
        return np.asarray(tree.data[rng.integers(0, tree.n, count)])

    def num_passes(self, points: FloatArray, radius: float) -> IntArray:
        """[n] trips that something is learned from and that pass points [n, 2] within so many metres."""
        tree, owner = self._known
        return np.array([len(np.unique(owner[near])) for near in tree.query_ball_point(points, radius)])

    def num_followed(self, path: FloatArray) -> int:
        """The least number of trips that something is learned from and that go the way of a path [n, 2]:
        within `BESIDE` metres, in about its direction."""
        places, moves = pieces(evenly(path, SPACING))
        tree, owner = self._known
        least = np.cos(np.radians(ALIKE))
        counts = [
            len(np.unique(owner[near][self._known_directions[near] @ heading >= least]))
            for near, heading in zip(tree.query_ball_point(places, BESIDE), units(moves), strict=True)
        ]
        return min(counts)

    @cached_property
    def _known(self) -> tuple[cKDTree, IntArray]:
        """Places along the trips that are not held out, and the trip of each."""
        ways = self.known_ways
        owner = np.repeat(np.array(list(ways), dtype=np.int64), [len(way) for way in ways.values()])
        return cKDTree(np.concatenate(list(ways.values()))), owner

    @cached_property
    def _known_directions(self) -> FloatArray:
        """[n, 2] unit directions at the places of `_known`."""
        return np.concatenate([directions(way) for way in self.known_ways.values()])


def read_trips(folder: Path) -> Trips:
    """The trips of a folder with `trips.csv.gz`, their fixes in the order of time."""
    rows = read_rows(folder / "trips.csv.gz")
    numbers = rows[:, 0].astype(np.int64)
    known = np.unique(numbers)
    order = np.lexsort((rows[:, 1], numbers))
    tracks = np.split(rows[order, 2:4], np.searchsorted(numbers[order], known[1:]))
    return Trips(tuple(tracks), tuple(int(number) for number in known))


def write_trips(folder: Path, out: Path) -> tuple[Path, Path]:
    """Write city.csv and city-val.csv: the trips to learn from, and those that are held out."""
    header, *rows = _table(folder / "trips.csv.gz")
    paths = out / "city.csv", out / "city-val.csv"
    for path, is_held in zip(paths, (False, True), strict=True):
        with drafted(path) as draft, draft.open("w", newline="") as file:
            csv.writer(file).writerows(
                [header, *(row for row in rows if is_held_out(int(row[0])) == is_held)]
            )
    return paths


def is_held_out(number: int) -> bool:
    """Whether nothing is learned from a trip."""
    return number % HELD_OUT == HELD_OUT - 1


def read_rows(path: Path) -> FloatArray:
    """The numbers of a compressed CSV file, without the names of its columns."""
    return np.array(_table(path)[1:], dtype=np.float64)


def pieces(way: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middles and moves of the pieces of a polyline."""
    return 0.5 * (way[1:] + way[:-1]), np.diff(way, axis=0)


def units(moves: FloatArray) -> FloatArray:
    """[n, 2] the directions of moves [n, 2]."""
    return np.asarray(moves / (np.linalg.norm(moves, axis=1, keepdims=True) + 1e-9))


def sectors(moves: FloatArray, count: int) -> IntArray:
    """[n] which of so many sectors the direction of each move [n, 2] lies in."""
    angle = np.arctan2(moves[:, 1], moves[:, 0])
    return np.rint(angle * count / (2 * np.pi)).astype(np.int64) % count


def _table(path: Path) -> list[list[str]]:
    """The rows of a compressed CSV file, the first of which names the columns."""
    if not path.is_file():
        raise BadDataset(f"{path}: no such file; this folder must hold the city's trips and streets")
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.reader(file))
