"""Which order is the best depends on how one passes corners: suite `order` under other yardsticks.

Its yardstick is the geodesic with a square clearance of 1.0. Each problem is also solved on others; how often
they agree tells what a planner can reach that keeps another room, or passes corners round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.rounded import room_left, rounded_matrix
from chronoforest.bench.case import Case
from chronoforest.bench.problems import order_problem
from chronoforest.bench.protocol import ORDER
from chronoforest.bench.references import geodesic_matrix
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial, measure_plan, plan_problem
from chronoforest.envs.mazes import Maze, cell_centre, cell_of
from chronoforest.peers.choice import PlannerChoice
from chronoforest.routing.solver import order_from_names, solve_exact
from chronoforest.types import Density, FloatArray, IntArray, JointRoute, Problem

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "pointmaze-giant-stitch-v0"

NUM_REPORTED = 3
"""Seeds whose trials suite `order` reports; the others were there to choose on."""

NUM_SEEDS, EPISODES = 7, 50

SUITES_OWN = "square, 1.0"
"""The yardstick of suite `order`."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What yardsticks may look at; margin: units inside the support that plans try to keep."""

    maze: Maze
    density: Density
    margin: float


def _square(ground: Ground, points: FloatArray, room: float) -> FloatArray:
    return geodesic_matrix(ground.maze, points, room)


def _round(ground: Ground, points: FloatArray, room: float) -> FloatArray:
    return rounded_matrix(ground.maze, points, room)


def _as_recorded(ground: Ground, points: FloatArray) -> FloatArray:
    room = room_left(ground.maze, ground.density, ground.margin)
    return rounded_matrix(ground.maze, points, room)


def _as_recorded_on_average(ground: Ground, points: FloatArray) -> FloatArray:
    room = room_left(ground.maze, ground.density, ground.margin)
    return rounded_matrix(ground.maze, points, room.mean())


YARDSTICKS: dict[str, Callable[[Ground, FloatArray], FloatArray]] = {
    "no room": partial(_round, room=1e-6),
    **{f"square, {room}": partial(_square, room=room) for room in (0.5, 1.0, 1.3)},
    **{f"round, {room}": partial(_round, room=room) for room in (0.5, 1.0, 1.3)},
    "round, the plans' mean room": _as_recorded_on_average,
    "round, the plans' room at each corner": _as_recorded,
}
"""Units between places [n, 2] → [n, n], by what is kept from the walls and how corners are passed."""


def cases(request: Request) -> list[Case]:
    """Problems of suite `order`, those of more seeds than are reported there."""
    shared = Case("yardsticks", PlannerChoice(PRESET), variant="verified")
    return [
        replace(case, suite="yardsticks")
        for seed in range(request.repeats or NUM_SEEDS)
        for case in ORDER.cases(Request(1, request.episodes or EPISODES, replace(shared, seed=seed)))
    ]


def compare(case: Case, planner: PresetPlanner) -> Trial:
    """Plan, and ask every yardstick for the best order: `differs` is how much longer that is than the best
    of the suite's own, as a share of it; `longer` how much longer by this one the plan's order is."""
    problem = order_problem(case, planner.models.distance)
    result = plan_problem(case, planner, problem)
    chosen = order_from_names([route.order for route in result.routes], problem)
    lengths = {name: _between(name, planner, case.maze, problem) for name in YARDSTICKS}
    best = {name: solve_exact(matrix, problem) for name, matrix in lengths.items()}
    own = lengths[SUITES_OWN], best[SUITES_OWN]
    measures = {
        name: {
            "differs": _excess(best[name], *own),
            "longer": _excess(chosen, lengths[name], best[name]),
        }
        for name in YARDSTICKS
    }
    return Trial(case, measure_plan(result, case.maze), measures=measures)


def _excess(route: JointRoute, lengths: FloatArray, best: JointRoute) -> float:
    """Share by which a route is longer than the best."""
    return route.cost(lengths) / best.cost(lengths) - 1.0


def _between(name: str, planner: PresetPlanner, maze: Maze, problem: Problem) -> FloatArray:
    """[A, A] units between a problem's anchors, which are centres of cells."""
    rows = _rows(maze)[tuple(cell_of(problem.anchors).T)]
    return _everywhere(name, planner, maze)[np.ix_(rows, rows)]


@cache
def _everywhere(name: str, planner: PresetPlanner, maze: Maze) -> FloatArray:
    """[F, F] units between the centres of all free cells."""
    ground = Ground(maze, planner.models.density, planner.params.assembly.keep_margin)
    return YARDSTICKS[name](ground, cell_centre(maze.free_cells))


def _rows(maze: Maze) -> IntArray:
    """[rows, columns] number of each free cell."""
    numbers = np.zeros(maze.is_wall.shape, dtype=np.int64)
    numbers[tuple(maze.free_cells.T)] = np.arange(len(maze.free_cells))
    return numbers


SUITE = Suite("yardsticks", "the best order by other yardsticks", cases, compare, seconds=1.0)
