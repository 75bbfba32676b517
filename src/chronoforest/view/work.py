"""What jobs do: plan and tell every round, walk a plan and tell every agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from chronoforest.errors import InvalidParameter
from chronoforest.execution.journey import walk_plan
from chronoforest.execution.rollout import Rollout
from chronoforest.execution.route import WalkingPlanner
from chronoforest.patience import checked
from chronoforest.planning.planner import MaxRounds, Planner
from chronoforest.planning.result import PlanResult
from chronoforest.planning.variants import VARIANTS
from chronoforest.routing.solver import AutoSolver
from chronoforest.search.memory import ForestMemory
from chronoforest.types import Problem, RoundStats, Snapshot
from chronoforest.view.bodies import Body
from chronoforest.view.jobs import Job, Work
from chronoforest.view.requests import PlanRequest
from chronoforest.view.rounds import RoundEncoder, decimals_for, dumps, flat


@dataclass(frozen=True)
class Planned:
    """What is kept of a plan, so that it can be walked."""

    planner: Planner
    result: PlanResult
    memory: ForestMemory


def require_planned(job: Job) -> Planned:
    """What a finished plan left behind."""
    if not isinstance(job.outcome, Planned):
        raise InvalidParameter(f"{job.id} is not a finished plan; it is {job.state}")
    return job.outcome


def planning(planner: Planner, request: PlanRequest) -> Work:
    """Work that plans; tells `start` with the guess that it begins with, `round` after every round, the first
    of which may be a whole plan already, and `plan`, a plan.json, at the end."""
    problem = request.problem()
    planner.check(problem, seed=request.seed, variant=request.variant)

    def work(job: Job) -> Planned:
        encoder, memory = RoundEncoder(decimals_for(planner.models.support.cell)), ForestMemory()

        def on_snapshot(snapshot: Snapshot) -> None:
            job.check()
            kind = "start" if snapshot.stats.round_index < 0 else "round"
            job.tell(kind, dumps(encoder.encode(snapshot)))

        if VARIANTS[request.variant].uses_roadmap:
            for guess in first_guess(planner, problem):
                on_snapshot(guess)
        with checked(job.check):
            result = planner.plan(
                problem,
                seed=request.seed,
                variant=request.variant,
                stop=request.budget.stop() if request.budget else None,
                on_snapshot=on_snapshot,
                memory=memory,
            )
        job.tell("plan", result.to_json())
        return Planned(planner, result, memory)

    return work


def first_guess(planner: Planner, problem: Problem) -> Iterator[Snapshot]:
    """The order that the learned distance alone would take, which is what `temporal-fixed` keeps; the roadmap
    corrects it before the first round. None where solving it would take longer than a glance."""
    solver, problem = AutoSolver(), problem.moved(planner.frame.to_local)
    if not 0 < problem.num_waypoints <= solver.max_exact:
        return
    distance = planner.models.distance
    codes = distance.encode(problem.anchors)
    cost = distance.pairwise(codes, codes)
    route = solver(cost, problem, None)
    stats = RoundStats(-1, route, route.cost(cost), (), (), 0, 0, 0.0)
    yield Snapshot(problem, stats, trees=(), bridge_cost=cost, meetings={}, paths={})


def walking(planned: Planned) -> Work:
    """Work that walks every agent in its environment; tells `agent` for each.

    The planner must be a `WalkingPlanner`; `ServedPreset.why_no_walk` says whether it is.
    """

    def work(job: Job) -> None:
        planner, result = cast("WalkingPlanner", planned.planner), planned.result
        body = Body()
        with checked(job.check):
            for agent, rollout in enumerate(walk_plan(planner, result, planned.memory, seed=result.seed)):
                job.check()
                job.tell("agent", dumps({"agent": agent, **_walk(rollout), "limbs": body.limbs(rollout)}))

    return work


def warming_up(planners: Iterable[Planner], places: dict[str, Any]) -> Work:
    """Work that plans one round in every mode and throws it away, so that the first real plan does not wait
    for imports."""

    def work(job: Job) -> None:
        problem = Problem(places["starts"], places["goals"], places["waypoints"])
        with checked(job.check):
            for planner in planners:
                planner.plan(problem, stop=MaxRounds(1))

    return work


def _walk(rollout: Rollout) -> dict[str, Any]:
    return {
        "xy": flat(rollout.xy),
        "visits": [
            [step, *flat(place)] for step, place in zip(rollout.visit_steps, rollout.visited, strict=True)
        ],
        "replans": list(rollout.replan_steps),
        "steps": rollout.steps,
        "success": rollout.success,
        "summary": rollout.summary(),
    }
