"""Do trees touch? New frames are tested against all frames of all counterparts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from chronoforest.search.tree import Forest, Tree, outward_each
from chronoforest.types import FloatArray, IntArray, Meeting, Pair


@dataclass(frozen=True, eq=False)
class Frames:
    """Some frame rows of a tree."""

    tree: Tree
    rows: IntArray


def meetings(forest: Forest, fresh: Sequence[Frames], radius: float, step_length: float) -> list[Meeting]:
    """For every pair that trees with fresh frames could close: the cheapest g(u) + d(u, v) + g(v) among
    frames within `radius` steps of each other, if there are any.

    Nobody covers more than `step_length` units in a step, so frames farther apart than radius · step_length
    need no look.
    """
    if not fresh:
        return []
    pairs, number = _numbered(forest, fresh)
    near = _gathered(fresh)
    far = _gathered([Frames(tree, np.arange(len(tree.frame_node))) for tree in forest.trees])
    u, v = _close_pairs(near.state, far.state, radius * step_length)
    pair = number[near.owner[u], far.owner[v]]
    u, v, pair = u[pair >= 0], v[pair >= 0], pair[pair >= 0]
    is_arriving = np.array([frames.tree is not forest.outgoing.get(frames.tree.anchor) for frames in fresh])
    is_back = is_arriving[near.owner[u]]
    gap = outward_each(fresh[0].tree.distance, is_back, near.codes[u], far.codes[v])
    cost = np.where(gap <= radius, near.cost[u] + gap + far.cost[v], np.inf)
    order = np.lexsort((cost, pair))
    cheapest = order[np.unique(pair[order], return_index=True)[1]]
    found = []
    for k in cheapest[np.isfinite(cost[cheapest])]:
        ends = int(near.row[u[k]]), int(far.row[v[k]])
        travelled = ends[::-1] if is_back[k] else ends
        found.append(Meeting(pairs[pair[k]], float(cost[k]), float(gap[k]), *travelled))
    return found


@dataclass(frozen=True, eq=False)
class _Gathered:
    """Frames of several trees: owner [n] which of them, row [n] in its tree; the rest as there."""

    owner: IntArray
    row: IntArray
    state: FloatArray
    cost: FloatArray
    codes: NDArray[Any]


def _gathered(parts: Sequence[Frames]) -> _Gathered:
    return _Gathered(
        np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.tree.frame_state[part.rows] for part in parts]),
        np.concatenate([part.tree.frame_cost[part.rows] for part in parts]),
        np.concatenate([part.tree.frame_codes[part.rows] for part in parts]),
    )


def _numbered(forest: Forest, fresh: Sequence[Frames]) -> tuple[list[Pair], IntArray]:
    """The pairs that fresh frames could close, and the number of each by fresh frames and by the forest's
    trees, −1 where there is none."""
    position = {id(tree): k for k, tree in enumerate(forest.trees)}
    pairs: list[Pair] = []
    number = np.full((len(fresh), len(position)), -1)
    for row, frames in enumerate(fresh):
        for pair, partner in forest.partners(frames.tree):
            number[row, position[id(partner)]] = len(pairs)
            pairs.append(pair)
    return pairs, number


def _close_pairs(source: FloatArray, target: FloatArray, reach: float) -> tuple[IntArray, IntArray]:
    """Rows of source and target within `reach` world units, in order."""
    found = cKDTree(source).sparse_distance_matrix(cKDTree(target), reach, output_type="ndarray")
    order = np.argsort(found["i"] * len(target) + found["j"], kind="stable")
    return found["i"][order].astype(np.int64), found["j"][order].astype(np.int64)
