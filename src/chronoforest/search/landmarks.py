"""Far distances over landmarks: a learned distance is right nearby and drifts with range."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import csgraph_from_dense, floyd_warshall

from chronoforest.types import Distance, FloatArray, Support

MOST_LANDMARKS = 400
"""The ways between so many are found in a tenth of a second."""

_CANDIDATES = 4
"""Places that could be landmarks, per spacing and along a row of the grid."""


class LandmarkDistance:
    """A `Distance`: as learned up to `trusted` steps, and beyond that the quickest chain of trusted hops over
    landmarks; as learned again where no such chain exists.

    Steps are a convex function of what is learned, so far places look farther than the way there is long,
    and a distance that saturates makes the farthest look near. A sum of near ones does neither.
    """

    def __init__(self, learned: Distance, places: FloatArray, trusted: float) -> None:
        self.learned = learned
        self.trusted = trusted
        self.reach = learned.reach
        self.codes = learned.encode(places)
        hops = csgraph_from_dense(self._hops(self.codes, self.codes), null_value=np.inf)
        self.across: FloatArray = floyd_warshall(hops)

    def encode(self, points: FloatArray) -> NDArray[Any]:
        """[n, 2] → [n, F], the learned codes."""
        return self.learned.encode(points)

    def between(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [n, F] → [n] steps."""
        steps = self.learned.between(source_codes, target_codes)
        far = np.flatnonzero(steps > self.trusted)
        chains = np.full(steps.shape, np.inf)
        if len(far):
            there = self._onward(source_codes[far])
            chains[far] = (there + self._hops(self.codes, target_codes[far]).T).min(axis=1)
        return np.where(np.isfinite(chains), chains, steps)

    def pairwise(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, F] × [m, F] → [n, m] steps."""
        steps = self.learned.pairwise(source_codes, target_codes)
        is_far = steps > self.trusted
        rows, columns = np.flatnonzero(is_far.any(axis=1)), np.flatnonzero(is_far.any(axis=0))
        chains = np.full(steps.shape, np.inf)
        if len(rows):
            there = self._onward(source_codes[rows])
            chains[np.ix_(rows, columns)] = _chained(there, self._hops(self.codes, target_codes[columns]))
        return np.where(is_far & np.isfinite(chains), chains, steps)

    def _hops(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """[n, m] steps of the hops that can be trusted, infinite for others."""
        steps = self.learned.pairwise(source_codes, target_codes)
        return np.where(steps <= self.trusted, steps, np.inf)

    def _onward(self, codes: NDArray[Any]) -> FloatArray:
        """[n, landmarks] steps to every landmark by way of the others."""
        return _chained(self._hops(codes, self.codes), self.across)


def scatter(support: Support, spacing: float) -> FloatArray:
    """[n, 2] supported places, each as far as possible from those before it, until none is farther than
    `spacing` units from all of them or there are enough."""
    step = max(1, round(spacing / _CANDIDATES / support.cell))
    places = support.origin + step * support.cell * np.argwhere(support.mask[::step, ::step])
    chosen: list[int] = []
    room = np.full(len(places), np.inf)
    while room.max(initial=0.0) > spacing and len(chosen) < MOST_LANDMARKS:
        chosen.append(int(np.argmax(room)))
        room = np.minimum(room, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return places[chosen]


def _chained(first: FloatArray, second: FloatArray) -> FloatArray:
    """[n, l] and [l, m] → [n, m]: the quickest way over any of the l, a row at a time."""
    return np.stack([(row[:, None] + second).min(axis=0) for row in first])
