"""What the trials in worlds with one-way lanes share: who plans, and what is told of a plan."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chronoforest.bench.case import Case
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.planning.result import PlanResult
from chronoforest.types import Problem

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner


@dataclass(frozen=True)
class Contender:
    """A row: whose plans are measured."""

    label: str
    planner: str = CHRONOFOREST
    variant: str = "online"

    def case(self, suite: str, preset: str, **values: Any) -> Case:
        """A case of a suite for this planner."""
        return Case(suite, PlannerChoice(preset, planner=self.planner), variant=self.variant, **values)

    def is_of(self, case: Case) -> bool:
        """Whether a case belongs to the row."""
        return (case.choice.planner, case.variant) == (self.planner, self.variant)


CONTENDERS = (
    Contender("verified", variant="verified"),
    Contender("roadmap-only", variant="roadmap-only"),
    Contender("online"),
    Contender("paper", variant="paper"),
    Contender("dataset-graph", planner="dataset-graph"),
)


@dataclass(frozen=True)
class Timed:
    """A plan and the processor seconds it took, to the first plan and in all: on a machine that others use
    too the clock tells more of them than of a plan on one thread."""

    result: PlanResult
    first_work: float
    work: float


def plan(case: Case, planner: PresetPlanner, problem: Problem) -> Timed:
    """The plan of a case."""
    started, spent = time.process_time(), []
    result = planner.plan(
        problem,
        seed=case.seeds[1],
        variant=case.variant,
        on_round=lambda *_: spent.append(time.process_time() - started),
    )
    work = time.process_time() - started
    return Timed(result, spent[0] if spent else work, work)


def about(timed: Timed, shortest: float) -> dict[str, Any]:
    """What is told of any plan; shortest: units of the shortest recorded way."""
    result = timed.result
    legs = [leg for route in result.routes for leg in route.legs]
    return {
        "is_complete": result.complete,
        "length": result.length,
        "shortest": shortest,
        "first_seconds": result.rounds[0].seconds if result.rounds else result.seconds,
        "seconds": result.seconds,
        "first_work": timed.first_work,
        "work": timed.work,
        "num_verified": sum(leg.evidence == "verified" for leg in legs),
        "num_legs": len(legs),
    }
