"""The cheapest of many polylines: over links between points, and over one of many places per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.types import BoolArray, FloatArray, IntArray


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

    The paths go side by side, [rows, d, paths, o]; the shorter ones stay at their end, which costs nothing.
    """
    first = np.cumsum(counts) - counts
    rows = first[:, None] + np.minimum(np.arange(max(counts)), np.array(counts)[:, None] - 1)
    at, half = np.ascontiguousarray(places[rows].transpose(1, 3, 0, 2)), 0.5 * price[rows].transpose(1, 0, 2)
    total = np.zeros(at.shape[2:])
    came = np.zeros((len(at) - 1, *total.shape), dtype=np.int64)
    begins = places.shape[1] * np.arange(total.size).reshape(total.shape)
    for row in range(len(came)):
        cost = _hops(at[row], at[row + 1])
        cost *= half[row + 1][..., None] + half[row][:, None]
        cost += total[:, None]
        came[row] = cost.argmin(axis=-1)
        # The least of each few is taken from where it was found: another search takes twice as long.
        total = cost.ravel()[begins + came[row]]
    chosen, every = [total.argmin(axis=-1)], np.arange(len(counts))
    for back in came[::-1]:
        chosen.append(back[every, chosen[-1]])
    found = places[rows, np.stack(chosen[::-1], axis=1)]
    return [path[:count] for path, count in zip(found, counts, strict=True)]


def _hops(sources: FloatArray, targets: FloatArray) -> FloatArray:
    """[d, paths, o] places of one row and of the next → [paths, o, o] lengths to the latter from the former;
    summed in place, since this is what shortening waits for."""
    moves = targets[..., None] - sources[..., None, :]
    moves *= moves
    squares = moves[0]
    for more in moves[1:]:
        squares += more
    return np.asarray(np.sqrt(squares, out=squares))
