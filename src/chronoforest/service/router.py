"""Routes, tables and matches over a road network: anchors are joined to the states around them, and a stop is
left in a state in which it was reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from scipy.spatial import cKDTree

from chronoforest.errors import BadCheckpoint
from chronoforest.exports.network import Network
from chronoforest.files import drafted, reading
from chronoforest.service.search import Search, Seeds, apart, united
from chronoforest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Snap:
    """The states where an anchor may be left or reached, nearest first, and how far away they are: [k]."""

    states: IntArray
    gap: FloatArray


@dataclass(frozen=True, eq=False)
class Route:
    """legs: hops of each leg; states: where each stop is left or reached."""

    legs: list[IntArray]
    states: list[int]


@dataclass(frozen=True)
class RouterParams:
    """stretch: of an alternative's cost, and shared: part of it that the routes before it may have;
    deviation: units between a fix and the state where it was taken, and detour: between how far two fixes lie
    apart and the way between them, both as a matching expects them; num_candidates: states of a fix."""

    stretch: float = 1.4
    shared: float = 0.75
    deviation: float = 8.0
    detour: float = 20.0
    num_candidates: int = 8


@dataclass(frozen=True, eq=False)
class Router:
    """Answers over one network; a value, so that one that is replaced can finish what it began."""

    network: Network
    params: RouterParams = field(default_factory=RouterParams)

    def save(self, path: Path) -> None:
        """Write the network to an .npz file, whole or not at all."""
        values: dict[str, Any] = self.network.arrays()
        with drafted(path) as draft, draft.open("wb") as file:
            np.savez(file, **values)

    @classmethod
    def load(cls, path: Path) -> Router:
        """What `save` wrote."""
        with reading(path, "a road network", BadCheckpoint), np.load(path, allow_pickle=False) as stored:
            return cls(Network.from_arrays({name: stored[name] for name in stored.files}))

    @cached_property
    def search(self) -> Search:
        """Over the whole network."""
        return Search.of(self.network)

    def warmed(self) -> Router:
        """The same, with everything at hand that the first request would wait for."""
        _ = self._tree, self.network.places, self.network.length, self.network.speed
        return self

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.network.position)

    @cached_property
    def _tree_of_lines(self) -> shapely.STRtree:
        return shapely.STRtree(self.network.lines)

    def snap(
        self,
        place: FloatArray,
        radius: float = np.inf,
        bearing: tuple[float, float] | None = None,
        closure: Search | None = None,
    ) -> Snap | None:
        """States around a place [2] of the plane; None where there is none.

        radius: no farther away; bearing: degrees clockwise from north, and how far off a heading may be.
        """
        network = self.network
        near = float(self._tree.query(place)[0])
        within = network.reach if near <= network.reach else near + network.reach
        for _ in range(64):
            rows = np.array(self._tree.query_ball_point(place, min(within, radius)), dtype=np.int64)
            kept = self._kept(rows, bearing, closure)
            if len(kept):
                gap = np.linalg.norm(network.position[kept] - place, axis=1)
                order = np.argsort(gap, kind="stable")
                return Snap(kept[order], gap[order])
            if within >= radius or len(rows) == len(network.position):
                return None
            within *= 2.0
        return None

    def nearest(
        self, place: FloatArray, number: int, bearing: tuple[float, float] | None, closure: Search | None
    ) -> list[int]:
        """The nearest states to a place, at most `number` of them."""
        count = min(8 * number, len(self.network.position))
        return self._kept(self._tree.query(place, k=np.arange(1, count + 1))[1], bearing, closure)[
            :number
        ].tolist()

    def _kept(self, rows: IntArray, bearing: tuple[float, float] | None, closure: Search | None) -> IntArray:
        """Those of some states that have a bearing, degrees clockwise from north and how far off a heading
        may be, and are not closed."""
        if bearing is not None:
            own = 90.0 - np.degrees(self.network.heading[rows])
            rows = rows[np.abs((own - bearing[0] + 180.0) % 360.0 - 180.0) <= bearing[1]]
        return rows if closure is None else rows[~closure.is_closed[rows]]

    def seeds(self, snap: Snap) -> Seeds:
        """States of an anchor and the seconds to get there."""
        return snap.states, snap.gap / self.network.speed

    def table(
        self,
        sources: Sequence[Snap],
        targets: Sequence[Snap],
        closure: Search | None = None,
        is_measured: bool = True,
    ) -> tuple[FloatArray, FloatArray]:
        """[K, L] seconds and units of the fastest ways, infinite where there is none."""
        begin, end = ([self.seeds(one) for one in side] for side in (sources, targets))
        return (closure or self.search).tables(begin, end, is_measured)

    def route(
        self, stops: Sequence[Snap], closure: Search | None = None, may_turn: bool = False
    ) -> Route | None:
        """The fastest route through stops, None where recordings do not lead on.

        may_turn: whether a stop can be left in any state around it.
        """
        search = closure or self.search
        carried, legs = self.seeds(stops[0]), []
        for number, stop in enumerate(stops[1:], start=2):
            states, gap = self.seeds(stop)
            is_whole = may_turn or number == len(stops)
            leg = search.leg(carried, [(states, gap)] if is_whole else apart(states, gap))
            if not np.isfinite(leg.cost).any():
                return None
            legs.append((carried, leg))
            carried = states, (gap if is_whole else leg.cost + gap)
        column, end, hops, ends = 0, -1, [], []
        for stop, (begun, leg) in zip(stops[:0:-1], legs[::-1], strict=True):
            chain = leg.hops(column)
            if len(chain):
                begin, end = int(self.network.source[chain[0]]), int(self.network.target[chain[-1]])
            elif end < 0 or may_turn:
                begin = end = _shared(begun, self.seeds(stop))
            else:
                begin = end
            hops.append(chain)
            ends.append(end)
            if not may_turn and len(hops) < len(legs):
                before = stops[len(stops) - 1 - len(hops)].states
                column, end = int(np.flatnonzero(before == begin)[0]), begin
        return Route(hops[::-1], [begin, *ends[::-1]])

    def alternatives(
        self, start: Snap, goal: Snap, number: int, closure: Search | None = None
    ) -> list[Route]:
        """The fastest route between two anchors, and up to `number` others that share little with it: those
        that are the fastest when hops of the routes before cost `stretch` times as much."""
        network, stretch = self.network, self.params.stretch
        around = closure or Search.of(network)
        search = closure or self.search
        routes: list[Route] = []
        used = np.zeros(network.num_hops, dtype=np.bool_)
        for _ in range(1 + 3 * number):
            leg = search.leg(self.seeds(start), [self.seeds(goal)])
            if not np.isfinite(leg.cost[0]) or len(routes) > number:
                break
            hops = leg.hops(0)
            seconds, length = network.seconds[hops].sum(), network.length[hops]
            if not routes:
                least = seconds
            if not routes or (
                seconds <= stretch * least and length[used[hops]].sum() <= self.params.shared * length.sum()
            ):
                visited = np.append(network.source[hops], network.target[hops[-1:]])
                ends = visited[[0, -1]] if len(hops) else start.states[[0, 0]]
                routes.append(Route([hops], ends.tolist()))
                used[hops] = True
            cost = around.cost.copy()
            cost[hops] *= stretch
            search = around = replace(around, cost=cost)
        return routes

    def closure(self, polygons: Sequence[FloatArray]) -> Search:
        """What is left of the network without the hops that enter any of the polygons [p, 2]."""
        whole, area = Search.of(self.network), united(polygons)
        is_open = whole.is_open.copy()
        is_open[self._tree_of_lines.query(area, predicate="intersects")] = False
        return replace(whole, is_open=is_open, is_closed=shapely.contains_xy(area, *self.network.position.T))

    def match(self, fixes: FloatArray, radii: FloatArray, gaps: BoolArray) -> list[tuple[IntArray, Route]]:
        """The most likely routes through fixes [n, 2], each with the rows of the fixes on it.

        radii: [n] no state of a fix lies farther away; gaps: [n] whether a new route begins at a fix anyhow.
        """
        snaps = [self._candidates(fix, radius) for fix, radius in zip(fixes, radii, strict=True)]
        routes: list[tuple[IntArray, Route] | None] = []
        rows: list[int] = []
        steps: list[tuple[FloatArray, IntArray]] = []
        for row, (snap, gap) in enumerate(zip(snaps, gaps, strict=True)):
            if snap is None:
                continue
            off = 0.5 * (snap.gap / self.params.deviation) ** 2
            score = np.full(len(off), np.inf)
            if rows and not gap:
                score, before = self._transition(steps[-1][0], snaps[rows[-1]], snap, fixes[[rows[-1], row]])
            if not np.isfinite(score).any():
                routes.append(self._chosen(rows, steps, snaps))
                rows, steps = [], []
                score, before = np.zeros(len(off)), np.zeros(len(off), dtype=np.int64)
            rows.append(row)
            steps.append((score + off, before))
        routes.append(self._chosen(rows, steps, snaps))
        return [route for route in routes if route is not None]

    def _candidates(self, fix: FloatArray, radius: float) -> Snap | None:
        count = min(self.params.num_candidates, len(self.network.position))
        gap, rows = self._tree.query(fix, k=np.arange(1, count + 1), distance_upper_bound=radius)
        is_near = np.isfinite(gap)
        return Snap(rows[is_near], gap[is_near]) if is_near.any() else None

    def _transition(
        self, score: FloatArray, here: Snap | None, there: Snap, fixes: FloatArray
    ) -> tuple[FloatArray, IntArray]:
        """[k] least score of each state of the second of two fixes, and the state before it."""
        assert here is not None
        begin, end = (apart(one.states, np.zeros(len(one.states))) for one in (here, there))
        beeline = np.linalg.norm(fixes[1] - fixes[0])
        total = score[:, None] + np.abs(self.search.tables(begin, end)[1] - beeline) / self.params.detour
        best = np.argmin(total, axis=0)
        return total[best, np.arange(len(best))], best

    def _chosen(
        self, rows: list[int], steps: list[tuple[FloatArray, IntArray]], snaps: Sequence[Snap | None]
    ) -> tuple[IntArray, Route] | None:
        """The best states of fixes in a row, and the ways between them; None for a fix alone."""
        if len(rows) < 2:
            return None
        last, states = int(np.argmin(steps[-1][0])), []
        for row, (_, before) in zip(rows[::-1], steps[::-1], strict=True):
            snap = snaps[row]
            assert snap is not None
            states.append(int(snap.states[last]))
            last = int(before[last])
        one = apart(np.array(states[::-1]), np.zeros(len(states)))
        legs = [self.search.leg(start, [goal]).hops(0) for start, goal in pairwise(one)]
        return np.array(rows), Route(legs, states[::-1])


def _shared(one: Seeds, other: Seeds) -> int:
    """The cheapest state that is in both sets."""
    states, here, there = np.intersect1d(one[0], other[0], return_indices=True)
    return int(states[np.argmin(one[1][here] + other[1][there])])
