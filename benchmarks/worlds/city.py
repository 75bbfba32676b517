"""A real city: trips of buses and the streets they drove on, for problems and for scoring.

The trips are those of `trips.csv.gz`, the streets those of `streets.csv.gz`; the page of the suites says
where they come from. Plans are scored against all trips, those that nothing was learned from among them.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from benchmarks.worlds.lanes import directions, evenly
from chronoforest.errors import BadDataset
from chronoforest.types import BoolArray, FloatArray, IntArray, path_length

ORIGIN = (446500.0, 4635500.0)
"""UTM metres of what is 0, 0 in the recordings."""

HELD_OUT = 5
"""One trip in so many is held out."""

SPACING = 5.0
"""Metres between the places at which trips and plans are looked at."""

STREET, BESIDE = 20.0, 20.0
"""Metres from a street that are still on it; metres within which a recorded direction counts."""

REACH = 30.0
"""Metres before and after a place over which a turn is told."""

SHARP, ALIKE = 50.0, 45.0
"""Degrees from which a change of direction is a turn; degrees between turns that are the same."""

SECTORS = 36
"""Of directions, in the table of what was recorded."""

CELL = 10.0
"""Metres of the cells whose recorded places with one direction count as one."""

LEAST_TRIPS = 2
"""Trips that pass a cell in one direction before a way of the reference may."""

NUM_AHEAD = 6
"""Places ahead on a trip that a link of the reference leads over: 30 metres, so that noise adds no length."""


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
    """trips: [n, 2] each, metres from `ORIGIN`; numbers: of the trips; streets: [m, 2, 2] straight pieces."""

    trips: tuple[FloatArray, ...]
    numbers: tuple[int, ...]
    streets: FloatArray

    @cached_property
    def ways(self) -> tuple[FloatArray, ...]:
        """[n, 2] places `SPACING` apart along every trip."""
        return tuple(evenly(trip, SPACING) for trip in self.trips)

    @cached_property
    def _street_tree(self) -> cKDTree:
        pieces = [evenly(piece, 2.0) for piece in self.streets if np.ptp(piece, axis=0).any()]
        return cKDTree(np.concatenate(pieces))

    def to_street(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """[n] metres from points [n, 2] to the nearest street, and [n, 2] where that is."""
        gap, row = self._street_tree.query(points)
        return gap, np.asarray(self._street_tree.data[row])

    @cached_property
    def _directions(self) -> tuple[FloatArray, BoolArray]:
        """The corner of a table of `SPACING` cells, and [sectors, nx, ny]: recorded within `BESIDE`."""
        low = np.min([way.min(axis=0) for way in self.ways], axis=0) - 2 * BESIDE
        high = np.max([way.max(axis=0) for way in self.ways], axis=0) + 2 * BESIDE
        shape = np.ceil((high - low) / SPACING).astype(int) + 1
        table = np.zeros((SECTORS, *shape), dtype=np.bool_)
        for way in self.ways:
            places, moves = _pieces(way)
            x, y = np.rint((places - low) / SPACING).astype(int).T
            table[_sectors(moves), x, y] = True
        far = BESIDE / SPACING
        return low, np.stack([(distance_transform_edt(~found) <= far) & found.any() for found in table])

    def is_against(self, places: FloatArray, moves: FloatArray) -> BoolArray:
        """[n]: every direction recorded nearby is more than a right angle off; false where there is none."""
        low, table = self._directions
        rows = np.rint((places - low) / SPACING).astype(int)
        is_inside = np.asarray(((rows >= 0) & (rows < table.shape[1:])).all(axis=1))
        x, y = np.where(is_inside[:, None], rows, 0).T
        near = table[:, x, y] & is_inside
        around = np.arange(-SECTORS // 4, SECTORS // 4 + 1)[:, None] + _sectors(moves)[None]
        is_with = near[around % SECTORS, np.arange(len(places))[None]].any(axis=0)
        return np.asarray(near.any(axis=0) & ~is_with)

    @cached_property
    def _turns(self) -> tuple[cKDTree, FloatArray, FloatArray]:
        """The recorded places, and [n, 2] unit directions before and after each."""
        found = [_before_and_after(way) for way in self.ways]
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
        places, moves = _pieces(evenly(path, SPACING))
        length = path_length(path)
        turns = self.turns(path)
        return CityFigures(
            length=length,
            off_street=length * float((self.to_street(places)[0] > STREET).mean()),
            against=length * float(self.is_against(places, moves).mean()),
            num_turns=len(turns),
            num_unrecorded=int((~turns).sum()),
        )

    def random_places(self, count: int, rng: np.random.Generator) -> FloatArray:
        """[count, 2] places of trips, every metre driven as likely as any other."""
        tree, _ = self._training
        return np.asarray(tree.data[rng.integers(0, tree.n, count)])

    def num_passes(self, points: FloatArray, radius: float) -> IntArray:
        """[n] trips that something is learned from and that pass points [n, 2] within so many metres."""
        tree, owner = self._training
        return np.array([len(np.unique(owner[near])) for near in tree.query_ball_point(points, radius)])

    def num_followed(self, path: FloatArray) -> int:
        """The least number of trips that something is learned from and that go the way of a path [n, 2]:
        within `BESIDE` metres, in about its direction."""
        places, moves = _pieces(evenly(path, SPACING))
        tree, owner = self._training
        least = np.cos(np.radians(ALIKE))
        counts = [
            len(np.unique(owner[near][self._training_directions[near] @ heading >= least]))
            for near, heading in zip(tree.query_ball_point(places, BESIDE), _units(moves), strict=True)
        ]
        return min(counts)

    @cached_property
    def _known(self) -> dict[int, FloatArray]:
        """The ways of the trips that are not held out, by their numbers."""
        pairs = zip(self.ways, self.numbers, strict=True)
        return {number: way for way, number in pairs if not is_held_out(number)}

    @cached_property
    def _training(self) -> tuple[cKDTree, IntArray]:
        """Places along the trips that are not held out, and the trip of each."""
        ways = self._known
        owner = np.repeat(np.array(list(ways), dtype=np.int64), [len(way) for way in ways.values()])
        return cKDTree(np.concatenate(list(ways.values()))), owner

    @cached_property
    def _training_directions(self) -> FloatArray:
        """[n, 2] unit directions at the places of `_training`."""
        return np.concatenate([directions(way) for way in self._known.values()])

    @cached_property
    def reference(self) -> Reference:
        """Ways over what was recorded and not held out: nobody can know of the others."""
        return Reference.made_of(list(self._known.values()))

    @cached_property
    def whole_reference(self) -> Reference:
        """Ways over what was recorded, the held-out trips among it."""
        return Reference.made_of(self.ways)


@dataclass(frozen=True, eq=False)
class Reference:
    """The shortest ways over recorded, directed streets: places of one cell and one direction are one node,
    and links lead as trips did. So a way changes trips only where two pass alike, and makes no turn that no
    trip makes. Streets have no directions in the map, and matching noisy trips to them would add errors.

    position: [n, 2] the mean of each node's places; graph: metres between nodes.
    """

    position: FloatArray
    graph: csr_matrix

    @classmethod
    def made_of(cls, ways: Sequence[FloatArray]) -> Reference:
        """From places along every trip."""
        parts = [_pieces(way) for way in ways]
        places = np.concatenate([part[0] for part in parts])
        moves = np.concatenate([part[1] for part in parts])
        owner = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
        low = places.min(axis=0)
        cells = np.floor((places - low) / CELL).astype(np.int64)
        keys = (cells[:, 0] * (cells[:, 1].max() + 1) + cells[:, 1]) * 8 + _sectors(moves, 8)
        keep = _is_passed_often(keys, owner)
        row, places, keys, owner = np.flatnonzero(keep), places[keep], keys[keep], owner[keep]
        _, node = np.unique(keys, return_inverse=True)
        count = np.bincount(node)
        position = np.stack([np.bincount(node, places[:, k]) / count for k in range(2)], axis=1)
        links = [_links(node, owner, row, ahead) for ahead in range(1, NUM_AHEAD + 1)]
        source, target = (np.concatenate(ends) for ends in zip(*links, strict=True))
        pairs = np.unique(np.stack([source, target]), axis=1)
        metres = np.linalg.norm(position[pairs[0]] - position[pairs[1]], axis=1)
        return cls(position, csr_matrix((np.maximum(metres, 1e-6), pairs), shape=(len(position),) * 2))

    def lengths(self, anchors: FloatArray) -> FloatArray:
        """[A, A] metres between anchors, infinite where no recorded way leads."""
        first, count = len(self.position), len(anchors)
        near = cKDTree(self.position).query_ball_point(anchors, 1.5 * CELL)
        owner = np.repeat(np.arange(count), [len(nodes) for nodes in near])
        nodes = np.concatenate([np.array(found, dtype=np.int64) for found in near])
        gap = np.maximum(np.linalg.norm(self.position[nodes] - anchors[owner], axis=1), 1e-6)
        own = self.graph.tocoo()
        # Anchors are left and reached as two nodes: a way through one would be free to turn there.
        rows = np.concatenate([own.row, first + owner, nodes])
        columns = np.concatenate([own.col, nodes, first + count + owner])
        metres = np.concatenate([own.data, gap, gap])
        graph = csr_matrix((metres, (rows, columns)), shape=(first + 2 * count,) * 2)
        found: FloatArray = dijkstra(graph, indices=np.arange(first, first + count))[:, first + count :]
        np.fill_diagonal(found, 0.0)
        return found


def load_city(folder: Path) -> City:
    """The city of a folder with `trips.csv.gz` and `streets.csv.gz`."""
    trips = _rows(folder / "trips.csv.gz")
    numbers = trips[:, 0].astype(np.int64)
    known = np.unique(numbers)
    places = trips[:, 2:4] - np.array(ORIGIN)
    order = np.lexsort((trips[:, 1], numbers))
    parts = np.split(places[order], np.searchsorted(numbers[order], known[1:]))
    streets = _rows(folder / "streets.csv.gz")[:, 1:].reshape(-1, 2, 2) - np.array(ORIGIN)
    return City(tuple(parts), tuple(int(number) for number in known), streets)


def write_trips(folder: Path, out: Path) -> tuple[Path, Path]:
    """Write city.csv and city-val.csv: the trips to learn from, and those that are held out."""
    header, *rows = _table(folder / "trips.csv.gz")
    paths = out / "city.csv", out / "city-val.csv"
    for path, is_held in zip(paths, (False, True), strict=True):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(
                [header, *(row for row in rows if is_held_out(int(row[0])) == is_held)]
            )
    return paths


def is_held_out(number: int) -> bool:
    """Whether nothing is learned from a trip."""
    return number % HELD_OUT == HELD_OUT - 1


def _rows(path: Path) -> FloatArray:
    return np.array(_table(path)[1:], dtype=np.float64)


def _table(path: Path) -> list[list[str]]:
    """The rows of a compressed CSV file, the first of which names the columns."""
    if not path.is_file():
        raise BadDataset(f"{path}: no such file; --data FOLDER must hold the city's trips and streets")
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.reader(file))


def _is_passed_often(keys: IntArray, owner: IntArray) -> BoolArray:
    """[n]: at least `LEAST_TRIPS` trips have the key of a place: what one alone has may be a stray."""
    pairs = np.unique(np.stack([keys, owner]), axis=1)
    known, count = np.unique(pairs[0], return_counts=True)
    return np.asarray(count[np.searchsorted(known, keys)] >= LEAST_TRIPS)


def _links(node: IntArray, owner: IntArray, row: IntArray, ahead: int) -> tuple[IntArray, IntArray]:
    """Nodes at most `NUM_AHEAD` places after each other on one trip, by the rows [n] they had before some
    were left out: over those a straight line would be a short cut that nobody drove."""
    keep = (owner[:-ahead] == owner[ahead:]) & (node[:-ahead] != node[ahead:])
    keep &= row[ahead:] - row[:-ahead] <= NUM_AHEAD
    return node[:-ahead][keep], node[ahead:][keep]


def _pieces(way: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middles and moves of the pieces of a polyline."""
    return 0.5 * (way[1:] + way[:-1]), np.diff(way, axis=0)


def _sectors(moves: FloatArray, count: int = SECTORS) -> IntArray:
    angle = np.arctan2(moves[:, 1], moves[:, 0])
    return np.rint(angle * count / (2 * np.pi)).astype(np.int64) % count


def _before_and_after(way: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The inner places of a polyline with places `SPACING` apart, and the unit directions over `REACH` before
    and after each."""
    reach = int(REACH / SPACING)
    inner = way[reach:-reach]
    before, after = inner - way[: -2 * reach], way[2 * reach :] - inner
    return inner, _units(before), _units(after)


def _units(moves: FloatArray) -> FloatArray:
    return np.asarray(moves / (np.linalg.norm(moves, axis=1, keepdims=True) + 1e-9))


def _peaks(values: FloatArray, least: float, apart: int) -> list[int]:
    """Rows of the largest values of at least that size, any two more than `apart` rows from each other."""
    found: list[int] = []
    for row in np.argsort(-values, kind="stable"):
        if values[row] < least:
            break
        if all(abs(int(row) - other) > apart for other in found):
            found.append(int(row))
    return found
