"""The suites that anybody runs on weights of their own: official tasks, random places, orders, trackers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chronoforest.bench.case import Case
from chronoforest.bench.problems import open_cells, order_problem, random_problem
from chronoforest.bench.references import REFERENCES
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial, measure_plan, measure_walk, official_env, plan_problem, walk_case
from chronoforest.envs.tasks import reset_task
from chronoforest.errors import InvalidParameter
from chronoforest.execution.rollout import Rollout, walk
from chronoforest.execution.route import ExecutionParams, Place, Route, advance
from chronoforest.models.store import load_tracker
from chronoforest.names import check_reference
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.shortening import resample
from chronoforest.presets.named import get_preset
from chronoforest.types import Tracker

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

OFFICIAL_CAP = 1000

SPACING = 0.2
"""Units between the frames of a reference path; a plan's are about as near to each other."""

NUM_WAYPOINTS_IN_ORDER = 3


def task_cases(template: Case, num_episodes: int) -> list[Case]:
    """So many episodes of every official task; tasks take turns, so that an unfinished run has seen all."""
    tasks = range(1, len(template.maze.tasks) + 1)
    return [
        replace(template, task=task, episode=episode) for episode in range(num_episodes) for task in tasks
    ]


def random_cases(template: Case, num_episodes: int) -> list[Case]:
    """So many random problems in all."""
    num_anchors = 2 * template.num_agents + template.num_waypoints
    num_cells = len(open_cells(template.maze))
    if template.num_agents < 1 or template.num_waypoints < 0 or num_anchors > num_cells:
        raise InvalidParameter(
            f"{template.maze.name} has {num_cells} cells for at least 1 agent and 0 waypoints, "
            f"got {template.num_agents} agents and {template.num_waypoints} waypoints"
        )
    return [replace(template, episode=episode) for episode in range(num_episodes)]


def _stitch_cases(request: Request) -> list[Case]:
    return task_cases(_template("stitch", request), request.episodes or 50)


def _pairs_cases(request: Request) -> list[Case]:
    return random_cases(_template("pairs", request), request.episodes or 500)


def _multi_cases(request: Request) -> list[Case]:
    return random_cases(_template("multi", request), request.episodes or 100)


def _order_cases(request: Request) -> list[Case]:
    """So many triples in all; the tasks take turns."""
    template = replace(_template("order", request), num_waypoints=NUM_WAYPOINTS_IN_ORDER)
    num_tasks = len(template.maze.tasks)
    return [
        replace(template, task=k % num_tasks + 1, episode=k // num_tasks)
        for k in range(request.episodes or 50)
    ]


def _track_cases(request: Request) -> list[Case]:
    template = _template("track", request)
    check_reference(template.reference)
    return task_cases(template, request.episodes or 12)


def _template(suite: str, request: Request) -> Case:
    if request.template is None:
        raise InvalidParameter(f"suite {suite} must be told which planner to run")
    return replace(request.template, suite=suite)


def walk_official(case: Case, planner: PresetPlanner) -> Trial:
    """Plan an official task and walk it."""
    journey = walk_case(case, planner)
    return Trial(case, measure_plan(journey.result, case.maze), measure_walk(journey.rollouts[0]))


def plan_random(case: Case, planner: PresetPlanner) -> Trial:
    """Plan between random places."""
    return Trial(case, measure_plan(plan_problem(case, planner, random_problem(case)), case.maze))


def plan_order(case: Case, planner: PresetPlanner) -> Trial:
    """Plan through waypoints that raw distance misjudges."""
    problem = order_problem(case, planner.models.distance)
    return Trial(case, measure_plan(plan_problem(case, planner, problem), case.maze))


@dataclass(frozen=True)
class Walker:
    """What follows a path, without a planner."""

    tracker: Tracker
    execution: ExecutionParams


def load_walker(choice: PlannerChoice) -> Walker:
    """The tracker alone: following a fixed path needs no other model."""
    preset = get_preset(choice.preset)
    tracker = load_tracker(choice.folder, preset.tracker_file(choice.tracker), choice.preset)
    return Walker(tracker, preset.execution)


def walk_reference(case: Case, walker: Walker) -> Trial:
    """A fixed path of the map is followed to the official cap; nothing is planned and nothing given up."""
    env = official_env(case.preset, OFFICIAL_CAP)
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


STITCH = Suite("stitch", "success on the official tasks", _stitch_cases, walk_official, seconds=5.0)
PAIRS = Suite("pairs", "plans between random places", _pairs_cases, plan_random, seconds=5.0)
MULTI = Suite("multi", "plans for several agents and waypoints", _multi_cases, plan_random)
ORDER = Suite("order", "waypoints whose order is easily misjudged", _order_cases, plan_order)
TRACK = Suite("track", "trackers on fixed paths", _track_cases, walk_reference, load_walker, seconds=2.0)

PROTOCOL_SUITES = {suite.name: suite for suite in (STITCH, PAIRS, MULTI, ORDER, TRACK)}
