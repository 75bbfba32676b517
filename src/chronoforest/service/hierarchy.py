"""Shortest ways at once: states are taken out of the graph one after the other, a shortcut replacing every
two hops that led through one, so that a search only climbs (contraction hierarchies, Geisberger et al.,
2008).

States are taken out in rounds of independent ones, those first whose absence needs the fewest shortcuts, and
no shortcut is left out because another way is shorter: a round is a few operations on arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from chronoforest.types import BoolArray, FloatArray, IntArray

RUNGS = [(side, name) for side in ("up", "down") for name in ("first", "upper", "arc")]

Seeds = tuple[IntArray, FloatArray]
"""States and what it costs to be there."""


@dataclass(frozen=True, eq=False)
class Leg:
    """cost: [k] of the cheapest ways to k sets of states, infinite where there is none; hops: of each way."""

    cost: FloatArray
    hops: Callable[[int], IntArray]


@dataclass(frozen=True, eq=False)
class Ladder:
    """Arcs that lead up from each rank. first: [n + 1] of the rank's arcs; upper: [k] ranks; arc: [k]."""

    first: IntArray
    upper: IntArray
    arc: IntArray

    @classmethod
    def of(cls, lower: IntArray, upper: IntArray, arc: IntArray, count: int) -> Self:
        """Of arcs in any order, by the ranks that they join."""
        order = np.argsort(lower, kind="stable")
        return cls(np.searchsorted(lower[order], np.arange(count + 1)), upper[order], arc[order])


