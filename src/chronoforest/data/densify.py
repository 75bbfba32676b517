"""Ways between rows that lie far apart: recordings together show what each of them leaves out.

Rows a minute apart show where a vehicle was and not how it got there, and lines between them cut through
blocks. But others were seen in between. So the way from a row to the next leads over the places of all
recordings such that its hops, each to the power of 1.5, add up to the least: many short ones along a street
cost less than a long one across a block, and those with the traffic less than those against it: the other
carriageway of a wide road is near. Whether that is right is asked of rows that are held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from chronoforest.data.cut import Cutting
from chronoforest.data.frames import plainly
from chronoforest.data.tracks import (
    Finding,
    Spacing,
    Tracks,
    Watch,
    are_moves,
    median_period,
    moves_across,
    resampled,
    unwatched,
)
from chronoforest.types import BoolArray, FloatArray, IntArray, path_length

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Between = Literal["followed", "straight"]


@dataclass(frozen=True)
class Densified:
    """Recordings whose ways between rows are known as well as they can be; period: seconds between the rows
    to make of them; added: what was put between rows, "" where nothing was."""

    tracks: Tracks
    period: float
    finding: Finding
    added: str = ""


def densified(
    tracks: Tracks, step: float | None, period: float, between: Between, unit: str, watch: Watch = unwatched
) -> Densified:
    """Recordings with the ways between their rows, and how many rows to make of one; step: what the user
    wants, which stays; period: what rows were to be apart; unit: of lengths."""
    spacing = Spacing.of(tracks)
    is_thinned = period > 1.5 * median_period(tracks)
    is_asked = spacing.is_coarse and between == "followed" and not is_thinned
    led = followed(tracks, spacing.move, watch) if is_asked else None
    num_parts = _num_parts(tracks, period, led) if step is None and not is_thinned else 1
    found, done = spacing.summary(unit), []
    if led is not None:
        found = spacing.summary(unit, "")
        gain = f"{plainly(led.missed)} {unit} off on average, {plainly(led.missed_by_lines)} {unit} with"
        done.append(f"led over the rows of others: held-out ones lie {gain} straight lines")
    if num_parts > 1:
        done.append(f"{num_parts} rows made of each{'' if led is not None else ', on straight lines'}")
    finding = Finding("rows", found, "; ".join(done) or ("kept" if spacing.is_coarse else ""))
    added = "; ".join([found, *done]) if done else ""
    return Densified(tracks if led is None else led.tracks, period / num_parts, finding, added)


def _num_parts(tracks: Tracks, period: float, led: Followed | None) -> int:
    """Rows to make of one: as many as show the ways of others that recordings were led over, and as make
    nine tenths of the rows lie in recordings of `most_parts` where they are too short; within bounds."""
    ends = np.cumsum(tracks.lengths)
    lengths = np.sort((tracks.time[ends - 1] - tracks.time[ends - tracks.lengths]) / period + 1)[::-1]
    lost = 100 * lengths[lengths < Cutting.shortest].sum() / lengths.sum()
    wanted, most = 1, Cutting.most_parts
    if led is not None or (lost > Cutting.much_lost and len(tracks) >= Cutting.few_recordings):
        usual = lengths[np.searchsorted(np.cumsum(lengths) / lengths.sum(), Cutting.kept_share - 1e-9)]
        wanted = int(np.ceil(most / max(1.0, usual - 1)))
    if led is not None:  # until lines between rows hardly cut corners any more, as some of the tracks show
        some = led.tracks.where(led.tracks.part % -(-len(led.tracks) // 300) == 0)
        rows = (Spacing.of(resampled(some, period / count)) for count in range(1, most))
        fine = (count for count, made in enumerate(rows, start=1) if made.cut <= 0.15 * made.move)
        wanted = max(wanted, next(fine, most))
    return max(1, min(most, int(Cutting.most_across / max(1.0, moves_across(tracks))), wanted))


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
    def of(cls, rows: FloatArray, is_last: BoolArray, move: float) -> Crowd:
        """Of rows [N, 2] and whether each is a last one; those within a twentieth of a move are one place."""
        from scipy.sparse import csr_array  # commands that import nothing start without SciPy
        from scipy.spatial import Delaunay

        cells = np.floor((rows - rows.min(axis=0)) / (move / 20.0)).astype(np.int64)
        _, node = np.unique(cells[:, 0] * (cells[:, 1].max() + 1) + cells[:, 1], return_inverse=True)
        # Directions from the row before each to the one after it; who stands still heads nowhere.
        moves = np.where(is_last[:-1, None], 0.0, np.diff(rows, axis=0))
        around = np.pad(moves, ((0, 1), (0, 0))) + np.pad(moves, ((1, 0), (0, 0)))
        headings = around / np.maximum(np.linalg.norm(around, axis=1), move)[:, None]
        places, ahead = _means(node, rows), _means(node, headings)
        corners = Delaunay(places).simplices
        pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
        hops = places[pairs[:, 1]] - places[pairs[:, 0]]
        length = np.linalg.norm(hops, axis=1)
        along = (hops * ahead[pairs].mean(axis=1)).sum(axis=1) / length
        cost = length**1.5 * (1.0 + 3.0 * np.maximum(0.0, -along))
        return cls(places, node, csr_array((cost, pairs.T), shape=(len(places),) * 2))

    def ways(
        self, firsts: IntArray, lasts: IntArray, watch: Watch = unwatched, most_cells: int = 4_000_000
    ) -> list[FloatArray]:
        """[k, 2] the places between each of some rows [h] and another one; none where the straight line is
        best, or where the way is a long detour.

        most_cells: of the table of ways from some places to all, which is made part by part.
        """
        from scipy.sparse.csgraph import dijkstra

        sources, targets = self.node[firsts], self.node[lasts]
        line = np.linalg.norm(self.places[targets] - self.places[sources], axis=1)
        found: list[FloatArray] = [np.zeros((0, 2))] * len(sources)
        left = np.argsort(line, kind="stable")[np.sort(line) > 0]
        size = max(1, most_cells // len(self.places))
        for share in (0.3, 1.0):  # nearly all are found by the first, which is quicker
            unmet: list[int] = []
            for begin in range(0, len(left), size):
                watch(begin, len(left), "ways between rows")
                hops = left[begin : begin + size]
                starts, rows = np.unique(sources[hops], return_inverse=True)
                limit = share * float(line[hops].max()) ** 1.5
                table = dijkstra(self.graph, indices=starts, limit=limit, return_predecessors=True)[1]
                for hop, before in zip(hops.tolist(), table[rows], strict=True):
                    way, place = [], before[targets[hop]]
                    if place < 0:
                        unmet.append(hop)
                    while place >= 0 and place != sources[hop]:
                        way.append(place)
                        place = before[place]
                    found[hop] = self.places[way[::-1]] if way else found[hop]
            left = np.array(unmet, dtype=np.int64)
        return found


def followed(tracks: Tracks, move: float, watch: Watch = unwatched) -> Followed | None:
    """Tracks led over the places of others, None where lines do as well; move: units from row to row."""
    rows, is_last = tracks.places, np.append(~tracks.is_step, True)
    missed_by_lines, missed = _missed(rows, is_last, move)
    if not missed < missed_by_lines:
        return None
    firsts = np.flatnonzero(~is_last)
    lines = np.stack([rows[firsts], rows[firsts + 1]], axis=1)
    ways = _sensible(lines, Crowd.of(rows, is_last, move).ways(firsts, firsts + 1, watch))
    return Followed(_led_over(tracks, firsts, ways), missed, missed_by_lines)


def _missed(rows: FloatArray, is_last: BoolArray, move: float) -> tuple[float, float]:
    """Units that held-out rows lie off straight lines and off ways over other rows, NaN where too few do."""
    hops = np.where(is_last[:-1], 0.0, np.linalg.norm(np.diff(rows, axis=0), axis=1))
    inner = np.flatnonzero(are_moves(np.minimum(hops[:-1], hops[1:]), move)) + 1
    held_out = inner[:: max(3, len(inner) // 500)]
    if len(held_out) < 20:
        return np.nan, np.nan
    is_kept = np.ones(len(rows), dtype=bool)
    is_kept[held_out] = False
    number = np.cumsum(is_kept) - 1
    lines = np.stack([rows[held_out - 1], rows[held_out + 1]], axis=1)
    crowd = Crowd.of(rows[is_kept], is_last[is_kept], move)
    ways = _sensible(lines, crowd.ways(number[held_out - 1], number[held_out + 1]))
    return _mean_gap(rows[held_out], lines), _mean_gap(rows[held_out], ways)


def _means(node: IntArray, values: FloatArray) -> FloatArray:
    """[n, 2] the mean of the values [N, 2] of each node."""
    sums = [np.bincount(node, values[:, k]) for k in range(2)]
    return np.stack(sums, axis=1) / np.bincount(node)[:, None]


def _sensible(lines: FloatArray, ways: Sequence[FloatArray]) -> list[FloatArray]:
    """[k + 2, 2] lines [h, 2, 2] with the places of ways [k, 2] in between, without those of long detours."""
    led = [np.concatenate([line[:1], way, line[1:]]) for line, way in zip(lines, ways, strict=True)]
    pairs = zip(lines, led, strict=True)
    return [way if path_length(way) <= 2.0 * path_length(line) else line for line, way in pairs]


def _led_over(tracks: Tracks, firsts: IntArray, ways: Sequence[FloatArray]) -> Tracks:
    """Tracks that lead over ways [k + 2, 2] from some rows [h] to the next ones, at an even pace."""
    counts = np.zeros(len(tracks.time), dtype=np.int64)
    counts[firsts] = [len(way) - 2 for way in ways]
    rows = np.arange(len(counts)) + np.cumsum(counts) - counts
    is_new = np.ones(len(counts) + counts.sum(), dtype=bool)
    is_new[rows] = False
    places = np.empty((len(is_new), 2))
    places[rows] = tracks.places
    places[is_new] = np.concatenate([np.zeros((0, 2)), *(way[1:-1] for way in ways)])
    hops = np.linalg.norm(np.diff(places, axis=0), axis=1) + 1e-9
    shares = hops / np.repeat(np.add.reduceat(hops, rows[:-1]), counts[:-1] + 1)
    along = np.concatenate([[0.0], np.cumsum(shares)])  # a step is 1 long, however far it goes
    along[rows] = np.arange(len(rows))
    time, *rest = (np.interp(along, along[rows], of) for of in (tracks.time, *tracks.values[:, 2:].T))
    part = np.repeat(tracks.part, counts + 1)
    return Tracks(tracks.names, part, time, np.stack([*places.T, *rest], axis=1))


def _mean_gap(places: FloatArray, ways: Sequence[FloatArray] | FloatArray) -> float:
    """Units that places [n, 2] lie off their polylines on average."""
    gaps = []
    for place, way in zip(places, ways, strict=True):
        start, move = way[:-1], np.diff(way, axis=0)
        share = ((place - start) * move).sum(axis=1) / np.maximum((move**2).sum(axis=1), 1e-12)
        nearest = start + np.clip(share, 0.0, 1.0)[:, None] * move
        gaps.append(np.linalg.norm(nearest - place, axis=1).min())
    return float(np.mean(gaps))
