"""Few recordings: plans between random places on models learned from 40, 100, 300 and 1000 of 5000.

The models come from `python -m benchmarks thin`. All planners see the same problems, whether their anchors
lie where something was recorded or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.suites.stitch import Contender
from benchmarks.thin import COUNTS, PRESET, folder_of
from chronoforest.bench.case import Case
from chronoforest.bench.problems import random_problem
from chronoforest.bench.protocol import random_cases
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial, measure_plan, plan_problem
from chronoforest.peers.choice import PlannerChoice
from chronoforest.types import RoundStats

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

EPISODES = 60


CONTENDERS = (
    Contender("verified", variant="verified"),
    Contender("roadmap-only", variant="roadmap-only"),
    Contender("online", variant="online"),
    Contender("paper", variant="paper"),
    Contender("dataset-graph", "dataset-graph"),
)


def cases(request: Request) -> list[Case]:
    """Every contender on every count, the same problems for all; repeats differ in the seed."""
    return [
        case
        for count in COUNTS
        for contender in CONTENDERS
        for repeat in range(request.repeats or 1)
        for case in random_cases(_template(count, contender, repeat), request.episodes or EPISODES)
    ]


def recorded(count: int) -> str:
    """How a case says what was learned from."""
    return f"recordings={count}"


def _template(count: int, contender: Contender, seed: int) -> Case:
    folder = folder_of(count)
    choice = PlannerChoice(PRESET, planner=contender.planner, weights=folder, data=folder)
    return Case("thin", choice, seed=seed, variant=contender.variant, change=recorded(count))


def plan_thin(case: Case, planner: PresetPlanner) -> Trial:
    """Plan, and tell when the first complete plan was there and how many legs are verified."""
    result = plan_problem(case, planner, random_problem(case))
    legs = [leg.evidence for route in result.routes for leg in route.legs]
    measures = {"first_seconds": _first(result.rounds), "evidence": legs}
    return Trial(case, measure_plan(result, case.maze), measures=measures)


def _first(rounds: tuple[RoundStats, ...]) -> float | None:
    """Seconds until every leg of the route was there; None where they never were."""
    whole = (stats.seconds for stats in rounds if set(stats.route.legs) <= set(stats.accepted))
    return next(whole, None)


SUITE = Suite("thin", "plans on what few recordings teach", cases, plan_thin, seconds=3.0)
