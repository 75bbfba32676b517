"""The candidate bridges that a search scored, each with what the map says is left to travel (eq. 8–10).

A candidate is a new node n with the counterpart node m that makes the cheapest bridge when its round ends.
Its true residual is measured between the two states themselves; the paper's g* = c* − D(n) − D(m) is at most
that, so what is covered here is covered there, unless a prefix counts as shorter than it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.suites.calibration import local_scale
from chronoforest.bench.problems import open_cells
from chronoforest.bench.references import geodesic_matrix
from chronoforest.bench.trials import Trial
from chronoforest.envs.mazes import CELL_SIZE, Maze, cell_centre, segments_hit_boxes
from chronoforest.search.memory import ForestMemory
from chronoforest.search.scoring import bridge_cost
from chronoforest.search.tree import Forest, Tree
from chronoforest.types import (
    BoolArray,
    Calibration,
    Distance,
    FloatArray,
    IntArray,
    PlanningModels,
    Problem,
    RoundStats,
)


class Growth(ForestMemory):
    """Watches a search through its memory: the forest, and the nodes of every tree after every round."""

    def __init__(self) -> None:
        super().__init__()
        self.forest: Forest | None = None
        self.sizes: list[list[int]] = []

    def recall(self, forest: Forest) -> Forest:
        """The forest as it is, which is the one that the search grows."""
        self.forest = super().recall(forest)
        self._note(self.forest)
        return self.forest

    def on_round(self, stats: RoundStats, problem: Problem) -> None:
        """To be called after every round; takes no time, because plans are timed."""
        if self.forest is not None:
            self._note(self.forest)

    def _note(self, forest: Forest) -> None:
        self.sizes.append([tree.num_nodes for tree in forest.trees])


@dataclass(frozen=True)
class Probes:
    """Candidates of one pair of trees in one round: depth [n] of n, gap ĝ [n] in steps, states [n, 2] of
    n and m."""

    depth: IntArray
    gap: FloatArray
    source: FloatArray
    target: FloatArray


def measure_probes(growth: Growth, models: PlanningModels, maze: Maze) -> dict[str, Any]:
    """Rows (depth, ĝ in steps, true residual in units, None where an end lies in a wall), with the α in use
    and the units of a step; nothing where no forest was grown."""
    if growth.forest is None:
        return {}
    found = list(_probes(growth, growth.forest, models.calibration))
    depth, gap = (np.concatenate([getattr(one, name) for one in found]) for name in ("depth", "gap"))
    source, target = (np.concatenate([getattr(one, name) for one in found]) for name in ("source", "target"))
    left = residuals(maze, source, target)
    rows = zip(depth.tolist(), np.round(gap, 1).tolist(), np.round(left, 2).tolist(), strict=True)
    return {
        "alpha": models.calibration.alpha,
        "scale": unit_scale(models.distance, maze),
        "rows": [[depth, gap, left if np.isfinite(left) else None] for depth, gap, left in rows],
    }


def residuals(maze: Maze, source: FloatArray, target: FloatArray) -> FloatArray:
    """[n, 2] × [n, 2] → [n] units from one state to the other, infinite where one lies in a wall: straight
    where no wall is in between, else the geodesic with clearance 1.0."""
    is_free = maze.is_free(source) & maze.is_free(target)
    states, place = np.unique(np.concatenate([source[is_free], target[is_free]]), axis=0, return_inverse=True)
    first, second = place.reshape(2, -1)
    lengths = np.full(len(source), np.inf)
    hits = segments_hit_boxes(source, target, maze.wall_centres, CELL_SIZE / 2).any(axis=1)
    straight = np.where(hits, np.inf, np.linalg.norm(source - target, axis=1))
    lengths[is_free] = np.minimum(geodesic_matrix(maze, states)[first, second], straight[is_free])
    return lengths


def unit_scale(distance: Distance, maze: Maze) -> float:
    """Units of a step: the local scale of the paper's calibration, of the geodesic between free cells."""
    points = cell_centre(open_cells(maze))
    codes = distance.encode(points)
    above = np.triu_indices(len(points), k=1)
    return local_scale(distance.pairwise(codes, codes)[above], geodesic_matrix(maze, points)[above])


def _probes(growth: Growth, forest: Forest, calibration: Calibration) -> Iterator[Probes]:
    trees = forest.trees
    number = {id(tree): k for k, tree in enumerate(trees)}
    for before, after in pairwise([[0] * len(trees), *growth.sizes]):
        for k, tree in enumerate(trees):
            new = np.arange(before[k], after[k])
            for _, partner in forest.partners(tree) if len(new) else ():
                yield _scored(tree, new, partner, after[number[id(partner)]], calibration)


def _scored(tree: Tree, new: IntArray, partner: Tree, num_known: int, calibration: Calibration) -> Probes:
    """New rows of a tree against the nodes that the partner had at the end of the round."""
    candidates = bridge_cost(tree, tree.cost[new], tree.codes[new], partner, calibration)
    best = candidates.cost[:, :num_known].argmin(axis=1)
    gap = np.take_along_axis(candidates.gap, best[:, None], axis=1)[:, 0]
    return Probes(depths(tree.parent)[new], gap, tree.state[new], partner.state[best])


def depths(parent: IntArray) -> IntArray:
    """[n] segments between every node and its root; parents [n] come before their children."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    return depth


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates of some plans, [n] each.

    instance: a number per stored problem; depth: of the new node; gap: ĝ; upper: h(ĝ); truth: the true
    residual, infinite where an end lies in a wall; all three in steps.
    """

    instance: IntArray
    depth: IntArray
    gap: FloatArray
    upper: FloatArray
    truth: FloatArray

    def __len__(self) -> int:
        return len(self.gap)

    def where(self, keep: BoolArray) -> Pool:
        """The rows where `keep` [n] holds."""
        return Pool(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))


def pool(trials: Iterable[Trial]) -> Pool:
    """The recorded candidates of some plans together, with each plan's own α and units of a step."""
    numbers: dict[str, int] = {}
    parts = [np.zeros((5, 0))]
    for trial in trials:
        found = trial.measures.get("probes")
        if found:
            number = numbers.setdefault(trial.case.instance, len(numbers))
            depth, gap, left = np.array(found["rows"], dtype=np.float64).reshape(-1, 3).T
            truth = np.where(np.isnan(left), np.inf, left / found["scale"])
            upper = gap + found["alpha"] * gap**2
            parts.append(np.stack([np.full(len(gap), number), depth, gap, upper, truth]))
    instance, depth, gap, upper, truth = np.concatenate(parts, axis=1)
    return Pool(instance.astype(np.int64), depth.astype(np.int64), gap, upper, truth)
