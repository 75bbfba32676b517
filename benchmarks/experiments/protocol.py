"""The suites that anybody runs on weights of their own: official tasks, random places, orders, trackers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks import metrics
from benchmarks.case import Case
from benchmarks.metrics import Estimate, complete_plans
from benchmarks.problems import NUM_WAYPOINTS, open_cells, order_problem, random_problem
from benchmarks.references import REFERENCES
from benchmarks.report.tables import TextTable, by
from benchmarks.suite import Request, Suite
from benchmarks.trials import (
    PlanFigures,
    Trial,
    measure_plan,
    measure_walk,
    official_env,
    plan_problem,
    walk_case,
)
from chronoforest.envs.tasks import reset_task
from chronoforest.errors import InvalidParameter
from chronoforest.execution.rollout import walk
from chronoforest.execution.route import ExecutionParams, Place, Route, advance
from chronoforest.models.tracking import load_tracker
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.loading import PresetPlanner
from chronoforest.presets.named import get_preset
from chronoforest.roadmap.straight import resample
from chronoforest.types import Tracker

OFFICIAL_CAP = 1000
SPACING = 0.2  # units between the frames of a reference path; a plan's are about as near to each other


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


def order_cases(template: Case, num_episodes: int) -> list[Case]:
    """So many triples in all; the tasks take turns."""
    order, num_tasks = replace(template, num_waypoints=NUM_WAYPOINTS), len(template.maze.tasks)
    return [replace(order, task=k % num_tasks + 1, episode=k // num_tasks) for k in range(num_episodes)]


def _track_cases(template: Case, num_episodes: int) -> list[Case]:
    if template.reference not in REFERENCES:
        known = ", ".join(REFERENCES)
        raise InvalidParameter(f"unknown reference {template.reference!r}; available: {known}")
    return task_cases(template, num_episodes)


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
    rollout, place = walk(env, start, route, walker.tracker, params=params), Place()
    for position in rollout.xy:
        place = advance(route, place, position, params)
    return Trial(case, plan=None, walk=measure_walk(rollout, float(route.along[place.frame])))


Cell = Callable[[Sequence[Trial]], str]


def bench_table(suite: str, trials: Sequence[Trial], title: str = "") -> TextTable:
    """One row per task where the suite has tasks, and one for all trials."""
    columns = COLUMNS[suite]
    tasks = sorted({trial.case.task for trial in trials} - {0})
    groups = [(f"task {task}", [trial for trial in trials if trial.case.task == task]) for task in tasks]
    groups.append((f"all ({len(trials)})", list(trials)))
    rows = tuple((name, *(cell(group) for cell in columns.values())) for name, group in groups)
    return TextTable(title, ("", *columns), rows, has_total=True)


def setup_tables(suite: str, trials: Sequence[Trial]) -> list[TextTable]:
    """A table for each setup that was tried."""
    groups = by(trials, lambda trial: trial.case.setup)
    return [bench_table(suite, some, setup_title(setup)) for setup, some in groups.items()]


def setup_title(case: Case) -> str:
    """Suite, preset and variant, and whatever else is not as it is by default."""
    plain = Case(case.suite, PlannerChoice(case.preset), variant=case.variant).setup
    told = [
        f"{field.name.removeprefix('num_').replace('_', ' ')} {getattr(one, field.name)}"
        for one, other in ((case.setup.choice, plain.choice), (case.setup, plain))
        for field in fields(one)
        if field.name != "choice" and getattr(one, field.name) != getattr(other, field.name)
    ]
    return ", ".join([case.suite, case.preset, case.variant, *told])


def percent(estimate: Estimate) -> str:
    """A share as 98.0 % with its interval."""
    low, high = (f"{100 * end:.1f}" for end in (estimate.low, estimate.high))
    return f"{100 * estimate.value:.1f} % [{low}, {high}]"


def _success(trials: Sequence[Trial], cap: int = metrics.CAPS[0]) -> str:
    return percent(metrics.success(trials, cap))


def _mean(value: Callable[[PlanFigures], float], digits: int = 2) -> Cell:
    """Mean over the complete plans with half its interval's width."""

    def cell(trials: Sequence[Trial]) -> str:
        estimate = metrics.mean(value(plan) for plan in complete_plans(trials))
        return f"{estimate.value:.{digits}f} ± {estimate.high - estimate.value:.{digits}f}"

    return cell


