"""Figures 1, 3 and 4: rounds of a search, walks beside the shortest ways over cells, routes of three orders.

The plans are those of the first group of every pair of tasks in suite `hamiltonian`, and the walks those of
the first episode of every giant task in suite `stitch`, with the same seeds; here their paths are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.instances import find, instance_set
from benchmarks.moments import outline, record_search, rounded
from benchmarks.suites.hamiltonian import COMPARED, instance_cases
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import task_cases
from chronoforest.bench.references import centre_path
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial, measure_plan, measure_walk, plan_problem, walk_case
from chronoforest.peers.choice import PlannerChoice
from chronoforest.types import Problem, Snapshot

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "antmaze-giant-stitch-v0"


def cases(_request: Request) -> list[Case]:
    """One walk of every task and one group of every pair; there is nothing to repeat."""
    walks = task_cases(Case("stitch", PlannerChoice(PRESET)), 1)
    return [*walks, *instance_cases(instance_set(PRESET, "own"), COMPARED, Request(1, 1), (2,))]


def run_figures(case: Case, planner: PresetPlanner) -> Trial:
    """Plan or walk, and keep what a picture needs."""
    return _KINDS[case.suite](case, planner)


def _walk(case: Case, planner: PresetPlanner) -> Trial:
    journey = walk_case(case, planner)
    (rollout,), problem = journey.rollouts, journey.result.problem
    measures = {
        "problem": _problem_values(problem),
        "reference": rounded(centre_path(case.maze, problem.starts[0], problem.goals[0])),
        "planned": [outline(path) for path in rollout.paths],
        "walked": outline(rollout.xy),
    }
    return Trial(case, measure_plan(journey.result, case.maze), measure_walk(rollout), measures=measures)


def _plan(case: Case, planner: PresetPlanner) -> Trial:
    problem = find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    snapshots: list[Snapshot] = []
    result = plan_problem(case, planner, problem, on_snapshot=snapshots.append)
    measures: dict[str, Any] = {
        "problem": _problem_values(problem),
        "paths": [outline(route.path) for route in result.routes],
    }
    if case.variant == "online":
        measures["search"] = record_search(snapshots, result)
    return Trial(case, measure_plan(result, case.maze), measures=measures)


_KINDS = {"stitch": _walk, "hamiltonian": _plan}


def _problem_values(problem: Problem) -> dict[str, Any]:
    parts = {"starts": problem.starts, "goals": problem.goals, "waypoints": problem.waypoints}
    return {name: rounded(points) for name, points in parts.items()}


SUITE = Suite("figures", "rounds, walks and routes in pictures", cases, run_figures, seconds=12.0)
