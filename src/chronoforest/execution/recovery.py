"""When following fails: noticing drift, jumps and standstill, and planning anew from where the agent is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, Protocol

import numpy as np

from chronoforest.errors import InvalidProblem
from chronoforest.execution.route import BACK_STEPS, ExecutionParams, Place, Route, off_plan, route_of
from chronoforest.planning.result import PlanResult
from chronoforest.types import FloatArray, Problem

Cause = Literal["none", "no plan", "drift", "stuck", "fallen", "out of steps"]
"""Why a rollout failed; "none" when it did not."""

Replan = Callable[[FloatArray, FloatArray], Route | None]
"""Position [2] and the waypoints [K, 2] still to visit → a route from there, None when there is none."""


class PlansRoutes(Protocol):
    """The part of a planner that re-planning needs."""

    def plan(self, problem: Problem, *, seed: int = 0, memory: Any = None) -> PlanResult:
        """Routes for a problem; `memory` keeps trees whose anchors did not move from call to call."""
        ...


@dataclass(frozen=True)
class Watch:
    """What the agent remembers to notice trouble.

    least_to_go: the best it has come, in units, at step `gained_at`; quiet_until: drift is excused so long;
    back_until: it walks back so long.
    """

    least_to_go: float = np.inf
    gained_at: int = 0
    quiet_until: int = 0
    back_until: int = 0

    def updated(self, step: int, units_to_go: float, params: ExecutionParams) -> Watch:
        """Remember the step when it brought the agent clearly nearer to its goal."""
        if units_to_go > self.least_to_go - params.least_progress:
            return self
        return replace(self, least_to_go=units_to_go, gained_at=step)

    def backing_off(self, step: int, params: ExecutionParams) -> Watch:
        """Walk back for a moment when nothing was gained for a while.

        A learned tracker can come to rest in a pose that its own constant action keeps; asked for another
        direction it leaves it.
        """
        is_idle = 0 < params.idle_steps <= step - max(self.gained_at, self.back_until)
        return replace(self, back_until=step + BACK_STEPS) if is_idle else self

    def after_failed_replan(self, step: int, params: ExecutionParams) -> Watch:
        """Give the old route another chance before the next attempt."""
        return Watch(self.least_to_go, step, step + params.stuck_steps)


def trouble(
    watch: Watch, route: Route, place: Place, track: list[FloatArray], params: ExecutionParams
) -> Cause | None:
    """What is wrong, if anything; track: the positions [2] from step 0 to now."""
    step = len(track) - 1
    if _jumped(track, params.world.jump):
        return "drift"
    distance = off_plan(route, place, track[-1])
    if distance > params.drift and step >= watch.quiet_until:
        return "drift"
    if not route.is_complete and place.frame == len(route.path) - 1 and distance <= params.visit_radius:
        return "no plan"
    return "stuck" if step - watch.gained_at >= params.stuck_steps else None


def replanner(planner: PlansRoutes, goal: FloatArray, *, seed: int = 0, memory: Any = None) -> Replan:
    """Re-planning for one agent by a planner, always online; every call has a seed of its own.

    With the `memory` of the first plan, the trees of the goal and the waypoints are used again and only the
    new start has to grow one.
    """
    seeds = count(seed + 1)

    def replan(position: FloatArray, remaining: FloatArray) -> Route | None:
        try:
            result = planner.plan(Problem([position], [goal], remaining), seed=next(seeds), memory=memory)
        except InvalidProblem:
            # An agent pressed against a wall can stand outside the data's support; its old route leads back.
            return None
        return route_of(result, 0)

    return replan


def _jumped(track: list[FloatArray], jump: float) -> bool:
    return len(track) > 1 and float(np.linalg.norm(track[-1] - track[-2])) > jump
