"""Far distances as sums of hops: a learned distance is right nearby and knows no gaps farther off."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.roadmap.support import Ground, keeps_room
from chronoforest.types import BoolArray, FloatArray, IntArray

NUM_DOORS = 4
"""Places a point is joined to: with 3, distances just beyond trust are up to 4 % higher, with 8 1 % lower."""

AGREES = 2.0
"""What is near as learned lies in view of places that are at most this many trusted windows apart."""


class RoadmapDistance:
    """A `Distance`: as learned up to the calibration's local window, and beyond that the quickest chain of
    hops. Two places that no chain joins are farther apart than any two that one joins, the more so the
    farther they look; a place that sees no place of the roadmap is as far as learned.

    Steps are a convex function of what is learned, so far places look farther than the way there is long,
    and a distance that saturates makes the farthest look near. A sum of near ones does neither.
    """

    def __init__(self, roadmap: Roadmap, ground: Ground) -> None:
        self.roadmap = roadmap
        self.ground = ground
        self.learned = ground.distance
        self.trusted = ground.calibration.local_window
        self.reach = ground.distance.reach
        self._num_doors = min(NUM_DOORS, len(roadmap.position))

    def encode(self, points: FloatArray) -> NDArray[Any]:
        """[n, d] → [n, F + 1 + 2 · doors]: the learned code, the place nearest in view or −1, the nearest
        places, and the steps to each, infinite where no hop could lead."""
        points = np.asarray(points, dtype=np.float64)
        codes = self.learned.encode(points)
        gap, near = self._tree.query(points, k=np.arange(1, self._num_doors + 1))
        is_seen = self._sees(points, gap, near)
        steps = np.where(is_seen, self.roadmap.pace * gap, np.inf)
        home = np.where(is_seen.any(axis=1), near[np.arange(len(near)), is_seen.argmax(axis=1)], -1)
        return np.concatenate([codes, home[:, None], near, steps], axis=1, dtype=codes.dtype)

    def between(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [n, F] → [n] steps."""
        source, target = self._parts(source_codes), self._parts(target_codes)
        steps = self.learned.between(source.learned, target.learned)
        far = np.flatnonzero(self._is_far(steps, source.home, target.home))
        if len(far):
            here, there = source.near[far, :, None], target.near[far, None, :]
            across = self._chains.leaving(source.near[far])[here, there]
            chains = source.steps[far, :, None] + across + target.steps[far, None, :]
            steps[far] = self._far_steps(chains.min(axis=(1, 2)), steps[far])
        return steps

    def pairwise(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [m, F] → [n, m] steps."""
        source, target = self._parts(source_codes), self._parts(target_codes)
        steps = self.learned.pairwise(source.learned, target.learned)
        is_far = self._is_far(steps, source.home[:, None], target.home)
        rows = np.flatnonzero(is_far.any(axis=1))
        if len(rows):
            chains = self._all_chains(source.near[rows], source.steps[rows], target)
            steps[rows] = np.where(is_far[rows], self._far_steps(chains, steps[rows]), steps[rows])
        return steps

    def _all_chains(self, near: IntArray, out: FloatArray, target: _Parts) -> FloatArray:
        """[n, m] steps over the doors near, out [n, doors] and those of the targets."""
        across = self._chains.leaving(near)
        onward, chains = (np.full((len(near), k), np.inf) for k in (len(across), len(target.near)))
        for door in range(self._num_doors):
            np.minimum(onward, out[:, [door]] + across[near[:, door]], out=onward)
        for door in range(self._num_doors):
            np.minimum(chains, onward[:, target.near[:, door]] + target.steps[:, door], out=chains)
        return chains

    def _is_far(self, steps: FloatArray, home: IntArray, other: IntArray) -> BoolArray:
        """Elementwise: not near as learned, or by the roadmap not; unknown where one has no place in view."""
        is_known = (home >= 0) & (other >= 0)
        return np.asarray(is_known & ((steps > self.trusted) | ~self._is_close(home, other)))

    def _is_close(self, home: IntArray, other: IntArray) -> BoolArray:
        """Elementwise: a short chain joins two places in one direction at least; the learned one knows
        which."""
        home, other = np.maximum(home, 0), np.maximum(other, 0)
        there, back = self._chains.leaving(home)[home, other], self._chains.leaving(other)[other, home]
        return np.asarray(np.minimum(there, back) <= AGREES * self.trusted)

    def _far_steps(self, chains: FloatArray, learned: FloatArray) -> FloatArray:
        """Elementwise: the chain where there is one, otherwise beyond all of them."""
        return np.where(np.isfinite(chains), chains, self._chains.longest + learned)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.roadmap.position)

    @cached_property
    def _room(self) -> FloatArray:
        return self.ground.density.margin(self.roadmap.position)

    @cached_property
    def _chains(self) -> Chains:
        count = len(self.roadmap.position)
        return Chains(self.roadmap.pace * self.roadmap.hops.graph(count))

    def _sees(self, points: FloatArray, gap: FloatArray, near: IntArray) -> BoolArray:
        """[n, doors] whether a point sees its nearest places."""
        # What lies in the supported ball around a place is seen from there.
        is_seen = gap < self._room[near]
        rows, doors = np.nonzero(~is_seen)
        positions, density, edge = self.roadmap.position, self.ground.density, self.ground.edge
        is_seen[rows, doors] = keeps_room(points[rows], positions[near[rows, doors]], density, edge)
        return np.asarray(is_seen)

    def _parts(self, codes: NDArray[Any]) -> _Parts:
        doors = self._num_doors
        own = codes.shape[1] - 1 - 2 * doors
        near, steps = codes[:, own + 1 : own + 1 + doors], codes[:, own + 1 + doors :]
        home = codes[:, own].astype(np.int64)
        return _Parts(np.ascontiguousarray(codes[:, :own]), home, near.astype(np.int64), steps)


class _Parts(NamedTuple):
    """Codes taken apart: learned [n, F], home [n], near and the steps to each [n, doors]."""

    learned: NDArray[Any]
    home: IntArray
    near: IntArray
    steps: NDArray[Any]


class Chains:
    """Steps of the quickest chains of hops on a graph [n, n].

    A world may have many thousand places and a plan asks about few of them, so a row of the table is found
    when it is first asked for.
    """

    def __init__(self, graph: csr_matrix) -> None:
        self._graph, count = graph, graph.shape[0]
        self._steps = np.empty((count, count), dtype=np.float32)
        self._is_known = np.zeros(count, dtype=np.bool_)

    def leaving(self, sources: IntArray) -> NDArray[np.float32]:
        """[n, n] steps, infinite where no chain leads; only the rows of the sources are filled."""
        missing = np.unique(sources[~self._is_known[sources]])
        if len(missing):
            self._steps[missing] = dijkstra(self._graph, indices=missing)
            self._is_known[missing] = True
        return self._steps

    @cached_property
    def longest(self) -> float:
        """Steps that no chain exceeds: over one place of each part of the roadmap, from the farthest to it
        and on to the farthest."""
        _, part = connected_components(self._graph, directed=False)
        middle = np.unique(part, return_index=True)[1]
        out, into = (dijkstra(graph, indices=middle) for graph in (self._graph, self._graph.T.tocsr()))
        return float(sum(np.where(np.isfinite(steps), steps, 0.0).max() for steps in (out, into)))
