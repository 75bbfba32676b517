"""A problem's anchors joined to the roadmap, and the cheapest ways between them: one Dijkstra for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, dijkstra
from scipy.spatial import cKDTree

from chronoforest.roadmap.roadmap import Doors, Roadmap, inferred
from chronoforest.types import BoolArray, Distance, FloatArray, IntArray, Pair

UNREACHABLE = 1e12
"""Steps of a leg that no chain of hops leads over, so that the rest of its route can still be passed well."""


@dataclass(frozen=True, eq=False)
class Joined:
    """A roadmap with the anchors of a problem [A, d] as further places, once to leave and once to reach, so
    that no way leads through an anchor; first: row of the first of them.

    doors: [m] the states in which anchors are left and reached: from places `leaving` to places `reaching`.
    Where a stop may be left in any state, is_free, that is the anchor itself, from which and to which hops
    lead; otherwise all states within reach of it.
    """

    roadmap: Roadmap
    anchors: FloatArray
    first: int
    doors: Doors
    leaving: IntArray
    reaching: IntArray
    is_free: bool

    @classmethod
    def of(cls, roadmap: Roadmap, anchors: FloatArray, turn_round: bool = False) -> Joined:
        """Anchors joined to a roadmap; turn_round: stops may be left in any state."""
        doors, first, rows = roadmap.doors(anchors), len(roadmap.position), np.arange(len(anchors))
        is_free = turn_round or roadmap.space.angle is None
        beside = inferred(first + doors.anchor, doors.place, doors.cost, roadmap.pace * doors.cost)
        beside = beside.with_more(
            replace(beside, source=beside.target, target=beside.source + len(anchors))
        ).where(np.full(2 * len(beside), is_free))
        twice = np.concatenate([anchors, anchors])
        joined = roadmap.with_hops(twice, np.zeros_like(twice), beside)
        if not is_free:
            return cls(joined, anchors, first, doors, doors.place, doors.place, is_free)
        free = Doors(rows, rows, np.zeros(len(rows)))
        return cls(joined, anchors, first, free, first + rows, first + rows + len(rows), is_free)

    @property
    def num_anchors(self) -> int:
        """A."""
        return len(self.anchors)

    def is_place(self, rows: IntArray) -> BoolArray:
        """[k] whether rows are of places and not of anchors."""
        return np.asarray((rows < self.first) | (rows >= self.first + 2 * self.num_anchors))

    def reached_from(self, anchor: int) -> IntArray:
        """Rows of the places to which ways lead from an anchor."""
        graph = self.roadmap.hops.graph(len(self.roadmap.position))
        return self._found(graph, self.leaving[self.doors.anchor == anchor])

    def leading_to(self, anchor: int) -> IntArray:
        """Rows of the places from which ways lead to an anchor."""
        graph = csr_matrix(self.roadmap.hops.graph(len(self.roadmap.position)).T)
        return self._found(graph, self.reaching[self.doors.anchor == anchor])

    def _found(self, graph: csr_matrix, rows: IntArray) -> IntArray:
        found = [breadth_first_order(graph, row, return_predecessors=False) for row in rows.tolist()]
        places = np.unique(np.concatenate(found)).astype(np.int64)
        return places[self.is_place(places)]


@dataclass(frozen=True, eq=False)
class Way:
    """A proposed way: path [k, d] from anchor to anchor, the hops it is made of by their numbers, its steps,
    and those among them that no hop makes, between the anchors and the places beside them; is_recorded:
    whether recordings make every hop; took: steps that recordings take on these hops, the median, what 5 %
    and 95 % of them stay below, None where no recording made any."""

    path: FloatArray
    hops: IntArray
    steps: float
    beside: float
    is_recorded: bool
    took: tuple[float, float, float] | None


@dataclass(frozen=True, eq=False)
class Ways:
    """Ways between anchors. table: [m, m] steps from door to door, what lies beside the way at both ends
    included; before: [m, n] the place before each on the way from a door; passages: doors of the legs that
    were settled."""

    joined: Joined
    table: FloatArray
    before: IntArray
    passages: Mapping[Pair, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, joined: Joined, passages: Mapping[Pair, tuple[int, int]] | None = None) -> Ways:
        """From one Dijkstra for all doors."""
        roadmap, doors = joined.roadmap, joined.doors
        graph = roadmap.hops.graph(len(roadmap.position))
        found, before = dijkstra(graph, indices=joined.leaving, return_predecessors=True)
        table = found[:, joined.reaching] + doors.cost[:, None] + doors.cost[None, :]
        return cls(joined, roadmap.pace * table, before, passages or {})

    @cached_property
    def cost(self) -> FloatArray:
        """[A, A] steps of each leg for itself, no more than settled; infinite where no hops lead."""
        doors = self.joined.doors
        cost = np.full((self.joined.num_anchors,) * 2, np.inf)
        np.minimum.at(cost, (doors.anchor[:, None], doors.anchor[None, :]), self.table)
        np.fill_diagonal(cost, 0.0)
        return cost

    def settled(self, orders: Sequence[Sequence[int]]) -> Ways:
        """The same with the legs of orders of anchors passed so that each order is cheapest, every stop being
        left in the state in which it was reached."""
        if self.joined.is_free:
            return self
        passages = dict(self.passages)
        for order in orders:
            passages |= self._passages(order)
        return replace(self, passages=passages)

    def _passages(self, order: Sequence[int]) -> dict[Pair, tuple[int, int]]:
        """Dynamic programming over the doors of an order's stops."""
        rows = [np.flatnonzero(self.joined.doors.anchor == anchor) for anchor in order]
        reached, came = np.zeros(len(rows[0])), []
        for source, target in pairwise(rows):
            total = reached[:, None] + np.minimum(self.table[np.ix_(source, target)], UNREACHABLE)
            came.append(total.argmin(axis=0))
            reached = total.min(axis=0)
        door, passages = int(reached.argmin()), {}
        for k in range(len(came) - 1, -1, -1):
            left = int(came[k][door])
            passages[Pair(order[k], order[k + 1])] = (int(rows[k][left]), int(rows[k + 1][door]))
            door = left
        return passages

    def steps_of(self, leg: Pair) -> float:
        """Steps of a leg as it was settled, or at least."""
        if leg in self.passages:
            return float(self.table[self.passages[leg]])
        return float(self.cost[leg.source, leg.target])

    def way(self, leg: Pair) -> Way | None:
        """The way of a leg as it was settled, or the best for itself; None where there is none."""
        steps, roadmap = self.steps_of(leg), self.joined.roadmap
        if leg.source == leg.target or not np.isfinite(steps):
            return None
        first, last = self.passages.get(leg) or self._best(leg)
        chain = [int(self.joined.reaching[last])]
        while chain[-1] != self.joined.leaving[first]:
            chain.append(int(self.before[first, chain[-1]]))
        places = np.array(chain[::-1], dtype=np.int64)
        places = places[self.joined.is_place(places)]
        hops = roadmap.hops.numbers(places, len(roadmap.position))
        ends = self.joined.anchors[[leg.source, leg.target]]
        inner = roadmap.position[places]
        if not roadmap.space.is_open:
            inner = _between(ends, inner, roadmap.heading[places], roadmap.params.hops.alike)
        path = np.concatenate([ends[:1], inner, ends[1:]])
        beside = steps - roadmap.pace * float(roadmap.hops.cost[hops].sum())
        is_recorded, took = False, None
        if roadmap.has_recorded_hops:
            is_recorded = bool(roadmap.hops.is_recorded[hops].all())
            time = roadmap.times.of(hops)
            took = time.steps + beside, time.low + beside, time.high + beside
        return Way(path, hops, steps, beside, is_recorded, took)

    def _best(self, leg: Pair) -> tuple[int, int]:
        """The doors of a leg for itself."""
        anchor = self.joined.doors.anchor
        rows, columns = (np.flatnonzero(anchor == end) for end in (leg.source, leg.target))
        table = self.table[np.ix_(rows, columns)]
        row, column = np.unravel_index(table.argmin(), table.shape)
        return int(rows[row]), int(columns[column])


