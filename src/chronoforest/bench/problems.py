"""The problems that cases stand for: random places, and waypoints that the learned distance misjudges.

Privileged: cells and tasks are read from the map, because somebody has to choose the problems.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from chronoforest.bench.case import Case
from chronoforest.bench.references import bfs_matrix, geodesic_matrix, task_points
from chronoforest.envs.mazes import Maze, cell_centre
from chronoforest.errors import InvalidParameter
from chronoforest.types import Distance, FloatArray, IntArray, PlanningModels, Problem

JITTER = 1.0
"""Random anchors lie up to this many units from a cell's centre in x and y, as OGBench's starts and goals."""

TIE = 1e-6
"""Routes whose lengths differ by less, in units, are equally good."""

NEAR_TIES = 0.25
"""Share of the mismatched triples, those nearest to a tie, that suite `order` leaves out."""


def random_problem(case: Case) -> Problem:
    """Suites `pairs` and `multi`: every anchor in a free cell of its own, jittered."""
    rng = np.random.default_rng([case.seed, case.task, case.episode])
    cells = open_cells(case.maze)
    num_anchors = 2 * case.num_agents + case.num_waypoints
    chosen = cell_centre(rng.choice(cells, num_anchors, replace=False))
    points = chosen + rng.uniform(-JITTER, JITTER, chosen.shape)
    starts, goals, waypoints = np.split(points, [case.num_agents, 2 * case.num_agents])
    return Problem(starts, goals, waypoints)


def supported_problem(case: Case, models: PlanningModels, room: float) -> Problem:
    """Anchors at random places of the support, at least `room` units inside it: worlds without a map have no
    cells to draw from."""
    rng = np.random.default_rng([case.seed, case.task, case.episode])
    places = models.support.places
    places = places[models.density.margin(places) >= room]
    chosen = rng.choice(places, 2 * case.num_agents + case.num_waypoints, replace=False)
    starts, goals, waypoints = np.split(chosen, [case.num_agents, 2 * case.num_agents])
    return Problem(starts, goals, waypoints)


def order_problem(case: Case, distance: Distance) -> Problem:
    """Suite `order`: an official task without jitter and three waypoints that raw distance misjudges."""
    start, goal = task_points(case.maze)[case.task - 1]
    cells = open_cells(case.maze)
    is_end = (cells[:, None] == np.array(case.maze.tasks[case.task - 1])).all(axis=-1).any(axis=1)
    places = cell_centre(cells[~is_end])
    triples = mismatched_triples(case.maze, start, goal, places, distance)
    if case.episode >= len(triples):
        raise InvalidParameter(
            f"task {case.task} has {len(triples)} mismatched triples, got episode {case.episode}"
        )
    chosen = np.random.default_rng([case.seed, case.task]).permutation(triples)[case.episode]
    return Problem([start], [goal], places[chosen])


def mismatched_triples(
    maze: Maze, start: FloatArray, goal: FloatArray, places: FloatArray, distance: Distance
) -> IntArray:
    """[n, 3] rows of `places` whose best order under raw d is not a best order under the geodesic.

    The quarter of them with the smallest relative gap between the best and the second-best order is left
    out: which of two orders of practically the same length is the better one means nothing.
    """
    anchors = np.concatenate([[start], places, [goal]])
    codes = distance.encode(anchors)
    triples = np.array(list(combinations(range(len(places)), 3)), dtype=np.int64)
    raw = _order_lengths(distance.pairwise(codes, codes), triples + 1)
    true = _order_lengths(geodesic_matrix(maze, anchors), triples + 1)
    guessed = np.take_along_axis(true, raw.argmin(axis=1)[:, None], axis=1)[:, 0]
    is_mismatch = guessed > true.min(axis=1) + TIE
    ranked = np.sort(true[is_mismatch], axis=1)
    gap = (ranked[:, 1] - ranked[:, 0]) / ranked[:, 0]
    return triples[is_mismatch][gap >= np.quantile(gap, NEAR_TIES)] if len(gap) else triples[:0]


def open_cells(maze: Maze) -> IntArray:
    """[F, 2] cells that can be reached from the first task's start without a portal."""
    is_portal = (maze.free_cells[:, None] == np.array(maze.portals_in).reshape(-1, 2)).all(axis=-1)
    cells = maze.free_cells[~is_portal.any(axis=1)]
    start = np.array([maze.tasks[0][0]])
    lengths = bfs_matrix(maze, cell_centre(np.concatenate([start, cells])))
    return cells[np.isfinite(lengths[0, 1:])]


def _order_lengths(matrix: FloatArray, triples: IntArray) -> FloatArray:
    """[n, 6] lengths from the first to the last anchor through each triple [n, 3] in every order."""
    orders = triples[:, list(permutations(range(3)))]
    last = len(matrix) - 1
    inner = matrix[orders[..., :-1], orders[..., 1:]].sum(axis=-1)
    return matrix[0, orders[..., 0]] + inner + matrix[orders[..., -1], last]
