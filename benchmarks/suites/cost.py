"""Table 3 and Table 5: seconds and expanded nodes of the variants, and where the time goes.

Seconds depend on what else the machine does: run this suite with one worker on idle cores, and in a folder of
its own for each device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.instances import instance_set
from benchmarks.stopwatch import Stopwatch
from benchmarks.suites.hamiltonian import instance_cases, run_instance
from benchmarks.suites.stitch import task_problem
from chronoforest.bench.case import Case
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial, measure_plan, plan_problem
from chronoforest.models.distance import TemporalDistance
from chronoforest.models.sampler import SegmentSampler
from chronoforest.peers.choice import PlannerChoice
from chronoforest.routing.solver import AutoSolver, FixedOrder
from chronoforest.search.junction import cluster
from chronoforest.search.meeting import meetings

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "antmaze-giant-stitch-v0"
ORDERS = ("temporal-fixed", "graph-fixed", "online", "exhaustive")
SEARCHES = ("online", "start-tree-only", "l2-root")
EPISODES = 10
WATCHED_EPISODES = 2

PARTS: dict[str, tuple[Callable[..., Any], ...]] = {
    "sampling": (SegmentSampler.__call__,),
    "distance": (TemporalDistance.encode, TemporalDistance.between, TemporalDistance.pairwise),
    "clustering": (cluster,),
    "meeting": (meetings,),
    "route solving": (AutoSolver.__call__, FixedOrder.__call__),
}
"""What the time is split over; a distance asked within another part counts there."""


def cases(request: Request) -> list[Case]:
    """Stored problems for the orders, official tasks for the searches, and a few plans that are watched."""
    tasks = [
        Case("tasks", PlannerChoice(PRESET), task, episode, variant=variant)
        for episode in range(request.episodes or EPISODES)
        for task in range(1, 6)
        for variant in SEARCHES
    ]
    is_watched = (case for case in tasks if case.variant == "online" and case.episode < WATCHED_EPISODES)
    watched = [replace(case, suite="watched tasks") for case in is_watched]
    orders = instance_cases(instance_set(PRESET, "own"), ORDERS, request, (1,))
    return [*tasks, *watched, *orders]


def run_cost(case: Case, planner: PresetPlanner) -> Trial:
    """Plan, watched or not; nothing is walked."""
    return _KINDS[case.suite](case, planner)


def _plan_task(case: Case, planner: PresetPlanner) -> Trial:
    return Trial(case, measure_plan(plan_problem(case, planner, task_problem(case)), case.maze))


def _watch_task(case: Case, planner: PresetPlanner) -> Trial:
    watch = Stopwatch(PARTS)
    problem = task_problem(case)
    with watch:
        result = plan_problem(case, planner, problem)
    return Trial(case, measure_plan(result, case.maze), measures={"shares": watch.shares()})


_KINDS = {"tasks": _plan_task, "watched tasks": _watch_task, "hamiltonian": run_instance}


SUITE = Suite("cost", "seconds and nodes of the variants", cases, run_cost, seconds=6.0)
