"""One case run and measured: the plan, against the map, and the walk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from chronoforest.bench.references import REFERENCES, bfs_matrix, geodesic_matrix
from chronoforest.bench.suites import TIE, Case, order_problem, random_problem
from chronoforest.envs.mazes import Maze
from chronoforest.envs.tasks import Env, make_env, reset_task
from chronoforest.errors import InvalidProblem
from chronoforest.execution.journey import Journey, walk_task
from chronoforest.execution.recovery import Cause
from chronoforest.execution.rollout import MAX_STEPS, Rollout, walk
from chronoforest.execution.route import ExecutionParams, Place, Route, advance
from chronoforest.planning.result import PlanResult
from chronoforest.planning.shortening import resample
from chronoforest.routing.solver import AutoSolver, best_two_costs, order_from_names
from chronoforest.types import FloatArray, Problem, Tracker

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

GRAPH_FIXED = "graph-fixed"
"""The privileged variant: the planner has no map, so its order is solved here and handed in."""

OFFICIAL_CAP = 1000

SPACING = 0.2
"""Units between the frames of a reference path; a plan's are about as near to each other."""


@dataclass(frozen=True)
class PlanFigures:
    """A plan against the map; lengths in world units over all agents.

    bfs, geodesic: the least lengths in any order, over cells and at any angle with clearance 1.0;
    order_length: the geodesic length of the order chosen; runner_up: of the second-best order, None when
    there is only one; clearance: least distance to a wall; order: anchor names per agent.
    """

    is_complete: bool
    crosses_wall: bool
    length: float
    raw_length: float
    bfs: float
    geodesic: float
    order_length: float
    runner_up: float | None
    clearance: float
    num_expanded: int
    num_rounds: int
    seconds: float
    order: tuple[tuple[str, ...], ...]

    def has_best_order(self, slack: float = 0.0) -> bool:
        """Whether the order is at most that share longer than the best one under the geodesic."""
        return self.order_length <= (1.0 + slack) * self.geodesic + TIE


@dataclass(frozen=True)
class WalkFigures:
    """A walk in short; units: how far it came along a fixed path, None where there is none."""

    cause: Cause
    steps: int
    num_replans: int
    seconds: float
    num_falls: int = 0
    units: float | None = None

    def success_within(self, cap: int) -> bool:
        """Whether the environment reported success in at most that many steps."""
        return self.cause == "none" and self.steps <= cap


@dataclass(frozen=True)
class Walker:
    """What follows a path, without a planner."""

    tracker: Tracker
    execution: ExecutionParams


@dataclass(frozen=True)
class Trial:
    """What came of a case; `refusal` is the planner's sentence when it would not even try; `measures`: what
    else a suite measured, in values that JSON knows."""

    case: Case
    plan: PlanFigures | None
    walk: WalkFigures | None = None
    refusal: str = ""
    measures: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Trial:
        """The inverse of `to_json`."""
        values = json.loads(line)
        plan = None if values["plan"] is None else _plan_figures(values["plan"])
        walked = None if values["walk"] is None else WalkFigures(**values["walk"])
        return cls(Case(**values["case"]), plan, walked, values["refusal"], values.get("measures", {}))


def run_case(case: Case, planner: PresetPlanner | Walker) -> Trial:
    """Plan, walk where the suite says so, and measure; a refused problem is a failed trial."""
    return attempt(case, lambda: _RUNS[case.suite](case, planner))


def attempt(case: Case, run: Callable[[], Trial]) -> Trial:
    """What `run` returns, or the planner's refusal."""
    try:
        return run()
    except InvalidProblem as error:
        return Trial(case, plan=None, refusal=str(error))


def task_problem(case: Case) -> Problem:
    """An official task with its jitter, as the environment is reset to it."""
    start = reset_task(_env(case.preset, MAX_STEPS), case.task, case.seeds[0])
    return Problem([start.observation[:2]], [start.goal])


def plan_problem(case: Case, planner: PresetPlanner, problem: Problem, **watchers: Any) -> PlanResult:
    """Plan as the case says, with what `plan` calls back; the order of `graph-fixed` is solved on the map."""
    order = None
    if case.variant == GRAPH_FIXED:
        order = AutoSolver()(bfs_matrix(case.maze, problem.anchors), problem, None).named(problem)
    return planner.plan(problem, seed=case.seeds[1], variant=case.variant, order=order, **watchers)


