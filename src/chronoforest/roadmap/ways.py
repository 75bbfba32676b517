"""The roadmap, a problem's anchors joined to it, and the ways between them: one Dijkstra for all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from chronoforest.errors import InvalidParameter
from chronoforest.roadmap.hops import Ground, Hops, Usual, price, survey
from chronoforest.roadmap.places import Places, spread
from chronoforest.roadmap.turns import Turns, turns
from chronoforest.types import FloatArray, IntArray, Support

LANE_SPACING = 5.0
"""How far places are apart at least where ways are lanes, in the room that a way keeps to the edge: a curve
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
    least = min(ground.step_length, LANE_SPACING * ground.edge) if has_lanes else ground.step_length
    places = spread(support, ground.density, least)
    lines = survey(places, places, ground)
    usual = Usual.along(lines, ground)
    return Roadmap(places, price(lines, usual, ground.calibration), usual, has_lanes)


@dataclass(frozen=True, eq=False)
class Way:
    """A proposed way: path [k, d] from anchor to anchor, the k − 1 hops it is made of, and its steps."""

    path: FloatArray
    hops: IntArray
    steps: float


@dataclass(frozen=True, eq=False)
class Joined:
    """A roadmap with anchors as further places behind its own.

    Hops keep the numbers they have in the roadmap; those of the anchors follow.
    """

    places: Places
    hops: Hops
    num_anchors: int
    turns: Turns | None = None

    def ways(self) -> Ways:
        """The cheapest ways between all anchors."""
        first = len(self.places) - self.num_anchors
        leaving = reached = np.arange(first, len(self.places))
        graph = _graph(self.hops, len(self.places))
        if self.turns is not None:
            leaving, reached = self.turns.leaving(), self.turns.reached()
            graph = self.turns.graph(self.hops.steps)
        steps, before = dijkstra(graph, indices=leaving, return_predecessors=True)
        cost = steps[:, reached]
        np.fill_diagonal(cost, 0.0)
        return Ways(self, cost, before)

    def chain(self, source: int, target: int, before: IntArray) -> IntArray:
        """Places from one anchor to another; before: [A, n] the node before each, as Dijkstra tells it."""
        first = len(self.places) - self.num_anchors
        start, end = first + source, first + target
        if self.turns is not None:
            start, end = int(self.turns.leaving()[source]), int(self.turns.reached()[target])
        nodes = [end]
        while nodes[-1] != start:
            nodes.append(int(before[source, nodes[-1]]))
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
    """cost: [A, A] steps between anchors, infinite where no chain of hops leads; before: [A, n] the node
    before each on the way there."""

    joined: Joined
    cost: FloatArray
    before: IntArray

    def way(self, source: int, target: int) -> Way | None:
        """The way from one anchor to another; None where there is none."""
        if source == target or not np.isfinite(self.cost[source, target]):
            return None
        nodes = self.joined.chain(source, target, self.before)
        return Way(
            self.joined.places.position[nodes],
            self.joined.numbers_of(nodes),
            float(self.cost[source, target]),
        )


def join(roadmap: Roadmap, anchors: FloatArray, ground: Ground) -> Joined:
    """Anchors [A, d] joined to a roadmap, and to each other, by hops that pass the same tests."""
    count = len(roadmap.places)
    new = Places(anchors, _spacing_at(anchors, roadmap.places))
    everywhere = roadmap.places.with_more(new)
    out = _priced(new, everywhere, roadmap, ground)
    into = _priced(roadmap.places, new, roadmap, ground)
    hops = Hops(
        np.concatenate([roadmap.hops.source, out.source + count, into.source]),
        np.concatenate([roadmap.hops.target, out.target, into.target + count]),
        np.concatenate([roadmap.hops.steps, out.steps, into.steps]),
        np.concatenate([roadmap.hops.is_driven, out.is_driven, into.is_driven]),
    )
    over = turns(everywhere.position, hops, len(anchors)) if roadmap.has_lanes else None
    return Joined(everywhere, hops, len(anchors), over)


def _priced(sources: Places, targets: Places, roadmap: Roadmap, ground: Ground) -> Hops:
    return price(survey(sources, targets, ground), roadmap.usual, ground.calibration)


def _spacing_at(points: FloatArray, places: Places) -> FloatArray:
    """[n] the spacing around points: that of the nearest place, or what it takes to reach it."""
    if len(places) == 0:
        return np.zeros(len(points))
    gap, nearest = cKDTree(places.position).query(points)
    return np.asarray(np.maximum(places.spacing[nearest], gap))


def _graph(hops: Hops, count: int) -> csr_matrix:
    return csr_matrix((hops.steps, (hops.source, hops.target)), shape=(count, count))


def _densely(path: FloatArray, spacing: float) -> FloatArray:
    """The polyline [t, d] with points at most `spacing` apart, its corners among them."""
    parts = [
        np.linspace(start, end, max(2, int(np.ceil(np.linalg.norm(end - start) / spacing)) + 1))[1:]
        for start, end in pairwise(path)
    ]
    return np.concatenate([path[:1], *parts])