@dataclass(frozen=True, eq=False)
class Climb:
    """What a search upwards found, for K sets of seeds at once.

    rows: [r] ranks, upwards; begun, cost: [r, K] of the seeds and of the ways there; extent: [r, K] lengths
    of the ways, and as imaginary parts the costs of the seeds where they begin;
    lower, arc, price: [q] rows, arcs and their costs that lead to a higher row; first: [r + 1] of those that
    lead to each row.
    """

    rows: IntArray
    begun: FloatArray
    cost: FloatArray
    extent: NDArray[np.complex128]
    lower: IntArray
    arc: IntArray
    first: IntArray
    price: FloatArray

    def arcs_to(self, row: int, column: int = 0) -> list[int]:
        """Arcs of the way from a seed to a row, the last one first."""
        arcs: list[int] = []
        while True:
            into = slice(self.first[row], self.first[row + 1])
            found = self.cost[self.lower[into], column] + self.price[into]
            if not len(found) or self.begun[row, column] <= found.min():
                return arcs
            best = self.first[row] + int(np.argmin(found))
            arcs.append(int(self.arc[best]))
            row = int(self.lower[best])


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """rank: [n] of the states; round_of: [n] of the ranks; cost, length: [a] of the hops and then of the
    shortcuts; parts: [a, 2] the arcs of a shortcut; up, down: forward arcs from, and backward arcs to, each
    rank."""

    rank: IntArray
    round_of: IntArray
    cost: FloatArray
    length: FloatArray
    parts: IntArray
    up: Ladder
    down: Ladder

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it is, by name."""
        names = ("rank", "round_of", "cost", "length", "parts")
        ladders = {f"{side}_{name}": getattr(getattr(self, side), name) for side, name in RUNGS}
        return {**{name: getattr(self, name) for name in names}, **ladders}

    @classmethod
    def from_arrays(cls, values: Mapping[str, NDArray[Any]]) -> Self:
        """The inverse of `arrays`."""
        own: Any = {name: values[name] for name in ("rank", "round_of", "cost", "length", "parts")}
        first, upper, arc, *down = (values[f"{side}_{name}"] for side, name in RUNGS)
        return cls(**own, up=Ladder(first, upper, arc), down=Ladder(*down))

    def climb(self, ladder: Ladder, columns: Sequence[Seeds], is_measured: bool = True) -> Climb:
        """Search upwards from K sets of states; extents only where they are measured."""
        rows = _above(ladder, np.concatenate([self.rank[states] for states, _ in columns]))
        begun = np.full((len(rows), len(columns)), np.inf)
        for column, (states, cost) in enumerate(columns):
            begun[np.searchsorted(rows, self.rank[states]), column] = cost
        num = ladder.first[rows + 1] - ladder.first[rows]
        taken = _ranges(ladder.first[rows], num)
        upper = np.searchsorted(rows, ladder.upper[taken])
        order = np.argsort(upper, kind="stable")
        lower, arc, upper = (
            np.repeat(np.arange(len(rows)), num)[order],
            ladder.arc[taken][order],
            upper[order],
        )
        first = np.searchsorted(upper, np.arange(len(rows) + 1))
        price, metres = self.cost[arc], self.length[arc, None]
        cost = begun.copy()
        extent = np.where(np.isfinite(begun), 1j * np.where(np.isfinite(begun), begun, 0.0), np.inf)
        targets, begins = np.unique(upper, return_index=True)
        bounds = np.flatnonzero(np.diff(self.round_of[rows[targets]])) + 1
        price = price[:, None]
        for begin, end in pairwise([0, *bounds.tolist(), len(targets)]) if len(targets) else ():
            few, at = targets[begin:end], begins[begin:end] - begins[begin]
            into = slice(begins[begin], first[few[-1] + 1])
            found = cost[lower[into]] + price[into]
            best, own = np.minimum.reduceat(found, at), cost[few]
            cost[few] = np.minimum(best, own)
            if is_measured:
                is_best = found <= np.repeat(best, np.diff(np.append(at, len(found))), axis=0)
                shortest = np.minimum.reduceat(
                    np.where(is_best, extent[lower[into]] + metres[into], np.inf), at
                )
                extent[few] = np.where(best < own, shortest, extent[few])
        return Climb(rows, begun, cost, extent, lower, arc, first, price[:, 0])

    def tables(self, sources: Sequence[Seeds], targets: Sequence[Seeds]) -> tuple[FloatArray, FloatArray]:
        """[K, L] seconds and units of the cheapest way from each set of sources to each of targets, without
        what it costs to be there."""
        forth, back = self.climb(self.up, sources), self.climb(self.down, targets)
        _, here, there = np.intersect1d(forth.rows, back.rows, assume_unique=True, return_indices=True)
        onward, rest = back.cost[there], back.extent[there]
        cost = np.full((len(sources), len(targets)), np.inf)
        extent = np.full(cost.shape, np.inf, dtype=np.complex128)
        columns = np.arange(len(targets))
        for row in range(len(sources)):
            is_met = np.isfinite(forth.cost[here, row])
            if is_met.any():
                found = forth.cost[here[is_met], row, None] + onward[is_met]
                best = np.argmin(found, axis=0)
                cost[row] = found[best, columns]
                extent[row] = forth.extent[here[is_met], row][best] + rest[is_met][best, columns]
        return np.where(np.isfinite(cost), np.maximum(cost - extent.imag, 0.0), np.inf), extent.real

    def leg(self, source: Seeds, targets: Sequence[Seeds]) -> Leg:
        """The cheapest ways from a set of states to each of some sets of states."""
        forth = self.climb(self.up, [source], False)
        back = self.climb(self.down, targets, False)
        _, here, there = np.intersect1d(forth.rows, back.rows, assume_unique=True, return_indices=True)
        if not len(here):
            return Leg(np.full(len(targets), np.inf), lambda _: np.zeros(0, dtype=np.int64))
        found = forth.cost[here] + back.cost[there]
        best = np.argmin(found, axis=0)

        def hops(column: int) -> IntArray:
            row = best[column]
            return self.hops(forth.arcs_to(here[row])[::-1] + back.arcs_to(there[row], column))

        return Leg(found[best, np.arange(len(targets))], hops)

    def hops(self, arcs: Sequence[int]) -> IntArray:
        """Hops of arcs that follow each other."""
        chain = np.array(arcs, dtype=np.int64)
        while (is_shortcut := self.parts[chain, 0] >= 0).any():
            ends = np.cumsum(1 + is_shortcut)
            longer = np.repeat(chain, 1 + is_shortcut)
            longer[ends[is_shortcut] - 2] = self.parts[chain[is_shortcut], 0]
            longer[ends[is_shortcut] - 1] = self.parts[chain[is_shortcut], 1]
            chain = longer
        return chain


def contracted(count: int, hops: IntArray, cost: FloatArray, length: FloatArray) -> Hierarchy:
    """The hierarchy of `count` states and hops [m, 2] between them."""
    arcs = _Arcs(hops, cost, length)
    source, target = hops.T
    active = _cheapest(source, target, cost, np.flatnonzero(source != target))
    rank, rounds = np.full(count, -1), np.zeros(count, dtype=np.int64)
    up, down, depth, alive = [], [], np.zeros(count), np.ones(count, dtype=np.bool_)
    tie = np.random.default_rng(0).permutation(count) / (2.0 * count)
    num_ranked = number = 0
    while num_ranked < count:
        source, target = arcs.source[active], arcs.target[active]
        num_in, num_out = (np.bincount(side, minlength=count) for side in (target, source))
        burden = num_in * num_out - num_in - num_out + depth + tie
        least = np.full(count, np.inf)
        np.minimum.at(least, source, burden[target])
        np.minimum.at(least, target, burden[source])
        is_next = alive & (burden < least)
        size = int(is_next.sum())
        rank[is_next] = num_ranked + np.arange(size)
        rounds[num_ranked : num_ranked + size] = number
        alive &= ~is_next
        num_ranked, number = num_ranked + size, number + 1
        into, out = active[is_next[target]], active[is_next[source]]
        down.append(into)
        up.append(out)
        np.maximum.at(depth, arcs.source[into], depth[arcs.target[into]] + 1)
        np.maximum.at(depth, arcs.target[out], depth[arcs.source[out]] + 1)
        new = arcs.joined(into, out)
        left = np.concatenate([active[~(is_next[source] | is_next[target])], new])
        active = _cheapest(arcs.source[left], arcs.target[left], arcs.cost[left], left)
    kept, parts = arcs.needed(np.concatenate([*up, *down]))
    renamed = np.cumsum(kept) - 1
    upper, lower = renamed[np.concatenate(up)], renamed[np.concatenate(down)]
    start, end = rank[arcs.source[kept]], rank[arcs.target[kept]]
    return Hierarchy(
        rank,
        rounds,
        arcs.cost[kept],
        arcs.length[kept],
        np.where(parts < 0, -1, renamed[parts]),
        Ladder.of(start[upper], end[upper], upper, count),
        Ladder.of(end[lower], start[lower], lower, count),
    )


class _Arcs:
    """Hops and shortcuts in arrays that grow."""

    def __init__(self, hops: IntArray, cost: FloatArray, length: FloatArray) -> None:
        self.num_hops = self.size = len(hops)
        self.source, self.target, self.cost, self.length = *hops.T.copy(), cost, length
        self.parts = np.full((len(hops), 2), -1)

    def joined(self, into: IntArray, out: IntArray) -> IntArray:
        """New shortcuts for every arc into a state and every arc out of it."""
        out = out[np.argsort(self.source[out], kind="stable")]
        through = self.source[out]
        begins = np.searchsorted(through, self.target[into], "left")
        num = np.searchsorted(through, self.target[into], "right") - begins
        first, second = np.repeat(into, num), out[_ranges(begins, num)]
        is_way = self.source[first] != self.target[second]
        first, second = first[is_way], second[is_way]
        new = np.arange(self.size, self.size + len(first))
        self._reserve(self.size + len(first))
        self.source[new], self.target[new] = self.source[first], self.target[second]
        self.cost[new] = self.cost[first] + self.cost[second]
        self.length[new] = self.length[first] + self.length[second]
        self.parts[new] = np.stack([first, second], axis=1)
        self.size += len(first)
        return new

    def _reserve(self, size: int) -> None:
        if size > len(self.source):
            for name in ("source", "target", "cost", "length", "parts"):
                old = getattr(self, name)
                grown = np.empty((2 * size, *old.shape[1:]), dtype=old.dtype)
                grown[: self.size] = old[: self.size]
                setattr(self, name, grown)

    def needed(self, arcs: IntArray) -> tuple[BoolArray, IntArray]:
        """[size] whether an arc is a hop, one of these or a part of one, and the parts [a, 2] of those."""
        kept = np.arange(len(self.source)) < self.num_hops
        while len(arcs):
            kept[arcs] = True
            arcs = np.unique(self.parts[arcs])
            arcs = arcs[(arcs >= 0) & ~kept[arcs]]
        return kept, self.parts[kept]


def _above(ladder: Ladder, ranks: IntArray) -> IntArray:
    """[r] the ranks and all that arcs lead up to from them."""
    seen = set(ranks.tolist())
    stack = list(seen)
    first, upper = ladder.first, ladder.upper
    while stack:
        rank = stack.pop()
        for other in upper[first[rank] : first[rank + 1]].tolist():
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return np.array(sorted(seen), dtype=np.int64)


def _ranges(begins: IntArray, num: IntArray) -> IntArray:
    """begin, begin + 1, … of each, `num` of them."""
    skipped = np.cumsum(num) - num
    return np.arange(int(num.sum())) + np.repeat(begins - skipped, num)


def _cheapest(source: IntArray, target: IntArray, cost: FloatArray, arcs: IntArray) -> IntArray:
    """Of arcs, the cheapest one between each two states; the values are those of the arcs, or of all."""
    if len(source) != len(arcs):
        source, target, cost = source[arcs], target[arcs], cost[arcs]
    order = np.lexsort((cost, target, source))
    is_other = (np.diff(source[order]) != 0) | (np.diff(target[order]) != 0)
    return arcs[order[np.concatenate([[True], is_other])]] if len(arcs) else arcs
