"""Ways between rows that lie far apart: recordings together show what each of them leaves out.

Rows a minute apart show where a vehicle was and not how it got there, and lines between them cut through
blocks. But others were seen in between. So the way from a row to the next leads over the places of all
recordings such that its hops, each to the power of 1.5, add up to the least: many short ones along a street
cost less than a long one across a block, and those with the traffic less than those against it: the other
carriageway of a wide road is near. Whether that is right is asked of rows that are held out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import Delaunay

from chronoforest.data.cleaning import Track, Tracks
from chronoforest.data.corners import MOVING
from chronoforest.data.watching import Watch, unwatched
from chronoforest.types import BoolArray, FloatArray, IntArray, path_length

POWER = 1.5
"""Of the length of a hop, which makes its cost."""

AGAINST = 3.0
"""How many times dearer still a hop is that leads against the direction of everybody who was seen there."""

GRAIN = 20.0
"""Parts of the usual move; rows of all recordings within one of them are one place."""

LIMITS = (0.3, 1.0)
"""Of what the straight line costs, within which ways are looked for first and last: nearly all are found by
the first, which is quicker."""

LONGEST_DETOUR = 2.0
"""Times the straight line; what is longer was hardly driven."""

NUM_HELD_OUT, LEAST_HELD_OUT = 500, 20
"""Rows that ways are tried on, and how few of them tell nothing."""

MOST_CELLS = 4_000_000
"""Of the table of ways from some places to all, which is made part by part."""


@dataclass(frozen=True)
class Followed:
    """tracks: with the places between their rows; missed, missed_by_lines: units that held-out rows lie off
    such ways and off straight lines on average, the rows beside them being twice as far apart as usual."""

    tracks: Tracks
    missed: float
    missed_by_lines: float


@dataclass(frozen=True, eq=False)
class Crowd:
    """places: [n, 2] where recordings were seen; node: [N] the place of every row; graph: [n, n] sparse, what
    hops between neighbouring places cost."""

    places: FloatArray
    node: IntArray
    graph: csr_array

    @classmethod
    def of(cls, rows: FloatArray, headings: FloatArray, grain: float) -> Crowd:
        """Of rows [N, 2] and where they head [N, 2]; those in a square of an edge length are one place, amid
        them."""
        cells = np.floor((rows - rows.min(axis=0)) / grain).astype(np.int64)
        _, node = np.unique(cells[:, 0] * (cells[:, 1].max() + 1) + cells[:, 1], return_inverse=True)
        places, ahead = _means(node, rows), _means(node, headings)
        corners = Delaunay(places).simplices
        pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
        hops = places[pairs[:, 1]] - places[pairs[:, 0]]
        length = np.linalg.norm(hops, axis=1)
        along = (hops * ahead[pairs].mean(axis=1)).sum(axis=1) / length
        cost = length**POWER * (1.0 + AGAINST * np.maximum(0.0, -along))
        return cls(places, node, csr_array((cost, pairs.T), shape=(len(places),) * 2))

    def ways(self, sources: IntArray, targets: IntArray, watch: Watch = unwatched) -> list[FloatArray]:
        """[k, 2] the places between each source [h] and its target; none where the straight line is best."""
        line = np.linalg.norm(self.places[targets] - self.places[sources], axis=1)
        found: list[FloatArray] = [np.zeros((0, 2))] * len(sources)
        left = np.argsort(line, kind="stable")[np.sort(line) > 0]
        for limit in LIMITS:
            unmet: list[int] = []
            for number, hops in enumerate(parts := _parts(left, max(1, MOST_CELLS // len(self.places)))):
                watch(number, len(parts), "parts of the ways between rows")
                before = self._before(sources[hops], limit * float(line[hops].max()) ** POWER)
                for hop, row in zip(hops.tolist(), before, strict=True):
                    if row[targets[hop]] < 0:
                        unmet.append(hop)
                    else:
                        found[hop] = self.places[_traced(row, int(sources[hop]), int(targets[hop]))]
            left = np.array(unmet, dtype=np.int64)
        return found

    def _before(self, sources: IntArray, limit: float) -> Iterable[IntArray]:
        """For every source, [n] the place before each on the way to it, negative where it costs too much."""
        starts, rows = np.unique(sources, return_inverse=True)
        table = dijkstra(self.graph, indices=starts, limit=limit, return_predecessors=True)[1]
        return (table[row] for row in rows)


def followed(tracks: Tracks, move: float, watch: Watch = unwatched) -> Followed | None:
    """Tracks that lead over the places of others between their rows, or None where that is no better than
    straight lines; move: units from row to row."""
    rows = np.concatenate([track.values[:, :2] for track in tracks])
    is_last = np.zeros(len(rows), dtype=bool)
    is_last[np.cumsum([len(track) for track in tracks]) - 1] = True
    missed_by_lines, missed = _missed(rows, is_last, move)
    if not missed < missed_by_lines:
        return None
    crowd = Crowd.of(rows, _headings(rows, is_last, move), move / GRAIN)
    firsts = np.flatnonzero(~is_last)
    ways = crowd.ways(crowd.node[firsts], crowd.node[firsts + 1], watch)
    between = [_sensible(rows[row : row + 2], way) for row, way in zip(firsts, ways, strict=True)]
    ends = np.cumsum([len(track) - 1 for track in tracks])[:-1]
    parts = (between[first:last] for first, last in zip([0, *ends], [*ends, len(between)], strict=True))
    led = [_led_over(track, part) for track, part in zip(tracks, parts, strict=True)]
    return Followed(led, missed, missed_by_lines)


def _missed(rows: FloatArray, is_last: BoolArray, move: float) -> tuple[float, float]:
    """Units that held-out rows lie off the line between the rows beside them on average, and off the way over
    other rows; not numbers where too few can be held out."""
    hops = np.where(is_last[:-1], 0.0, np.linalg.norm(np.diff(rows, axis=0), axis=1))
    inner = np.flatnonzero(np.minimum(hops[:-1], hops[1:]) > MOVING * move) + 1
    held_out = inner[:: max(3, len(inner) // NUM_HELD_OUT)]
    if len(held_out) < LEAST_HELD_OUT:
        return np.nan, np.nan
    is_kept = np.ones(len(rows), dtype=bool)
    is_kept[held_out] = False
    headings = _headings(rows[is_kept], is_last[is_kept], move)
    crowd, number = Crowd.of(rows[is_kept], headings, move / GRAIN), np.cumsum(is_kept) - 1
    ways = crowd.ways(crowd.node[number[held_out - 1]], crowd.node[number[held_out + 1]])
    lines = [rows[[row - 1, row + 1]] for row in held_out]
    led = [_through(line, _sensible(line, way)) for line, way in zip(lines, ways, strict=True)]
    return _mean_gap(rows[held_out], lines), _mean_gap(rows[held_out], led)


def _headings(rows: FloatArray, is_last: BoolArray, move: float) -> FloatArray:
    """[N, 2] the direction from the row before each row [N, 2] to the one after it, of length 1, and less
    where these lie nearer together than a usual move: who stands still heads nowhere."""
    moves = np.where(is_last[:-1, None], 0.0, np.diff(rows, axis=0))
    around = np.pad(moves, ((0, 1), (0, 0))) + np.pad(moves, ((1, 0), (0, 0)))
    return np.asarray(around / np.maximum(np.linalg.norm(around, axis=1), move)[:, None])


def _means(node: IntArray, values: FloatArray) -> FloatArray:
    """[n, 2] the mean of the values [N, 2] of each node."""
    sums = [np.bincount(node, values[:, k]) for k in range(2)]
    return np.stack(sums, axis=1) / np.bincount(node)[:, None]


def _sensible(line: FloatArray, way: FloatArray) -> FloatArray:
    """A way [k, 2] between the ends of a line [2, 2], or none where it is a long detour."""
    is_short = path_length(_through(line, way)) <= LONGEST_DETOUR * path_length(line)
    return way if is_short else way[:0]


def _led_over(track: Track, between: Sequence[FloatArray]) -> Track:
    """A track with places [k, 2] between each row and the next, reached at an even pace."""
    counts = np.array([*(len(way) for way in between), 0])
    rows = np.arange(len(track)) + np.cumsum(counts) - counts
    places = np.empty((len(track) + counts.sum(), 2))
    places[rows] = track.values[:, :2]
    is_new = np.ones(len(places), dtype=bool)
    is_new[rows] = False
    places[is_new] = np.concatenate([*between, np.zeros((0, 2))])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1) + 1e-9)])
    time = np.interp(along, along[rows], track.time)
    rest = [np.interp(time, track.time, column) for column in track.values[:, 2:].T]
    return Track(track.recording, time, np.stack([*places.T, *rest], axis=1))


def _through(line: FloatArray, way: FloatArray) -> FloatArray:
    """[k + 2, 2] a way with the ends of the line that it leads between."""
    return np.concatenate([line[:1], way, line[1:]])


def _mean_gap(places: FloatArray, ways: Sequence[FloatArray]) -> float:
    """Units that places [n, 2] lie off their ways on average."""
    return float(np.mean([_apart(place, way) for place, way in zip(places, ways, strict=True)]))


def _apart(place: FloatArray, way: FloatArray) -> float:
    """Units from a place [2] to a polyline [n, 2]."""
    start, move = way[:-1], np.diff(way, axis=0)
    share = ((place - start) * move).sum(axis=1) / np.maximum((move**2).sum(axis=1), 1e-12)
    nearest = start + np.clip(share, 0.0, 1.0)[:, None] * move
    return float(np.linalg.norm(nearest - place, axis=1).min())


def _traced(before: IntArray, source: int, target: int) -> list[int]:
    """The places between two, from those that lie before each other."""
    way, place = [], int(before[target])
    while place != source:
        way.append(place)
        place = int(before[place])
    return way[::-1]


def _parts(rows: IntArray, size: int) -> list[IntArray]:
    return [rows[first : first + size] for first in range(0, len(rows), size)]
