"""Plan and walk: an official task for one agent, or any problem for several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from chronoforest.envs.tasks import Env, make_env, reset_at, reset_task
from chronoforest.errors import InvalidProblem
from chronoforest.execution.rollout import MAX_STEPS, Rollout, save_rollouts, walk
from chronoforest.execution.route import Replan, Route, WalkingPlanner, route_of
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.result import PlanResult
from chronoforest.planning.variants import Variant, find_variant
from chronoforest.search.tree import ForestMemory
from chronoforest.types import FloatArray, Problem, RoundObserver


@dataclass(frozen=True)
class Journey:
    """A plan and how each agent walked its part of it."""

    result: PlanResult
    rollouts: tuple[Rollout, ...]

    @property
    def success(self) -> bool:
        """Whether every agent arrived with all its waypoints visited."""
        return all(rollout.success for rollout in self.rollouts)

    def summary(self) -> str:
        """A few lines for people."""
        walks = [f"  agent {m + 1} {rollout.summary()}" for m, rollout in enumerate(self.rollouts)]
        return "\n".join([self.result.summary(), *walks])

    def save(self, folder: Path) -> None:
        """Write plan.json and rollout.json."""
        self.result.save(folder / "plan.json")
        save_rollouts(folder / "rollout.json", self.rollouts)


def walk_task(
    planner: WalkingPlanner,
    env: Env,
    task: int,
    *,
    seed: int,
    plan_seed: int | None = None,
    variant: str | Variant = DEFAULT_VARIANT,
    order: Sequence[Sequence[str]] | None = None,
    replans: bool = True,
) -> Journey:
    """The official protocol: reset to the jittered task by `seed`, plan, walk until success or the cap.

    Without `replans` the first trouble on the way ends the walk.
    Make the environment with a cap of MAX_STEPS: success within fewer steps can be read off the record.
    """
    memory, plan_seed = ForestMemory(), seed if plan_seed is None else plan_seed
    start = reset_task(env, task, seed)
    problem = Problem([start.observation[:2]], [start.goal])
    result = planner.plan(problem, seed=plan_seed, variant=variant, order=order, memory=memory)
    replan = (
        replanner(planner, start.goal, seed=plan_seed, memory=memory, variant=variant) if replans else None
    )
    rollout = walk(env, start, route_of(result, 0), planner.tracker, replan, planner.execution)
    return Journey(result, (rollout,))


def walk_problem(
    planner: WalkingPlanner,
    problem: Problem,
    *,
    seed: int = 0,
    variant: str | Variant = DEFAULT_VARIANT,
    on_round: RoundObserver | None = None,
    on_plan: Callable[[PlanResult], None] | None = None,
    max_steps: int = MAX_STEPS,
) -> Journey:
    """Plan for all agents, then walk each; on_plan: sees the plan before anybody walks."""
    memory = ForestMemory()
    result = planner.plan(problem, seed=seed, variant=variant, on_round=on_round, memory=memory)
    if on_plan is not None:
        on_plan(result)
    return Journey(result, tuple(walk_plan(planner, result, memory, seed=seed, max_steps=max_steps)))


def walk_plan(
    planner: WalkingPlanner,
    result: PlanResult,
    memory: ForestMemory,
    *,
    seed: int = 0,
    max_steps: int = MAX_STEPS,
) -> Iterator[Rollout]:
    """Walk each agent's part alone in its own environment, one after the other.

    Agents do not collide: they never see each other, as in the plan. `memory` holds the trees of the plan,
    for planning anew on the way.
    """
    problem = result.problem
    # Success only counts after the waypoints, so passing the goal early must not end the episode.
    env = make_env(result.preset, max_episode_steps=max_steps, terminate_at_goal=False)
    for agent, (origin, goal) in enumerate(zip(problem.starts, problem.goals, strict=True)):
        start = reset_at(env, origin, goal, seed)
        replan = replanner(planner, goal, seed=seed, memory=memory, variant=result.variant, asked=problem)
        yield walk(env, start, route_of(result, agent), planner.tracker, replan, planner.execution)


def replanner(
    planner: WalkingPlanner,
    goal: FloatArray,
    *,
    seed: int = 0,
    memory: ForestMemory | None = None,
    variant: str | Variant = DEFAULT_VARIANT,
    asked: Problem | None = None,
) -> Replan:
    """Re-planning for one agent with the variant of the first plan; every call has a seed of its own.

    With the `memory` of the first plan, the trees of the goal and the waypoints are used again and only the
    new start has to grow one. asked: the problem of the first plan, whose first and last stops stay so.
    """
    seeds = count(seed + 1)
    rules = (
        {tuple(place): rule for place, (_, rule) in zip(asked.waypoints, asked.rules, strict=True)}
        if asked
        else {}
    )

    def replan(position: FloatArray, remaining: FloatArray) -> Route | None:
        try:
            fix = [(None, rules.get(tuple(place), "")) for place in remaining]
            problem = Problem([position], [goal], remaining, fix=fix)
            # A variant that is given its order keeps what is left of it.
            waypoints = [problem.names[row] for row in problem.waypoint_indices]
            order = [["S1", *waypoints, "G1"]] if find_variant(variant).needs_order else None
            result = planner.plan(problem, seed=next(seeds), memory=memory, variant=variant, order=order)
        except InvalidProblem:
            # An agent pressed against a wall can stand outside the data's support; its old route leads back.
            return None
        return route_of(result, 0)

    return replan
