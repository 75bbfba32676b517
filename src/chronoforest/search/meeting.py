"""Do two trees touch? New frames are tested against all frames of the counterpart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.search.tree import Tree
from chronoforest.types import FloatArray, IntArray, Meeting, Pair


@dataclass(frozen=True)
class Frames:
    """Some frame rows of a tree."""

    tree: Tree
    rows: IntArray

    @property
    def state(self) -> FloatArray:
        """[n, 2] places."""
        return self.tree.frame_state[self.rows]


def meet(pair: Pair, source: Frames, target: Frames, radius: float, step_length: float) -> Meeting | None:
    """The cheapest g(u) + d(u, v) + g(v) among frames within `radius` steps of each other, if any.

    Nobody covers more than `step_length` units in a step, so frames farther apart than radius · step_length
    need no look.
    """
    near = _close_pairs(source.state, target.state, radius * step_length)
    if len(near) == 0:
        return None
    u, v = source.rows[near[:, 0]], target.rows[near[:, 1]]
    out, into = source.tree, target.tree
    gap = out.distance.between(out.frame_codes[u], into.frame_codes[v])
    cost = np.where(gap <= radius, out.frame_cost[u] + gap + into.frame_cost[v], np.inf)
    best = int(np.argmin(cost))
    if not np.isfinite(cost[best]):
        return None
    return Meeting(pair, float(cost[best]), float(gap[best]), int(u[best]), int(v[best]))


def _close_pairs(source: FloatArray, target: FloatArray, reach: float) -> IntArray:
    """[n, 2] rows of source and target within `reach` world units."""
    found = cKDTree(source).query_ball_tree(cKDTree(target), reach)
    pairs = [(row, other) for row, others in enumerate(found) for other in others]
    return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