def measure_plan(result: PlanResult, maze: Maze) -> PlanFigures:
    """Everything that the map tells about a plan."""
    problem, paths = result.problem, [route.path for route in result.routes if len(route.path)]
    true = geodesic_matrix(maze, problem.anchors)
    names = [route.order for route in result.routes]
    _, second = best_two_costs(true, problem)
    return PlanFigures(
        is_complete=result.complete,
        crosses_wall=any(maze.crosses_wall(path) for path in paths),
        length=result.length,
        raw_length=result.raw_length,
        bfs=_least(bfs_matrix(maze, problem.anchors), problem),
        geodesic=_least(true, problem),
        order_length=order_from_names(names, problem).cost(true),
        runner_up=second if np.isfinite(second) else None,
        clearance=min((maze.path_clearance(path) for path in paths), default=0.0),
        num_expanded=result.num_expanded,
        num_rounds=result.num_rounds,
        seconds=result.seconds,
        order=tuple(tuple(order) for order in names),
    )


def measure_walk(rollout: Rollout, units: float | None = None) -> WalkFigures:
    """The figures of a record."""
    return WalkFigures(
        rollout.cause, rollout.steps, rollout.num_replans, rollout.seconds, rollout.num_falls, units
    )


def walk_case(case: Case, planner: PresetPlanner) -> Journey:
    """The official protocol; one walk with the longer cap tells about both."""
    reset_seed, plan_seed = case.seeds
    order = [["S1", "G1"]] if case.variant == GRAPH_FIXED else None
    return walk_task(
        planner,
        _env(case.preset, MAX_STEPS),
        case.task,
        seed=reset_seed,
        plan_seed=plan_seed,
        variant=case.variant,
        order=order,
        replans=case.replans,
    )


def _walk_task(case: Case, planner: PresetPlanner) -> Trial:
    journey = walk_case(case, planner)
    return Trial(case, measure_plan(journey.result, case.maze), measure_walk(journey.rollouts[0]))


def _walk_reference(case: Case, walker: Walker) -> Trial:
    """A fixed path of the map is followed to the official cap; nothing is planned and nothing given up."""
    env = _env(case.preset, OFFICIAL_CAP)
    start = reset_task(env, case.task, case.seeds[0])
    vertices = REFERENCES[case.reference](case.maze, start.observation[:2], start.goal)
    route = Route(resample(vertices, SPACING), np.zeros((0, 2)), ())
    params = replace(
        walker.execution,
        look_ahead=case.look_ahead or walker.execution.look_ahead,
        drift=np.inf,
        stuck_steps=OFFICIAL_CAP,
    )
    rollout = walk(env, start, route, walker.tracker, params=params)
    return Trial(case, plan=None, walk=measure_walk(rollout, _units_along(route, rollout, params)))


def _units_along(route: Route, rollout: Rollout, params: ExecutionParams) -> float:
    """How much of the route was walked: up to the frame that the last position is nearest to."""
    place = Place()
    for position in rollout.xy:
        place = advance(route, place, position, params)
    return float(route.along[place.frame])


def _plan_random(case: Case, planner: PresetPlanner) -> Trial:
    return Trial(case, measure_plan(plan_problem(case, planner, random_problem(case)), case.maze))


def _plan_order(case: Case, planner: PresetPlanner) -> Trial:
    problem = order_problem(case, planner.models.distance)
    return Trial(case, measure_plan(plan_problem(case, planner, problem), case.maze))


_RUNS: dict[str, Callable[[Case, Any], Trial]] = {
    "stitch": _walk_task,
    "pairs": _plan_random,
    "multi": _plan_random,
    "order": _plan_order,
    "track": _walk_reference,
}


def _least(matrix: FloatArray, problem: Problem) -> float:
    return AutoSolver()(matrix, problem, None).cost(matrix)


@cache
def _env(preset: str, max_steps: int) -> Env:
    """One environment per process and cap."""
    return make_env(preset, max_episode_steps=max_steps)


def _plan_figures(values: Mapping[str, Any]) -> PlanFigures:
    return PlanFigures(**{**values, "order": tuple(tuple(order) for order in values["order"])})
