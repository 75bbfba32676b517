"""Many problems in one request: checked together, planned together, told as they finish."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from chronoforest.errors import ChronoForestError, InvalidProblem
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.patience import checked
from chronoforest.types import Problem
from chronoforest.view.jobs import Job, Work
from chronoforest.view.requests import MAX_SEED, Budget, Name, PlanRequest, Points, StrictMessage

if TYPE_CHECKING:
    from chronoforest.planning.planner import Planner

MAX_PROBLEMS = 100
"""Of one request: its plans stay in memory until it is forgotten."""

Seed = Annotated[int, Field(strict=True, ge=0, le=MAX_SEED)]


class OneOfMany(StrictMessage):
    """Who starts where, must end where, and what somebody has to visit."""

    starts: Points
    goals: Points
    waypoints: Annotated[Points, Field(default_factory=list)]
    seed: Annotated[Seed | None, Field(description="that of the request unless told")] = None


class PlansRequest(StrictMessage):
    """Problems, and how to plan for all of them."""

    problems: Annotated[list[OneOfMany], Field(min_length=1, max_length=MAX_PROBLEMS)]
    variant: Annotated[Name, Field(description="one of those in /api/world")] = DEFAULT_VARIANT
    mode: Literal["default", "fast"] = "default"
    seed: Seed = 0
    budget: Annotated[Budget | None, Field(description="of each problem")] = None
    preset: Annotated[Name | None, Field(description="refused when it is not the one served")] = None
    session: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = "default"

    def requests(self) -> list[PlanRequest]:
        """Each problem as a request of its own."""
        shared = {name: getattr(self, name) for name in ("variant", "mode", "budget", "preset", "session")}
        return [
            PlanRequest(
                starts=one.starts,
                goals=one.goals,
                waypoints=one.waypoints,
                seed=self.seed if one.seed is None else one.seed,
                **shared,
            )
            for one in self.problems
        ]


def planning_many(planner: Planner, request: PlansRequest) -> Work:
    """Work that plans; tells `plan` with the number of a problem and its plan.json, or `refused` with the
    number and the reason, as they finish."""
    asked = request.requests()
    problems = [_problem(number, one) for number, one in enumerate(asked)]
    stop = None if request.budget is None else request.budget.stop()
    planned = planner.plan_each(problems, [one.seed for one in asked], stop=stop, variant=request.variant)

    def work(job: Job) -> None:
        with checked(job.check):
            for number, outcome in planned:
                job.check()
                if isinstance(outcome, ChronoForestError):
                    job.tell("refused", json.dumps({"number": number, "error": str(outcome)}))
                else:
                    job.tell("plan", f'{{"number":{number},"plan":{outcome.to_json()}}}')

    return work


def _problem(number: int, request: PlanRequest) -> Problem:
    try:
        return request.problem()
    except InvalidProblem as error:
        raise InvalidProblem(f"problems[{number}]: {error}") from error
