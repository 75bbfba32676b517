"""Table 2 and Table 7: how long routes through misjudged waypoints are when their order is solved again.

`online` is compared with the order fixed on the raw distance and with the privileged one of the maze's grid,
on the stored instances of one agent and of two, for every distance that has instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.instances import InstanceSet, find, stored_sets
from benchmarks.probes import Growth, measure_probes
from chronoforest.bench.case import Case
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial, measure_plan, plan_problem
from chronoforest.envs.mazes import Maze
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.result import PlanResult
from chronoforest.types import FloatArray, Plan

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

COMPARED = ("online", "temporal-fixed", "graph-fixed")
REPEATS = 3


def cases(request: Request) -> list[Case]:
    """Every variant on every instance; `episodes` keeps the first groups of every task or pair."""
    return [
        case
        for chosen in stored_sets().values()
        for case in instance_cases(chosen, COMPARED, request, (1, 2))
    ]


def instance_cases(
    chosen: InstanceSet, variants: Sequence[str], request: Request, agents: Sequence[int]
) -> list[Case]:
    """The cases of some variants, which take turns; every repeat has a seed of its own."""
    teams = [list(group) for _, group in groupby(chosen.instances, key=lambda one: one.tasks)]
    return [
        Case(
            "hamiltonian",
            PlannerChoice(chosen.preset, distance=chosen.distance),
            one.tasks[0],
            repeat * len(team) + number,
            chosen.seed,
            variant,
            num_agents=len(one.tasks),
            num_waypoints=len(one.waypoints),
            instance=one.name,
        )
        for repeat in range(request.repeats or REPEATS)
        for team in teams
        if len(team[0].tasks) in agents
        for number, one in enumerate(team[: request.episodes or len(team)])
        for variant in variants
    ]


def run_instance(case: Case, planner: PresetPlanner) -> Trial:
    """Plan a stored problem and measure it against the map; nothing is walked."""
    problem = find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    growth = Growth()
    result = plan_problem(case, planner, problem, memory=growth, on_round=growth.on_round)
    measures = claims(result, case.maze)
    if case.variant == "online":
        measures["probes"] = measure_probes(growth, planner.models, case.maze)
    return Trial(case, measure_plan(result, case.maze), measures=measures)


def claims(result: PlanResult, maze: Maze) -> dict[str, Any]:
    """What a plan claims and what the map says about it: its certificate, and its legs that cross a wall."""
    is_met = [(leg.is_met, leg_path(route, k)) for route in result.routes for k, leg in enumerate(route.legs)]
    walls = [maze.crosses_wall(path) for met, path in is_met if met and len(path) > 1]
    finite = {name: _finite(value) for name, value in asdict(result.certificate).items()}
    return {"certificate": finite, "num_accepted": len(walls), "num_false": sum(walls)}


def leg_path(route: Plan, number: int) -> FloatArray:
    """The part of a route's path that is one leg; empty when the path ends before."""
    rows = route.stops[number : number + 2]
    return route.path[rows[0] : rows[1] + 1] if len(rows) == 2 else route.path[:0]


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


SUITE = Suite("hamiltonian", "routes through misjudged waypoints", cases, run_instance, seconds=12.0)
