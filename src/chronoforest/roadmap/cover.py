"""Places that cover recorded states, each in the middle of what passes there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from chronoforest.errors import require_positive
from chronoforest.roadmap.states import Samples, StateSpace
from chronoforest.types import FloatArray, IntArray


@dataclass(frozen=True)
class CoverParams:
    """How places are laid, in scales of the state space.

    grain: of the small groups of states that are moved together; blur: of the states that move a group to
    the middle of its way, as a Gaussian's deviation, cut at `cut`; num_moves: how often they do.
    """

    grain: float = 0.5
    blur: float = 0.7
    cut: float = 2.0
    num_moves: int = 5

    def __post_init__(self) -> None:
        require_positive(self, "grain", "blur", "cut")


@dataclass(frozen=True, eq=False)
class Cover:
    """position, heading: [n, d] of the places; place: [samples] that of each recorded state."""

    position: FloatArray
    heading: FloatArray
    place: IntArray


def cover(samples: Samples, space: StateSpace, params: CoverParams) -> Cover:
    """Places no nearer to each other than the scale of the space, which cover all samples.

    Groups of states move aside, never along their heading, into the middle of those like them; then the
    busiest become places, so that a way recorded with noise is one row of places and not many.
    """
    cells = np.floor(space.embedded(samples.position, samples.heading) / params.grain).astype(np.int64)
    cells -= cells.min(axis=0)
    key = np.ravel_multi_index(tuple(cells.T), tuple(cells.max(axis=0) + 1))
    group = np.unique(key, return_inverse=True)[1]
    count = np.bincount(group).astype(np.float64)
    position = means(samples.position, group, np.ones(len(group)))
    heading = _units(means(samples.heading, group, np.ones(len(group))))
    if space.angle is not None:
        position = _moved_aside(position, heading, count, space, params)
    states = space.embedded(position, heading)
    chosen = apart(states, np.argsort(-count, kind="stable"))
    place = cKDTree(states[chosen]).query(states)[1]
    return Cover(means(position, place, count), _units(means(heading, place, count)), place[group])


def _moved_aside(
    position: FloatArray, heading: FloatArray, count: FloatArray, space: StateSpace, params: CoverParams
) -> FloatArray:
    """[n, d] positions of groups, moved into the middle of those like them, each weighed by its count."""
    fixed, still = cKDTree(space.embedded(position, heading)), position
    for _ in range(params.num_moves):
        moving = cKDTree(space.embedded(position, heading))
        near = moving.sparse_distance_matrix(fixed, params.cut, output_type="coo_matrix")
        weight = count[near.col] * np.exp(-0.5 * (near.data / params.blur) ** 2)
        graph = csr_matrix((weight, (near.row, near.col)), shape=(len(count),) * 2)
        move = graph @ still / np.asarray(graph.sum(axis=1)) - position
        position = position + move - (move * heading).sum(axis=1, keepdims=True) * heading
    return position


def apart(states: FloatArray, order: IntArray) -> IntArray:
    """Rows of states [n, k], taken in an order, no two within 1 of each other and one within 1 of each."""
    tree, is_open, chosen = cKDTree(states), np.ones(len(states), dtype=np.bool_), []
    for row in order.tolist():
        if is_open[row]:
            chosen.append(row)
            is_open[tree.query_ball_point(states[row], 1.0)] = False
    return np.array(chosen, dtype=np.int64)


def means(values: FloatArray, group: IntArray, weight: FloatArray) -> FloatArray:
    """[groups, d] weighted means of values [n, d]."""
    total = np.bincount(group, weight)[:, None]
    return np.stack([np.bincount(group, weight * column) for column in values.T], axis=1) / total


def _units(moves: FloatArray) -> FloatArray:
    return np.asarray(moves / (np.linalg.norm(moves, axis=1, keepdims=True) + 1e-9))
