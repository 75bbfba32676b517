"""The problems that cases stand for: random places, and waypoints that the learned distance misjudges."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, pairwise, permutations, product

import numpy as np

from benchmarks.case import Case
from benchmarks.mazes import Maze
from benchmarks.references import bfs_matrix, geodesic_matrix, task_points
from chronoforest.envs.maps import cell_centre
from chronoforest.errors import InvalidParameter
from chronoforest.types import Distance, FloatArray, IntArray, PlanningModels, Problem

JITTER = 1.0
"""Random anchors lie up to this many units from a cell's centre in x and y, as OGBench's starts and goals."""

NUM_WAYPOINTS = 3  # of the problems whose order is misjudged
TIE = 1e-6  # routes whose lengths differ by less, in units, are equally good
NEAR_TIES = 0.25  # share of the mismatched triples, those nearest to a tie, that suite `order` leaves out


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
    """[n, 3] rows of `places` whose best order under raw d is not a best order under the geodesic, without
    the quarter with the smallest relative gap between the best and the second-best order."""
    anchors = np.concatenate([[start], places, [goal]])
    triples, gaps = mismatches(anchors, 1, distance, geodesic_matrix(maze, anchors))
    return triples[gaps >= np.quantile(gaps, NEAR_TIES)] if len(gaps) else triples


def mismatches(
    anchors: FloatArray, num_agents: int, distance: Distance, true: FloatArray
) -> tuple[IntArray, FloatArray]:
    """[n, 3] triples of waypoints whose best joint route raw d misjudges, and their GapRel [n].

    anchors: [A, 2] starts, places for waypoints, and goals; true: [A, A] what routes are judged by.
    """
    codes = distance.encode(anchors)
    triples = np.array(
        list(combinations(range(len(anchors) - 2 * num_agents), NUM_WAYPOINTS)), dtype=np.int64
    )
    raw = joint_costs(distance.pairwise(codes, codes), triples, num_agents)
    known = joint_costs(true, triples, num_agents)
    guessed = np.take_along_axis(known, raw.argmin(axis=1)[:, None], axis=1)[:, 0]
    is_mismatch = guessed > known.min(axis=1) + TIE
    two = np.partition(known[is_mismatch], 1, axis=1)[:, :2]
    return triples[is_mismatch], (two[:, 1] - two[:, 0]) / two[:, 0]


def joint_costs(matrix: FloatArray, triples: IntArray, num_agents: int) -> FloatArray:
    """[n, R] costs of every joint route through triples [n, K] of waypoints on a matrix [A, A]."""
    num_places, num_waypoints = len(matrix) - 2 * num_agents, triples.shape[1]
    inner = combinations_with_replacement(range(num_waypoints + 1), num_agents - 1)
    cuts, columns = [(0, *cut, num_waypoints) for cut in inner], []
    for visited, cut in product(permutations(range(num_waypoints)), cuts):
        shares = [visited[a:b] for a, b in pairwise(cut)]  # the waypoints of each agent, in order
        total = np.zeros(len(triples))
        for agent, visits in enumerate(shares):
            stops = [np.full(len(triples), agent), *(triples[:, k] + num_agents for k in visits)]
            stops.append(np.full(len(triples), num_agents + num_places + agent))
            total += sum(matrix[a, b] for a, b in pairwise(stops))
        columns.append(total)
    return np.stack(columns, axis=1)


def open_cells(maze: Maze) -> IntArray:
    """[F, 2] cells that can be reached from the first task's start without a portal."""
    is_portal = (maze.free_cells[:, None] == np.array(maze.portals_in).reshape(-1, 2)).all(axis=-1)
    cells = maze.free_cells[~is_portal.any(axis=1)]
    start = np.array([maze.tasks[0][0]])
    lengths = bfs_matrix(maze, cell_centre(np.concatenate([start, cells])))
    return cells[np.isfinite(lengths[0, 1:])]
