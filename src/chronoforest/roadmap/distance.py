"""Far distances as sums of hops: a learned distance is right nearby and knows no gaps farther off."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from chronoforest.roadmap.chains import Chains
from chronoforest.roadmap.hops import Ground
from chronoforest.roadmap.lines import goes_with_traffic, keeps_room
from chronoforest.roadmap.ways import Roadmap
from chronoforest.types import BoolArray, FloatArray, IntArray

NUM_DOORS = 4
"""Places a point is joined to: with 3, distances just beyond trust are up to 4 % higher, with 8 1 % lower."""

AGREES = 2.0
"""What is near as learned lies in view of places that are so many trusted windows apart at most."""


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
        self._num_doors = min(NUM_DOORS, len(roadmap.places))

    def encode(self, points: FloatArray) -> NDArray[Any]:
        """[n, d] → [n, F + 1 + 3 · doors]: the learned code, the place nearest in view or −1, the nearest
        places, and the steps to and from each, infinite where no hop could lead."""
        points = np.asarray(points, dtype=np.float64)
        codes = self.learned.encode(points)
        gap, near = self._tree.query(points, k=np.arange(1, self._num_doors + 1))
        is_seen, leaves, arrives = self._views(points, gap, near)
        steps = self.roadmap.pace * gap
        home = np.where(is_seen.any(axis=1), near[np.arange(len(near)), is_seen.argmax(axis=1)], -1)
        out, into = np.where(leaves, steps, np.inf), np.where(arrives, steps, np.inf)
        return np.concatenate([codes, home[:, None], near, out, into], axis=1, dtype=codes.dtype)

    def between(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [n, F] → [n] steps."""
        source, target = self._parts(source_codes), self._parts(target_codes)
        steps = self.learned.between(source.learned, target.learned)
        far = np.flatnonzero(self._is_far(steps, source.home, target.home))
        if len(far):
            here, there = source.near[far, :, None], target.near[far, None, :]
            across = self._chains.leaving(source.near[far])[here, there]
            chains = source.out[far, :, None] + across + target.into[far, None, :]
            steps[far] = self._told(chains.min(axis=(1, 2)), steps[far])
        return steps

    def pairwise(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [m, F] → [n, m] steps."""
        source, target = self._parts(source_codes), self._parts(target_codes)
        steps = self.learned.pairwise(source.learned, target.learned)
        is_far = self._is_far(steps, source.home[:, None], target.home)
        rows = np.flatnonzero(is_far.any(axis=1))
        if len(rows):
            chains = self._all_chains(source.near[rows], source.out[rows], target)
            steps[rows] = np.where(is_far[rows], self._told(chains, steps[rows]), steps[rows])
        return steps

    def _all_chains(self, near: IntArray, out: FloatArray, target: _Parts) -> FloatArray:
        """[n, m] steps over the doors near, out [n, doors] and those of the targets."""
        across = self._chains.leaving(near)
        onward, chains = (np.full((len(near), k), np.inf) for k in (len(across), len(target.near)))
        for door in range(self._num_doors):
            np.minimum(onward, out[:, [door]] + across[near[:, door]], out=onward)
        for door in range(self._num_doors):
            np.minimum(chains, onward[:, target.near[:, door]] + target.into[:, door], out=chains)
        return chains

    def _is_far(self, steps: FloatArray, home: IntArray, other: IntArray) -> BoolArray:
        """Elementwise: not near as learned, or by the roadmap not; unknown where one has no place in view."""
        is_known = (home >= 0) & (other >= 0)
        return np.asarray(is_known & ((steps > self.trusted) | ~self._is_close[home, other]))

    def _told(self, chains: FloatArray, learned: FloatArray) -> FloatArray:
        """Elementwise: the chain where there is one, otherwise beyond all of them."""
        return np.where(np.isfinite(chains), chains, self._chains.longest + learned)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.roadmap.places.position)

    @cached_property
    def _room(self) -> FloatArray:
        return self.ground.density.margin(self.roadmap.places.position)

    @cached_property
    def _chains(self) -> Chains:
        return Chains(self.roadmap.hops.driven(), len(self.roadmap.places))

    @cached_property
    def _is_close(self) -> BoolArray:
        """[n, n]: a short chain joins two places in one direction at least: which, the learned one tells."""
        return self._chains.close(AGREES * self.trusted)

    def _views(self, points: FloatArray, gap: FloatArray, near: IntArray) -> tuple[BoolArray, ...]:
        """[n, doors] whether a point sees its nearest places, can go there, and be reached from there."""
        # What lies in the supported ball around a place is seen from there.
        is_seen = gap < self._room[near]
        rows, doors = np.nonzero(~is_seen)
        positions, density, edge = self.roadmap.places.position, self.ground.density, self.ground.edge
        is_seen[rows, doors] = keeps_room(points[rows], positions[near[rows, doors]], density, edge)
        leaves, arrives = is_seen.copy(), is_seen.copy()
        rows, doors = np.nonzero(is_seen)
        starts, ends = points[rows], positions[near[rows, doors]]
        least = 0.5 * self.ground.step_length
        leaves[rows, doors] = goes_with_traffic(starts, ends, density, 2 * edge, least)
        arrives[rows, doors] = goes_with_traffic(ends, starts, density, 2 * edge, least)
        return is_seen, leaves, arrives

    def _parts(self, codes: NDArray[Any]) -> _Parts:
        doors = self._num_doors
        own = codes.shape[1] - 1 - 3 * doors
        near, out, into = (codes[:, own + 1 + k * doors :][:, :doors] for k in range(3))
        home = codes[:, own].astype(np.int64)
        return _Parts(np.ascontiguousarray(codes[:, :own]), home, near.astype(np.int64), out, into)


class _Parts(NamedTuple):
    """Codes taken apart: learned [n, F], home [n], near, out, into [n, doors]."""

    learned: NDArray[Any]
    home: IntArray
    near: IntArray
    out: NDArray[Any]
    into: NDArray[Any]