def _between(ends: FloatArray, way: FloatArray, heading: FloatArray, alike: float) -> FloatArray:
    """Inner points of a way [n, d] over places on lanes whose ends stand for two anchors [2, d], without
    those beside an anchor that it would go back for, or for which it would leave its lane so sharply that a
    stop aside of it were a turn: by more than half of the degrees that are alike."""
    slope, least = np.tan(np.radians(0.5 * alike)), np.cos(np.radians(alike))

    def is_too_near(row: int, end: int, door: int) -> bool:
        gap, ahead = way[row] - ends[end], heading[door] * (1 - 2 * end)
        along = float(gap @ heading[row]) * (1 - 2 * end)
        if along <= 0:
            return bool(gap @ ahead <= 0 and np.linalg.norm(gap) <= np.linalg.norm(way[door] - ends[end]))
        aside = np.linalg.norm(gap - (gap @ heading[row]) * heading[row])
        return bool(along * slope < aside and heading[row] @ heading[door] >= least)

    first, last = 1, len(way) - 1
    while first < last and is_too_near(first, 0, 0):
        first += 1
    while last > first and is_too_near(last - 1, 1, len(way) - 1):
        last -= 1
    return way[first:last]


NUM_NEAR = 4
"""Places on the near side that each place on the far side is compared with."""

MOST_PAIRS = 512
"""Pairs of places, the nearest in a straight line, of which the learned distance chooses the best."""


@dataclass(frozen=True, eq=False)
class Break:
    """Where no way leads on from an anchor to another: rows of the two nearest places, one that is reached
    and one that leads on to the other anchor; extents: units that both sides get away from their anchors."""

    reached: int
    wanted: int
    extents: tuple[float, float]


def find_break(joined: Joined, source: int, target: int, distance: Distance | None) -> Break:
    """Between two anchors that no way joins; nearest by the learned distance, if there is one."""
    here, there = joined.reached_from(source), joined.leading_to(target)
    position, first = joined.roadmap.position, joined.first
    near, far = _closest(position, here, there, distance)
    extents = (
        _extent(position[here], position[first + source]),
        _extent(position[there], position[first + target]),
    )
    return Break(near, far, extents)


def _closest(
    position: FloatArray, here: IntArray, there: IntArray, distance: Distance | None
) -> tuple[int, int]:
    gap, near = cKDTree(position[here]).query(position[there], k=np.arange(1, min(NUM_NEAR, len(here)) + 1))
    order = np.argsort(gap, axis=None, kind="stable")[:MOST_PAIRS]
    rows, columns = np.unravel_index(order, gap.shape)
    sources, targets = here[near[rows, columns]], there[rows]
    best = 0
    if distance is not None:
        steps = distance.between(distance.encode(position[sources]), distance.encode(position[targets]))
        best = int(np.argmin(steps))
    return int(sources[best]), int(targets[best])


def _extent(points: FloatArray, anchor: FloatArray) -> float:
    return float(np.linalg.norm(points - anchor, axis=1).max())
