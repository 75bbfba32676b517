"""Far distances as sums of hops: a learned distance is right nearby and knows no gaps farther off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from chronoforest.roadmap.hops import Ground
from chronoforest.roadmap.lines import goes_with_traffic, keeps_room
from chronoforest.roadmap.ways import Roadmap
from chronoforest.types import FloatArray

_DOORS = 8
"""Places a point is joined to: with 3, some costs just beyond trust are 29 % too high, with 8, 8 %."""

_AGREES = 2.0
"""What is near as learned is so many times that far over the roadmap at most."""


class RoadmapDistance:
    """A `Distance`: as learned within the calibration's local window, and beyond it over the roadmap;
    `unconnected` where no chain of hops leads there, however near the two look.

    A code is the learned one and then the point's doors: the places nearest to it, with the steps to each and
    from each. Points that have no door are as far as they were learned to be.
    """

    def __init__(self, roadmap: Roadmap, ground: Ground, unconnected: float = np.inf) -> None:
        self.roadmap = roadmap
        self.ground = ground
        self.trusted = ground.calibration.local_window
        self.unconnected = unconnected
        self.reach = ground.distance.reach
        self._num_doors = min(_DOORS, len(roadmap.places))
        self._tree = cKDTree(roadmap.places.position)

    def encode(self, points: FloatArray) -> NDArray[Any]:
        """[n, d] → [n, F + 3 · doors]."""
        points = np.asarray(points, dtype=np.float64)
        codes = self.ground.distance.encode(points)
        if self._num_doors == 0:
            return codes
        gap, near = self._tree.query(points, k=np.arange(1, self._num_doors + 1))
        steps = self.roadmap.pace * gap
        leaves, arrives = self._open_doors(points, near)
        out, into = np.where(leaves, steps, np.inf), np.where(arrives, steps, np.inf)
        return np.concatenate([codes, near, out, into], axis=1, dtype=codes.dtype)

    def between(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [n, F] → [n] steps."""
        learned = self.ground.distance.between(self._learned(source_codes), self._learned(target_codes))
        chains = np.full(learned.shape, np.inf)
        here, out = self._doors(source_codes, 1)
        there, into = self._doors(target_codes, 2)
        for k in range(self._num_doors):
            for m in range(self._num_doors):
                chain = out[:, k] + self.roadmap.across[here[:, k], there[:, m]] + into[:, m]
                chains = np.minimum(chains, chain)
        is_known = _has_door(out) & _has_door(into)
        return self._chosen(learned, chains, is_known)

    def pairwise(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [m, F] → [n, m] steps."""
        learned = self.ground.distance.pairwise(self._learned(source_codes), self._learned(target_codes))
        here, out = self._doors(source_codes, 1)
        there, into = self._doors(target_codes, 2)
        onward = np.full((len(out), len(self.roadmap.places)), np.inf)
        for k in range(self._num_doors):
            onward = np.minimum(onward, out[:, k, None] + self.roadmap.across[here[:, k]])
        chains = np.full(learned.shape, np.inf)
        for m in range(self._num_doors):
            chains = np.minimum(chains, onward[:, there[:, m]] + into[:, m])
        is_known = _has_door(out)[:, None] & _has_door(into)
        return self._chosen(learned, chains, is_known)

    def _chosen(self, learned: FloatArray, chains: FloatArray, is_known: NDArray[np.bool_]) -> FloatArray:
        """Elementwise: learned where it can be trusted and the roadmap agrees that it is near, or where
        nothing else is known; across a wall or a portal it does not."""
        far = np.where(np.isfinite(chains), chains, self.unconnected)
        is_near = (learned <= self.trusted) & (chains <= _AGREES * self.trusted)
        return np.where(is_near | ~is_known, learned, far)

    def _open_doors(
        self, points: FloatArray, near: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """[n, doors] whether a point can go to its nearest places, and be reached from them."""
        places = self.roadmap.places.position[near.ravel()]
        starts, density = np.repeat(points, near.shape[1], axis=0), self.ground.density
        has_room = keeps_room(starts, places, density, self.ground.edge)
        leaves = has_room & goes_with_traffic(starts, places, density, 2 * self.ground.edge)
        arrives = has_room & goes_with_traffic(places, starts, density, 2 * self.ground.edge)
        return leaves.reshape(near.shape), arrives.reshape(near.shape)

    def _learned(self, codes: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(codes[:, : codes.shape[1] - 3 * self._num_doors])

    def _doors(self, codes: NDArray[Any], part: int) -> tuple[NDArray[np.int64], FloatArray]:
        """[n, doors] places and steps of the doors that leave (part 1) or arrive (part 2)."""
        parts = codes[:, codes.shape[1] - 3 * self._num_doors :].reshape(len(codes), 3, self._num_doors)
        return parts[:, 0].astype(np.int64), parts[:, part].astype(np.float64)


def _has_door(steps: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(steps).any(axis=1))