def _median(value: Callable[[PlanFigures], float]) -> Cell:
    return lambda trials: f"{metrics.median(value(plan) for plan in complete_plans(trials)):.2f}"


def _steps(trials: Sequence[Trial]) -> str:
    walks = [trial.walk for trial in trials if trial.walk is not None and trial.walk.cause == "none"]
    return f"{metrics.mean(walk.steps for walk in walks).value:.0f}"


def _interval(estimate: Estimate, digits: int) -> str:
    """A value with the ends of its interval."""
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def _failures(trials: Sequence[Trial]) -> str:
    causes = metrics.failures(trials)
    return ", ".join(f"{count} {cause}" for cause, count in causes.most_common()) or "none"


def _evidence(trials: Sequence[Trial]) -> str:
    """Shares of the legs of complete plans by their evidence; "–" where older records do not tell."""
    counts = Counter(name for plan in complete_plans(trials) for name in plan.evidence)
    shares = (f"{100 * count / counts.total():.1f} % {name}" for name, count in counts.most_common())
    return ", ".join(shares) or "–"


_PLAN: dict[str, Cell] = {
    "÷ geodesic": _mean(lambda plan: plan.length / plan.geodesic, digits=3),
    "÷ BFS": _mean(lambda plan: plan.length / plan.bfs, digits=3),
    "clearance (median)": _median(lambda plan: plan.clearance),
    "through walls": lambda trials: str(metrics.num_wall_crossings(trials)),
    "expanded": _mean(lambda plan: plan.num_expanded, digits=1),
    "planning s (median)": _median(lambda plan: plan.seconds),
    "legs by evidence": _evidence,
}

_COMPLETE: Cell = lambda trials: percent(metrics.completeness(trials))  # noqa: E731  a column like the others

COLUMNS: dict[str, dict[str, Cell]] = {
    "stitch": {
        **{f"success within {cap}": partial(_success, cap=cap) for cap in metrics.CAPS},
        "steps": _steps,
        "steps per unit": lambda trials: f"{metrics.steps_per_unit(trials).value:.2f}",
        "re-planned": lambda trials: f"{100 * metrics.replanned(trials).value:.1f} %",
        **_PLAN,
        "failures": _failures,
    },
    "pairs": {"complete": _COMPLETE, **_PLAN, "failures": _failures},
    "multi": {
        "complete": _COMPLETE,
        "length": _mean(lambda plan: plan.length, digits=1),
        **_PLAN,
        "failures": _failures,
    },
    "track": {
        f"success within {metrics.CAPS[0]}": _success,
        "steps": _steps,
        "units per step": lambda trials: _interval(metrics.pace(trials), digits=3),
        "falls per 1000 steps": lambda trials: _interval(metrics.falls(trials), digits=2),
        "failures": _failures,
    },
    "order": {
        "complete": _COMPLETE,
        "best order": lambda trials: percent(metrics.best_order(trials)),
        "within 1 %": lambda trials: percent(metrics.best_order(trials, slack=0.01)),
        "order ÷ best": _mean(lambda plan: plan.order_length / plan.geodesic, digits=3),
        **_PLAN,
        "failures": _failures,
    },
}
"""What is shown of a protocol suite's trials, by the suite's name."""


def _suite(
    name: str,
    summary: str,
    spread: Callable[[Case, int], list[Case]],
    num_episodes: int,
    run: Callable[[Case, Any], Trial],
    load: Callable[[PlannerChoice], Any] = PlannerChoice.load,
) -> Suite:
    def cases(request: Request) -> list[Case]:
        if request.template is None:
            raise InvalidParameter(f"suite {name} must be told which planner to run")
        return spread(replace(request.template, suite=name), request.episodes or num_episodes)

    return Suite(name, summary, cases, run, partial(setup_tables, name), load)


_SUITES = (
    _suite("stitch", "success on the official tasks", task_cases, 50, walk_official),
    _suite("pairs", "plans between random places", random_cases, 500, plan_random),
    _suite("multi", "plans for several agents and waypoints", random_cases, 100, plan_random),
    _suite("order", "waypoints whose order is easily misjudged", order_cases, 50, plan_order),
    _suite("track", "trackers on fixed paths", _track_cases, 12, walk_reference, load_walker),
)

PROTOCOL_SUITES = {suite.name: suite for suite in _SUITES}
