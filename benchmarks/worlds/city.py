"""A real city, for scoring plans: its streets, and the directions and turns of its trips.

The streets are those of `streets.csv.gz`. Plans are scored against all trips, those that nothing was learned
from among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.spatial import cKDTree

from benchmarks.worlds.lanes import evenly
from benchmarks.worlds.reference import Reference
from benchmarks.worlds.trips import (
    ALIKE,
    BESIDE,
    SPACING,
    Trips,
    pieces,
    read_rows,
    read_trips,
    sectors,
    units,
)
from chronoforest.types import BoolArray, FloatArray, path_length

STREET = 20.0
"""Metres from a street that are still on it."""

REACH = 30.0
"""Metres before and after a place over which a turn is told."""

SHARP = 50.0
"""Degrees from which a change of direction is a turn."""

SECTORS = 36
"""Of directions, in the table of what was recorded."""


@dataclass(frozen=True)
class CityFigures:
    """A way in short: metres in all; of it more than `STREET` from a street, and against every direction
    recorded nearby; turns in all, and those that no trip makes."""

    length: float
    off_street: float
    against: float
    num_turns: int
    num_unrecorded: int


@dataclass(frozen=True, eq=False)
class City:
    """streets: [m, 2, 2] straight pieces, metres in the coordinates of the trips."""

    trips: Trips
    streets: FloatArray

    @cached_property
    def _street_tree(self) -> cKDTree:
        parts = [evenly(piece, 2.0) for piece in self.streets if np.ptp(piece, axis=0).any()]
        return cKDTree(np.concatenate(parts))

    def to_street(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """[n] metres from points [n, 2] to the nearest street, and [n, 2] where that is."""
        gap, row = self._street_tree.query(points)
        return gap, np.asarray(self._street_tree.data[row])

    @cached_property
    def _directions(self) -> tuple[FloatArray, BoolArray]:
        """The corner of a table of `SPACING` cells, and [sectors, nx, ny]: recorded within `BESIDE`."""
        low = np.min([way.min(axis=0) for way in self.trips.ways], axis=0) - 2 * BESIDE
        high = np.max([way.max(axis=0) for way in self.trips.ways], axis=0) + 2 * BESIDE
        shape = np.ceil((high - low) / SPACING).astype(int) + 1
        table = np.zeros((SECTORS, *shape), dtype=np.bool_)
        for way in self.trips.ways:
            places, moves = pieces(way)
            x, y = np.rint((places - low) / SPACING).astype(int).T
            table[sectors(moves, SECTORS), x, y] = True
        far = BESIDE / SPACING
        return low, np.stack([(distance_transform_edt(~found) <= far) & found.any() for found in table])

    def is_against(self, places: FloatArray, moves: FloatArray) -> BoolArray:
        """[n]: every direction recorded nearby is more than a right angle off; false where there is none."""
        low, table = self._directions
        rows = np.rint((places - low) / SPACING).astype(int)
        is_inside = np.asarray(((rows >= 0) & (rows < table.shape[1:])).all(axis=1))
        x, y = np.where(is_inside[:, None], rows, 0).T
        near = table[:, x, y] & is_inside
        around = np.arange(-SECTORS // 4, SECTORS // 4 + 1)[:, None] + sectors(moves, SECTORS)[None]
        is_with = near[around % SECTORS, np.arange(len(places))[None]].any(axis=0)
        return np.asarray(near.any(axis=0) & ~is_with)

    @cached_property
    def _turns(self) -> tuple[cKDTree, FloatArray, FloatArray]:
        """The recorded places, and [n, 2] unit directions before and after each."""
        found = [_before_and_after(way) for way in self.trips.ways]
        places, before, after = (np.concatenate(part) for part in zip(*found, strict=True))
        return cKDTree(places), before, after

    def turns(self, path: FloatArray) -> BoolArray:
        """[t] for every turn of a path [n, 2], whether some trip makes it there."""
        way = evenly(path, SPACING)
        if len(way) < 2 * REACH / SPACING + 1:
            return np.zeros(0, dtype=np.bool_)
        places, before, after = _before_and_after(way)
        sharpness = 1.0 - (before * after).sum(axis=1)
        corners = _peaks(sharpness, 1.0 - np.cos(np.radians(SHARP)), int(REACH / SPACING))
        return np.array([self._is_made(places[k], before[k], after[k]) for k in corners], dtype=np.bool_)

    def _is_made(self, place: FloatArray, before: FloatArray, after: FloatArray) -> bool:
        tree, recorded_before, recorded_after = self._turns
        near = tree.query_ball_point(place, BESIDE)
        least = np.cos(np.radians(ALIKE))
        is_same = (recorded_before[near] @ before >= least) & (recorded_after[near] @ after >= least)
        return bool(is_same.any())

    def judge(self, path: FloatArray) -> CityFigures:
        """What a path [n, 2] does in the city."""
        places, moves = pieces(evenly(path, SPACING))
        length = path_length(path)
        turns = self.turns(path)
        return CityFigures(
            length=length,
            off_street=length * float((self.to_street(places)[0] > STREET).mean()),
            against=length * float(self.is_against(places, moves).mean()),
            num_turns=len(turns),
            num_unrecorded=int((~turns).sum()),
        )

    @cached_property
    def reference(self) -> Reference:
        """Ways over what was recorded and not held out: nobody can know of the others."""
        return Reference.made_of(list(self.trips.known_ways.values()))

    @cached_property
    def whole_reference(self) -> Reference:
        """Ways over what was recorded, the held-out trips among it."""
        return Reference.made_of(self.trips.ways)


def load_city(folder: Path) -> City:
    """The city of a folder with `trips.csv.gz` and `streets.csv.gz`."""
    return City(read_trips(folder), read_rows(folder / "streets.csv.gz")[:, 1:].reshape(-1, 2, 2))


def _before_and_after(way: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The inner places of a polyline with places `SPACING` apart, and the unit directions over `REACH` before
    and after each."""
    reach = int(REACH / SPACING)
    inner = way[reach:-reach]
    before, after = inner - way[: -2 * reach], way[2 * reach :] - inner
    return inner, units(before), units(after)


def _peaks(values: FloatArray, least: float, apart: int) -> list[int]:
    """Rows of the largest values of at least that size, any two more than `apart` rows from each other."""
    found: list[int] = []
    for row in np.argsort(-values, kind="stable"):
        if values[row] < least:
            break
        if all(abs(int(row) - other) > apart for other in found):
            found.append(int(row))
    return found
