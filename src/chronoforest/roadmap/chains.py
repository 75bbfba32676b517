"""The quickest chains of hops: between some nodes, and between all places as they are asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from chronoforest.roadmap.hops import Hops
from chronoforest.types import BoolArray, FloatArray, IntArray

_AT_ONCE = 512
"""Places whose neighbourhoods are found together, so that memory stays small."""

MOST_AT_ONCE = 32
"""Anchors from which one call of Dijkstra goes: it holds the steps to every node until it is done."""


def quickest(
    graph: csr_matrix, sources: IntArray, targets: IntArray
) -> tuple[FloatArray, tuple[IntArray, ...]]:
    """[s, …] steps from some nodes of a graph to others […], and for each of the former [n] the node before
    each."""
    steps, before = np.zeros((len(sources), *targets.shape)), []
    for low in range(0, len(sources), MOST_AT_ONCE):
        some = sources[low : low + MOST_AT_ONCE]
        found, nodes = dijkstra(graph, indices=some, return_predecessors=True)
        steps[low : low + len(some)] = found[:, targets]
        before += [row.copy() for row in nodes]
    return steps, tuple(before)


class Chains:
    """Steps of chains of hops between `count` places.

    A world may have many thousand places and a plan asks about few of them, so a row of the table is found
    when it is first asked for.
    """

    def __init__(self, hops: Hops, count: int) -> None:
        self.count = count
        self._graph = hops.graph(count)
        self._steps = np.empty((count, count), dtype=np.float32)
        self._is_known = np.zeros(count, dtype=np.bool_)

    def leaving(self, sources: IntArray) -> NDArray[np.float32]:
        """[n, n] steps, infinite where no chain leads; only the rows of the sources are told."""
        missing = np.unique(sources[~self._is_known[sources]])
        if len(missing):
            self._steps[missing] = dijkstra(self._graph, indices=missing)
            self._is_known[missing] = True
        return self._steps

    def close(self, steps: float) -> BoolArray:
        """[n, n]: a chain of at most so many steps joins two places, in one direction at least."""
        is_close = np.zeros((self.count, self.count), dtype=np.bool_)
        for first in range(0, self.count, _AT_ONCE):
            some = np.arange(first, min(first + _AT_ONCE, self.count))
            is_close[some] = np.isfinite(dijkstra(self._graph, indices=some, limit=steps))
        return is_close | is_close.T

    @cached_property
    def longest(self) -> float:
        """Steps that no chain exceeds: over one place of each part of the roadmap, from the farthest to it
        and on to the farthest."""
        if self.count == 0:
            return 0.0
        _, part = connected_components(self._graph, directed=False)
        middle = np.unique(part, return_index=True)[1]
        out, into = (dijkstra(graph, indices=middle) for graph in (self._graph, self._graph.T.tocsr()))
        return float(sum(np.where(np.isfinite(steps), steps, 0.0).max() for steps in (out, into)))
