"""The roadmap, a problem's anchors joined to it, and the ways between them: one Dijkstra for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from chronoforest.errors import InvalidParameter
from chronoforest.roadmap.chains import quickest
from chronoforest.roadmap.hops import Ground, Hops, Usual, price, survey
from chronoforest.roadmap.places import Places, spread
from chronoforest.roadmap.turns import Turns, turns
from chronoforest.types import BoolArray, FloatArray, IntArray, JointRoute, Pair, Support

NARROW_SPACING = 5.0
"""How far places are apart at least where ways are narrow, in the room that a way keeps to the edge: a curve
takes several, and a step of the recordings may be longer than it."""

ALIKE = 30.0
"""Degrees between a hop and the way that it goes, where ways are lanes."""


@dataclass(frozen=True, eq=False)
class Roadmap:
    """Places, the hops between them, and what is usual along these; has_lanes: ways over it turn no sharper
    than traffic does."""

    places: Places
    hops: Hops
    usual: Usual
    has_lanes: bool = False

    @property
    def pace(self) -> float:
        """Steps that a unit of way usually takes."""
        return self.usual.pace


def build_roadmap(support: Support, ground: Ground) -> Roadmap:
    """The roadmap of a world: no map, no recordings, the same for every problem."""
    has_lanes = ground.density.is_one_way
    least = min(ground.step_length, NARROW_SPACING * ground.edge)
    places = spread(support, ground.density, least)
    codes = ground.distance.encode(places.position)
    lines = survey(places, places, ground, (codes, codes))
    usual = Usual.along(lines, ground)
    return Roadmap(places, price(lines, usual, ground.calibration), usual, has_lanes)


@dataclass(frozen=True, eq=False)
class Way:
    """A proposed way: path [k, d] from anchor to anchor, the k − 1 hops it is made of, its steps, and those
    among them that turning round at its start costs."""

    path: FloatArray
    hops: IntArray
    steps: float
    turning: float = 0.0


@dataclass(frozen=True, eq=False)
class Joined:
    """A roadmap with anchors as further places behind its own.

    Hops keep the numbers they have in the roadmap; those of the anchors follow.
    """

    places: Places
    hops: Hops
    num_anchors: int
    turns: Turns | None = None

    @property
    def first(self) -> int:
        """Row of the first anchor among the places."""
        return len(self.places) - self.num_anchors

    def ways(self) -> Ways:
        """The cheapest ways between all anchors."""
        everywhere = np.arange(self.num_anchors)
        return Ways(self, *self.ways_from(everywhere))

    def ways_from(self, sources: IntArray) -> tuple[FloatArray, tuple[IntArray, ...]]:
        """[s, A] steps from some anchors to all; and for each of them [n] the node before each."""
        graph, leaving, reached = self.network()
        cost, before = quickest(graph, leaving[sources], reached)
        cost[np.arange(len(sources)), sources] = 0.0
        return cost, before

    def network(self) -> tuple[csr_matrix, IntArray, IntArray]:
        """What it takes from node to node, and [A] the nodes of anchors that are left and reached."""
        if self.turns is not None:
            return self.turns.graph(self.hops.steps), self.turns.leaving(), self.turns.reached()
        anchors = np.arange(self.first, len(self.places))
        return self.hops.graph(len(self.places)), anchors, anchors

    def chain(self, source: int, target: int, before: IntArray) -> IntArray:
        """Places from one anchor to another; before: [n] the node before each on ways from the first."""
        start, end = self.first + source, self.first + target
        if self.turns is not None:
            start, end = int(self.turns.leaving()[source]), int(self.turns.reached()[target])
        return self.places_between(start, end, before)

    def places_between(self, start: int, end: int, before: IntArray) -> IntArray:
        """Places on the way from one node to another; before: [n] the node before each on ways from it."""
        nodes = [end]
        while nodes[-1] != start:
            nodes.append(int(before[nodes[-1]]))
        found = np.array(nodes[::-1], dtype=np.int64)
        return found if self.turns is None else self.turns.places(found)

    def dearer(self, hops: IntArray, factor: float) -> Joined:
        """The same with some hops `factor` times as dear."""
        if not factor >= 1.0:
            raise InvalidParameter(f"factor must be 1 or more, got {factor}")
        steps = self.hops.steps.copy()
        steps[hops] *= factor
        return replace(self, hops=replace(self.hops, steps=steps))

    def hops_along(self, path: FloatArray, room: float) -> IntArray:
        """Numbers of the hops that go the way of a path [t, d]: within `room` units of it, with its heading,
        which where ways are lanes is about that of the path.

        To make only the hops of a refuted way dearer would propose the next ones beside it.
        """
        starts, ends = self.places.position[self.hops.source], self.places.position[self.hops.target]
        ticks = _densely(path, 0.5 * room)
        tangent = np.gradient(ticks, axis=0)
        gap, nearest = cKDTree(ticks).query(0.5 * (starts + ends), distance_upper_bound=room)
        rows = np.flatnonzero(np.isfinite(gap))
        moves, along = (ends - starts)[rows], tangent[nearest[rows]]
        size = np.linalg.norm(moves, axis=1) * np.linalg.norm(along, axis=1)
        least = 0.0 if self.turns is None else np.cos(np.radians(ALIKE)) * size
        return rows[(moves * along).sum(axis=1) > least]

    @cached_property
    def _numbers(self) -> tuple[IntArray, IntArray]:
        """Sorted keys of all hops and their numbers."""
        keys = self.hops.source * len(self.places) + self.hops.target
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def numbers_of(self, nodes: IntArray) -> IntArray:
        """Numbers of the hops of a chain of places [k] → [k − 1]."""
        keys, order = self._numbers
        return np.asarray(order[np.searchsorted(keys, nodes[:-1] * len(self.places) + nodes[1:])])


@dataclass(frozen=True, eq=False)
class Ways:
    """cost: [A, A] steps between anchors, infinite where no chain of hops leads; before: for each anchor [n]
    the node before each on the way there."""

    joined: Joined
    cost: FloatArray
    before: tuple[IntArray, ...]

    def renewed(self, joined: Joined, sources: IntArray) -> Ways:
        """The same with ways from some anchors over another state of the hops; the rest stays as it was."""
        rows, found = joined.ways_from(sources)
        cost, before = self.cost.copy(), list(self.before)
        cost[sources] = rows
        for source, nodes in zip(sources, found, strict=True):
            before[source] = nodes
        return Ways(joined, cost, tuple(before))

    def told(self, leg: Pair) -> float:
        """Steps of a leg."""
        return float(self.cost[leg.source, leg.target])

    def passage(self, leg: Pair) -> None:
        """Nothing: there is one way to drive a leg."""

    def settled(self, route: JointRoute) -> Ways:
        """The same: where ways are open, a leg does not depend on the one before."""
        return self

    def way(self, source: int, target: int) -> Way | None:
        """The way from one anchor to another; None where there is none."""
        if source == target or not np.isfinite(self.cost[source, target]):
            return None
        nodes = self.joined.chain(source, target, self.before[source])
        return Way(
            self.joined.places.position[nodes],
            self.joined.numbers_of(nodes),
            float(self.cost[source, target]),
        )


def join(roadmap: Roadmap, anchors: FloatArray, ground: Ground) -> Joined:
    """Anchors [A, d] joined to a roadmap, and to each other, by hops that pass the same tests."""
    return Joiner(roadmap, ground)(anchors)


class Joiner:
    """Joins anchors to one roadmap again and again: its places are encoded once, when the first come."""

    def __init__(self, roadmap: Roadmap, ground: Ground) -> None:
        self.roadmap, self.ground = roadmap, ground

    def __call__(self, anchors: FloatArray) -> Joined:
        """Anchors [A, d] joined to the roadmap, and to each other."""
        return self.each([anchors])[0]

    def each(self, groups: Sequence[FloatArray]) -> list[Joined]:
        """The anchors [A, d] of every problem joined to the roadmap and to each other, never to those of
        another problem.

        Where ways are lanes it depends on all anchors how thin recordings may be, so each group is alone.
        """
        if self.ground.density.is_one_way:
            return [joined for group in groups for joined in self._together([group])]
        return self._together(groups) if groups else []

    def _together(self, groups: Sequence[FloatArray]) -> list[Joined]:
        anchors = np.concatenate(groups)
        new = Places(anchors, _spacing_at(anchors, self.roadmap.places))
        out, into = self._hops(new, np.repeat(np.arange(len(groups)), [len(group) for group in groups]))
        ends = np.cumsum([len(group) for group in groups])
        return [
            self._own(new, out, into, int(end) - len(group), int(end))
            for group, end in zip(groups, ends, strict=True)
        ]

    def _hops(self, new: Places, owner: IntArray) -> tuple[Hops, Hops]:
        """Hops out of anchors, to places and to anchors behind them, and hops from places into anchors;
        owner: [A] the problem of each anchor."""
        count, codes = len(self.roadmap.places), self.ground.distance.encode(new.position)

        def is_own(rows: IntArray, columns: IntArray) -> BoolArray:
            return np.asarray((columns < count) | (owner[rows] == owner[np.maximum(columns - count, 0)]))

        everywhere = self.roadmap.places.with_more(new)
        all_codes = np.concatenate([self._codes, codes])
        out = survey(new, everywhere, self.ground, (codes, all_codes), is_own)
        into = survey(self.roadmap.places, new, self.ground, (self._codes, codes))
        usual, calibration = self.roadmap.usual, self.ground.calibration
        return price(out, usual, calibration), price(into, usual, calibration)

    def _own(self, new: Places, out: Hops, into: Hops, first: int, end: int) -> Joined:
        """The roadmap with the anchors first … end − 1 of all, and their hops."""
        count = len(self.roadmap.places)
        out = out.some((out.source >= first) & (out.source < end))
        into = into.some((into.target >= first) & (into.target < end))
        target = np.where(out.target < count, out.target, out.target - first)
        joined = self.roadmap.hops.with_more(
            replace(out, source=out.source - first + count, target=target),
            replace(into, target=into.target - first + count),
        )
        everywhere = self.roadmap.places.with_more(Places(new.position[first:end], new.spacing[first:end]))
        over = turns(everywhere.position, joined, end - first) if self.roadmap.has_lanes else None
        return Joined(everywhere, joined, end - first, over)

    @cached_property
    def _codes(self) -> NDArray[Any]:
        return self.ground.distance.encode(self.roadmap.places.position)


def _spacing_at(points: FloatArray, places: Places) -> FloatArray:
    """[n] the spacing around points: that of the nearest place, or what it takes to reach it."""
    if len(places) == 0:
        return np.zeros(len(points))
    gap, nearest = cKDTree(places.position).query(points)
    return np.asarray(np.maximum(places.spacing[nearest], gap))


def _densely(path: FloatArray, spacing: float) -> FloatArray:
    """The polyline [t, d] with points at most `spacing` apart, its corners among them."""
    parts = [
        np.linspace(start, end, max(2, int(np.ceil(np.linalg.norm(end - start) / spacing)) + 1))[1:]
        for start, end in pairwise(path)
    ]
    return np.concatenate([path[:1], *parts])
