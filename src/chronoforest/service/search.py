"""Fastest ways over the open hops of a network: one Dijkstra, in the part of the network where it begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import shapely
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.exports.network import LEAST, Network
from chronoforest.types import BoolArray, FloatArray, IntArray

AT_ONCE = 2_000_000
"""Places that are looked at together, so that memory stays small: sources times states."""

Seeds = tuple[IntArray, FloatArray]
"""States and what it costs to be there."""


@dataclass(frozen=True, eq=False)
class Leg:
    """cost: [k] of the cheapest ways to k sets of states, infinite where there is none; hops: of each way."""

    cost: FloatArray
    hops: Callable[[int], IntArray]


@dataclass(frozen=True, eq=False)
class Part:
    """States of a part of the network, and its open hops as a sparse matrix: ends, rows and cost."""

    states: IntArray
    ends: IntArray
    rows: IntArray
    cost: FloatArray

    def at(self, wanted: IntArray) -> IntArray:
        """Rows of wanted states, the number of states where they are not among them."""
        rows = np.minimum(np.searchsorted(self.states, wanted), len(self.states) - 1)
        return np.where(self.states[rows] == wanted, rows, len(self.states))

    def field(self, sources: Sequence[Seeds]) -> tuple[FloatArray, IntArray]:
        """[K, n] what it costs to get to each state from each of K sets of seeds, and [K, n] the row before,
        n where a way begins."""
        count = len(self.states)
        ends = self.ends[-1] + np.cumsum([len(states) for states, _ in sources])
        begin = self.at(np.concatenate([states for states, _ in sources]))
        gap = np.maximum(np.concatenate([cost for _, cost in sources]), LEAST)
        is_here = (begin < count) & np.isfinite(gap)
        values = np.append(self.cost, np.where(is_here, gap, np.inf))
        rows = np.append(self.rows, np.where(is_here, begin, 0))
        shape = (count + len(sources),) * 2
        graph = csr_matrix((values, rows, np.append(self.ends, ends)), shape=shape)
        found, before = dijkstra(graph, indices=np.arange(count, shape[0]), return_predecessors=True)
        before = before[:, :count].astype(np.int64)
        return found[:, :count], np.where((before < 0) | (before > count), count, before)


@dataclass(frozen=True, eq=False)
class Search:
    """is_open: [m] of the hops; is_closed: [n] of the states; cost: [m] what is least on the way."""

    network: Network
    is_open: BoolArray
    is_closed: BoolArray
    cost: FloatArray

    @classmethod
    def of(cls, network: Network) -> Self:
        """Over the whole network, with nothing closed."""
        nothing = np.zeros(len(network.position), dtype=np.bool_)
        return cls(network, np.ones(network.num_hops, dtype=np.bool_), nothing, network.seconds)

    @cached_property
    def _parts(self) -> dict[tuple[int, ...], Part]:
        """Parts that were asked about."""
        return {}

    def _part(self, sources: Sequence[Seeds]) -> Part:
        """The components in which searches begin."""
        network = self.network
        numbers = np.unique(network.component[np.concatenate([states for states, _ in sources])])
        key = tuple(numbers.tolist())
        if key not in self._parts:
            states = np.flatnonzero(np.isin(network.component, numbers))
            rows = np.full(len(network.position), -1)
            rows[states] = np.arange(len(states))
            hops = np.flatnonzero(self.is_open & (rows[network.source] >= 0))
            hops = hops[np.argsort(network.source[hops], kind="stable")]
            ends = np.searchsorted(network.source[hops], np.append(states, len(rows)))
            self._parts[key] = Part(states, ends, rows[network.target[hops]], self.cost[hops])
        return self._parts[key]

    def leg(self, source: Seeds, targets: Sequence[Seeds]) -> Leg:
        """The cheapest ways from a set of states to each of some sets of states."""
        part = self._part([source])
        (found,), (before,) = part.field([source])
        reached = np.append(found, np.inf)
        rows = [part.at(states) for states, _ in targets]
        best = [int(np.argmin(reached[row] + gap)) for row, (_, gap) in zip(rows, targets, strict=True)]
        where = [int(row[k]) for row, k in zip(rows, best, strict=True)]
        cost = reached[where] + [gap[k] for (_, gap), k in zip(targets, best, strict=True)]

        def hops(column: int) -> IntArray:
            chain = [where[column]]
            while before[chain[-1]] < len(part.states):
                chain.append(int(before[chain[-1]]))
            way = part.states[chain[::-1]]
            return self.network.hops_between(way[:-1], way[1:])

        return Leg(cost, hops)

    def tables(
        self, sources: Sequence[Seeds], targets: Sequence[Seeds], is_measured: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """[K, L] seconds and units, these only where they are measured, of the cheapest ways between sets of
        states, without what it costs to be there."""
        part = self._part(sources)
        rows = [(part.at(states), gap) for states, gap in targets]
        size = max(1, AT_ONCE // len(part.states))
        parts = [sources[k : k + size] for k in range(0, len(sources), size)]
        seconds, length = zip(*(self._table(part, few, rows, is_measured) for few in parts), strict=True)
        return np.concatenate(seconds), np.concatenate(length)

    def _table(
        self, part: Part, sources: Sequence[Seeds], targets: Sequence[Seeds], is_measured: bool
    ) -> tuple[FloatArray, FloatArray]:
        """The same for few sources and for targets by their rows in the part."""
        network, count = self.network, len(part.states)
        found, before = part.field(sources)
        reached = np.append(found, np.full((len(found), 1), np.inf), axis=1)
        best = [row[np.argmin(reached[:, row] + gap, axis=1)] for row, gap in targets]
        where = np.stack(best, axis=1)
        own = np.broadcast_to(np.arange(count + 1), reached.shape)
        onward = np.append(before, own[:, -1:], axis=1)
        length = np.zeros(reached.shape)
        if is_measured:
            at, to = np.nonzero(before < count)
            hops = network.hops_between(part.states[before[at, to]], part.states[to])
            length[at, to] = network.length[hops]
        # A state adds what the state before it has, which stands for twice as many hops each time.
        onward, former = np.where(onward == count, own, onward), own
        while not np.array_equal(onward, former):
            if is_measured:
                length += np.where(onward == own, 0.0, np.take_along_axis(length, onward, axis=1))
            onward, former = np.take_along_axis(onward, onward, axis=1), onward
        cost, begun = (
            np.take_along_axis(reached, rows, axis=1)
            for rows in (where, np.take_along_axis(onward, where, axis=1))
        )
        is_way = np.isfinite(cost)
        seconds = np.where(is_way, cost - np.where(is_way, begun, 0.0), np.inf)
        return seconds, np.where(is_way, np.take_along_axis(length, where, axis=1), np.inf)


def apart(states: IntArray, cost: FloatArray) -> list[Seeds]:
    """Each of some states as a set of its own."""
    return [(states[k : k + 1], cost[k : k + 1]) for k in range(len(states))]


def united(polygons: Sequence[FloatArray]) -> Any:
    """The area of polygons [p, 2], prepared to be asked about often."""
    area = shapely.union_all(shapely.make_valid(np.array([shapely.Polygon(corners) for corners in polygons])))
    shapely.prepare(area)
    return area
