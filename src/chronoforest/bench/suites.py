"""What to run: every suite as a list of cases, and the problem that each case stands for.

Privileged: cells and tasks are read from the map, because somebody has to choose the problems.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Literal

import numpy as np

from chronoforest.bench.references import REFERENCES, bfs_matrix, geodesic_matrix, task_points
from chronoforest.envs.mazes import Maze, cell_centre
from chronoforest.envs.tasks import world
from chronoforest.errors import InvalidParameter
from chronoforest.types import Distance, FloatArray, IntArray, Problem

Mode = Literal["default", "fast"]

SUITES = ("stitch", "pairs", "multi", "order", "track")
JITTER = 1.0
"""Random anchors lie up to this many units from a cell's centre in x and y, as OGBench's starts and goals."""

TIE = 1e-6
"""Routes whose lengths differ by less, in units, are equally good."""

NUM_WAYPOINTS_IN_ORDER = 3

NEAR_TIES = 0.25
"""Share of the mismatched triples, those nearest to a tie, that suite `order` leaves out."""


@dataclass(frozen=True)
class Case:
    """One trial to run; all of it together identifies the trial.

    task: 1…5, or 0 where no official task is involved; episode: which of the cases of that task;
    seed: of the whole suite; num_agents, num_waypoints: M and K; tracker: its name, the preset's own unless
    told; reference, look_ahead: the path of suite `track` and how far ahead on it the subgoal is, as the
    preset has it unless told; planner: ChronoForest's or a peer's name; distance: whose recipe trained it;
    replans: whether a walk in trouble plans anew; instance: name of a stored problem; change: one parameter
    set otherwise, as in "search.num_expand=2".
    """

    suite: str
    preset: str
    task: int
    episode: int
    seed: int = 0
    variant: str = "online"
    mode: Mode = "default"
    num_agents: int = 1
    num_waypoints: int = 0
    tracker: str = ""
    reference: str = ""
    look_ahead: float | None = None
    planner: str = "chronoforest"
    distance: str = "own"
    replans: bool = True
    instance: str = ""
    change: str = ""

    @property
    def maze(self) -> Maze:
        """The map."""
        return world(self.preset).maze

    @property
    def seeds(self) -> tuple[int, int]:
        """Of the environment's reset and of the planner, the same for every variant."""
        reset_seed, plan_seed = np.random.SeedSequence([self.seed, self.task, self.episode]).generate_state(2)
        return int(reset_seed), int(plan_seed)


def make_cases(template: Case, num_episodes: int) -> list[Case]:
    """The cases of the template's suite: `num_episodes` of each task that is walked, in all in other suites.

    Tasks take turns, so that an unfinished run has seen all of them.
    """
    if template.suite not in SUITES:
        raise InvalidParameter(f"unknown suite {template.suite!r}; available: {', '.join(SUITES)}")
    if num_episodes < 1:
        raise InvalidParameter(f"episodes must be at least 1, got {num_episodes}")
    num_tasks = len(template.maze.tasks)
    if template.suite in ("stitch", "track"):
        _check_reference(template)
        places = [(task + 1, episode) for episode in range(num_episodes) for task in range(num_tasks)]
    elif template.suite == "order":
        places = [(k % num_tasks + 1, k // num_tasks) for k in range(num_episodes)]
        template = replace(template, num_waypoints=NUM_WAYPOINTS_IN_ORDER)
    else:
        _check_counts(template)
        places = [(0, episode) for episode in range(num_episodes)]
    return [replace(template, task=task, episode=episode) for task, episode in places]


def random_problem(case: Case) -> Problem:
    """Suites `pairs` and `multi`: every anchor in a free cell of its own, jittered."""
    rng = np.random.default_rng([case.seed, case.task, case.episode])
    cells = open_cells(case.maze)
    num_anchors = 2 * case.num_agents + case.num_waypoints
    chosen = cell_centre(rng.choice(cells, num_anchors, replace=False))
    points = chosen + rng.uniform(-JITTER, JITTER, chosen.shape)
    starts, goals, waypoints = np.split(points, [case.num_agents, 2 * case.num_agents])
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
    gap = _relative_gap(true[is_mismatch])
    return triples[is_mismatch][gap >= np.quantile(gap, NEAR_TIES)] if len(gap) else triples[:0]


def _relative_gap(lengths: FloatArray) -> FloatArray:
    """[n] GapRel = (second-best − best) / best of lengths [n, orders]."""
    ranked = np.sort(lengths, axis=1)
    return (ranked[:, 1] - ranked[:, 0]) / ranked[:, 0]


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


def _check_reference(template: Case) -> None:
    if template.suite == "track" and template.reference not in REFERENCES:
        raise InvalidParameter(
            f"unknown reference {template.reference!r}; available: {', '.join(REFERENCES)}"
        )


def _check_counts(template: Case) -> None:
    num_anchors = 2 * template.num_agents + template.num_waypoints
    num_cells = len(open_cells(template.maze))
    if template.num_agents < 1 or template.num_waypoints < 0 or num_anchors > num_cells:
        raise InvalidParameter(
            f"{template.maze.name} has {num_cells} cells for at least 1 agent and 0 waypoints, "
            f"got {template.num_agents} agents and {template.num_waypoints} waypoints"
        )
