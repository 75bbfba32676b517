"""The cheapest of many polylines: over links between points, and over one of many places per row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.types import BoolArray, FloatArray, IntArray

_HOPS_AT_ONCE = 20_000
"""Hops that are priced together."""


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
    paths have so many points each, numbered one after another."""
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

    The paths go side by side, the longest first, and each stays where it ends, which costs nothing.
    """
    longest_first = np.argsort(-np.array(counts), kind="stable")
    ends, num_rows = np.cumsum(counts)[longest_first], np.array(counts)[longest_first]
    rows = np.minimum((ends - num_rows)[:, None] + np.arange(num_rows[0]), ends[:, None] - 1)
    total = np.zeros((len(counts), places.shape[1]))
    came = np.empty((num_rows[0] - 1, *total.shape), dtype=np.int64)
    came[:] = np.arange(total.shape[1])
    begins = total.shape[1] * np.arange(total.size).reshape(total.shape)
    for back, cost in zip(came, _hop_costs(places[rows], price[rows], num_rows), strict=True):
        moving = slice(len(cost))
        cost += total[moving, None]
        back[moving] = cost.argmin(axis=-1)
        # The least of each few is taken from where it was found: another search takes twice as long.
        total[moving] = cost.ravel()[begins[moving] + back[moving]]
    chosen, every = [total.argmin(axis=-1)], np.arange(len(counts))
    for back in came[::-1]:
        chosen.append(back[every, chosen[-1]])
    found = places[rows, np.stack(chosen[::-1], axis=1)][np.argsort(longest_first)]
    return [path[:count] for path, count in zip(found, counts, strict=True)]


def _hop_costs(places: FloatArray, price: FloatArray, num_rows: IntArray) -> Iterator[FloatArray]:
    """[paths, o, o] for every row and the next: what the hops to the latter's places from the former's cost,
    for those paths that have not ended, which come first; places [paths, rows, o, d], price [paths, rows, o].

    Several rows are priced at once, as many as fit the processor's cache.
    """
    at, half = np.ascontiguousarray(places.transpose(3, 1, 0, 2)), 0.5 * price.transpose(1, 0, 2)
    row, last = 0, at.shape[1] - 1
    while row < last:
        moving = slice(np.count_nonzero(num_rows > row + 1))
        end = min(last, row + max(1, _HOPS_AT_ONCE // (moving.stop * at.shape[3] ** 2)))
        here, there = slice(row, end), slice(row + 1, end + 1)
        cost = _lengths(at[:, here, moving], at[:, there, moving])
        cost *= half[there, moving, :, None] + half[here, moving, None]
        yield from cost
        row = end


def _lengths(sources: FloatArray, targets: FloatArray) -> FloatArray:
    """[d, ..., o] places of one row and of the next → [..., o, o] to the latter from the former; summed in
    place, since this is what shortening waits for."""
    moves = targets[..., None] - sources[..., None, :]
    moves *= moves
    squares = moves[0]
    for more in moves[1:]:
        squares += more
    return np.asarray(np.sqrt(squares, out=squares))
