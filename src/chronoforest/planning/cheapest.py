"""The cheapest of many polylines: over links between points, and over one of many places per row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.types import FloatArray, IntArray


def lengths(moves: FloatArray) -> FloatArray:
    """[..., d] → [...]; the sum over two columns is many times quicker than over an axis of two."""
    return np.sqrt(sum(moves[..., k] * moves[..., k] for k in range(moves.shape[-1])))


def cheapest_links(
    counts: Sequence[int], rows: IntArray, columns: IntArray, cost: FloatArray
) -> list[list[int]]:
    """Points of the cheapest way from the first to the last point of each path over links row → column; the
    paths have so many points each, numbered one after another."""
    ends = np.cumsum(counts)
    graph = csr_matrix((cost, (rows, columns)), shape=(ends[-1], ends[-1]))
    _, before, _ = dijkstra(graph, indices=ends - counts, min_only=True, return_predecessors=True)
    chains = []
    for first, end in zip(ends - counts, ends, strict=True):
        chain = [int(end) - 1]
        while chain[-1] > first:
            chain.append(int(before[chain[-1]]))
        chains.append(chain[::-1])
    return chains


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
