"""Polylines: chords across their corners, and the cheapest of many over links or over places beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.types import BoolArray, Density, FloatArray, IntArray

_PLACES_AT_ONCE = 32_000
"""Places that are looked at together: what is known of them stays in the processor's cache."""


def lengths(moves: FloatArray) -> FloatArray:
    """[..., d] → [...]; the sum over two columns is many times quicker than over an axis of two."""
    return np.sqrt(sum(moves[..., k] * moves[..., k] for k in range(moves.shape[-1])))


@dataclass(frozen=True, eq=False)
class Links:
    """From points `rows` [c] to later ones `columns` [c] of the same path, in the order of the rows."""

    rows: IntArray
    columns: IntArray

    @property
    def is_hop(self) -> BoolArray:
        """[c]: from a point to the next."""
        return np.asarray(self.columns == self.rows + 1)


def cheapest_links(counts: Sequence[int], links: Links, cost: FloatArray) -> list[IntArray]:
    """Points of the cheapest way from the first to the last point of each path over links of cost [c]; the
    paths have `counts` points, numbered one after another."""
    ends = np.cumsum(counts)
    begins = np.searchsorted(links.rows, np.arange(ends[-1] + 1))
    graph = csr_matrix((cost, links.columns, begins), shape=(ends[-1], ends[-1]))
    _, before, _ = dijkstra(graph, indices=ends - counts, min_only=True, return_predecessors=True)
    return [_chain(before, first, end - 1) for first, end in zip(ends - counts, ends, strict=True)]


def _chain(before: IntArray, first: int, last: int) -> IntArray:
    """From the first to the last point by what comes before each."""
    chain = [last]
    while chain[-1] > first:
        chain.append(before[chain[-1]])
    return np.array(chain[::-1], dtype=np.int64)


def links_of(chains: Sequence[IntArray]) -> Links:
    """All links that chains of points run over."""
    return Links(
        np.concatenate([chain[:-1] for chain in chains]), np.concatenate([chain[1:] for chain in chains])
    )


def cheapest_chains(places: FloatArray, price: FloatArray, counts: Sequence[int]) -> list[FloatArray]:
    """Viterbi over one place per row of each path: places [n, o, d], price [n, o], `counts` rows each.

    The paths go side by side, and each stays where it ends, which costs nothing.
    """
    ends, num_rows = np.cumsum(counts), np.array(counts)
    rows = np.minimum((ends - num_rows)[:, None] + np.arange(num_rows.max()), ends[:, None] - 1)
    at, half = np.ascontiguousarray(places.transpose(2, 0, 1)[:, rows]), 0.5 * price[rows]
    total, came = np.zeros(at.shape[1::2]), []
    for row in range(1, rows.shape[1]):
        moves = at[:, :, row, :, None] - at[:, :, row - 1, None, :]
        step = np.sqrt(np.square(moves, out=moves).sum(axis=0))
        step *= half[:, row, :, None] + half[:, row - 1, None, :]
        step += total[:, None]
        came.append(step.argmin(axis=-1))
        total = np.take_along_axis(step, came[-1][..., None], axis=-1)[..., 0]
    chosen, every = [total.argmin(axis=-1)], np.arange(len(counts))
    for back in came[::-1]:
        chosen.append(back[every, chosen[-1]])
    found = places[rows, np.stack(chosen[::-1], axis=1)]
    return [path[:count] for path, count in zip(found, counts, strict=True)]


@dataclass(frozen=True, eq=False)
class Chords(Links):
    """Links that cut corners, and least [c], the margin that each must keep: −∞ for a hop from a point to the
    next, which may always be taken."""

    least: FloatArray

    def where(self, keep: BoolArray | slice) -> Chords:
        """Some of them."""
        return Chords(self.rows[keep], self.columns[keep], self.least[keep])


def chords_of(paths: Sequence[FloatArray], room: FloatArray, longest: float, edge: float) -> Chords:
    """All hops of paths [n, d] and all chords that are not too long, over the numbers of all their points; by
    the room of these, a chord leaves `edge` units or what the way it replaces does, if that is less."""
    found, first = [], 0
    for path in paths:
        hop = np.arange(len(path) - 1)
        keep = np.triu(lengths(path[:, None] - path) <= longest)
        np.fill_diagonal(keep, val=False)
        keep[hop, hop + 1] = True
        rows, columns = np.nonzero(keep)
        least = np.minimum(_least_between(room[first : first + len(path)])[rows, columns], edge) - 1e-6
        least[columns == rows + 1] = -np.inf
        found.append((rows + first, columns + first, least))
        first += len(path)
    return Chords(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _least_between(values: FloatArray) -> FloatArray:
    """[n, n]: the least of values[i..j] for i ≤ j."""
    table = np.where(np.tri(len(values), k=-1, dtype=bool), np.inf, values[None, :])
    return np.minimum.accumulate(table, axis=1)


def are_open(points: FloatArray, chords: Chords, density: Density, share: float) -> BoolArray:
    """[c]: the chords between points [n, d] may be taken by what is known at one share of their way."""
    return _along(points, chords, density, np.array([share]))[0]


def chord_costs(
    points: FloatArray,
    chords: Chords,
    density: Density,
    shares: FloatArray,
    price: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """[c]: length times the mean price of the room at shares [s] of each chord; infinite where one of these
    places forbids it."""
    cost = np.empty(len(chords.rows))
    at_once = max(1, _PLACES_AT_ONCE // len(shares))
    for first in range(0, len(cost), at_once):
        some = chords.where(slice(first, first + at_once))
        is_open, room = _along(points, some, density, shares)
        length = lengths(points[some.columns] - points[some.rows])
        cost[first : first + at_once] = np.where(is_open, length * price(room).mean(axis=1), np.inf)
    return cost


def _along(
    points: FloatArray, chords: Chords, density: Density, shares: FloatArray
) -> tuple[BoolArray, FloatArray]:
    """Whether chords keep their least margin at shares [s] of them, hops in any case; and the margin there,
    [c, s]."""
    starts = points[chords.rows]
    moves = points[chords.columns] - starts
    places = beside(starts, moves, shares)
    room = density.margin(places)
    is_open = (room.min(axis=1) if len(shares) > 1 else room[:, 0]) >= chords.least
    return np.asarray(is_open), room


def beside(points: FloatArray, moves: FloatArray, shares: FloatArray) -> FloatArray:
    """[n, s, d]: every point [n, d] moved by each share [s] of its move [n, d]. In memory one coordinate of
    all comes after the other, which makes what is asked about them several times quicker."""
    places = shares * moves.T[..., None]
    places += points.T[..., None]
    return np.moveaxis(places, 0, -1)
