"""The moving subgoal: where an agent is on its route, and what it should walk toward."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Literal

import numpy as np

from chronoforest.errors import require_at_least, require_positive
from chronoforest.planning.planner import Planner
from chronoforest.planning.result import PlanResult
from chronoforest.types import FloatArray, Tracker, WorldParams

BACK_STEPS = 10
"""How long an agent that does not get on walks back."""


@dataclass(frozen=True)
class ExecutionParams:
    """How a plan is followed and when it is given up; lengths in world units, durations in steps.

    effort: share of the tracker's action that is used; look_ahead: the subgoal's lead on the nearest plan
    frame, along the plan; window: how far ahead that frame is looked for, so that a route that crosses itself
    is not cut short; visit_radius: a waypoint counts as visited; drift: farthest distance from the plan;
    stuck_steps: steps without progress that count as stuck; least_progress: what counts as progress along the
    plan; idle_steps: steps without progress after which the agent walks back for a moment, 0 for never;
    max_replans: attempts to plan anew because of trouble; replan_every: steps after which a new plan is asked
    for although nothing is wrong, 0 for never; world: says which step is a jump, as the preset does.
    """

    effort: float = 1.0
    look_ahead: float = 1.4
    window: float = 3.0
    visit_radius: float = 0.5
    drift: float = 2.0
    stuck_steps: int = 50
    least_progress: float = 0.5
    idle_steps: int = 0
    max_replans: int = 10
    replan_every: int = 0
    world: WorldParams = field(default_factory=WorldParams)

    def __post_init__(self) -> None:
        units = ("look_ahead", "window", "visit_radius", "drift", "least_progress")
        require_positive(self, "effort", "stuck_steps", *units)
        require_at_least(self, 0, "max_replans", "replan_every", "idle_steps")


class WalkingPlanner(Planner, ABC):
    """A planner that also knows how its body is walked; a preset's planner is one."""

    @property
    @abstractmethod
    def tracker(self) -> Tracker:
        """Observation and relative subgoal to action."""

    @property
    @abstractmethod
    def execution(self) -> ExecutionParams:
        """How plans are followed."""


@dataclass(frozen=True, eq=False)
class Route:
    """What one agent follows.

    path: [T, 2] world units, T ≥ 1; waypoints: [K, 2] in the order of the visits; stops: rows of `path` where
    the first of them are reached, all of them when `is_complete`, and then the path ends at the goal.
    """

    path: FloatArray
    waypoints: FloatArray
    stops: tuple[int, ...]
    is_complete: bool = True

    def __repr__(self) -> str:
        state = "" if self.is_complete else "incomplete, "
        return f"Route({state}{self.along[-1]:.1f} units, {len(self.waypoints)} waypoints)"

    @cached_property
    def along(self) -> FloatArray:
        """[T] length of the path up to each frame."""
        steps = np.linalg.norm(np.diff(self.path, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    def point_at(self, length: float) -> FloatArray:
        """[2] the place after that much of the path, its end beyond."""
        return np.array([np.interp(length, self.along, column) for column in self.path.T])


@dataclass(frozen=True)
class Place:
    """Where an agent is on its route: the nearest row of `path`, and how many waypoints it has visited."""

    frame: int = 0
    num_visited: int = 0


def route_of(result: PlanResult, agent: int) -> Route | None:
    """An agent's part of a plan as a route, as far as its legs are met; None without any path.

    What nobody visits is missed by the first agent: somebody has to try again, and to tell.
    """
    plan = result.routes[agent]
    if len(plan.path) == 0:
        return None
    num_met = len(list(takewhile(lambda leg: leg.is_met, plan.legs)))
    missed = result.left_out if agent == 0 else ()
    stops = plan.stops[1 : min(num_met + 1, len(plan.order) - 1)]
    rows = [result.problem.names.index(name) for name in (*plan.order[1:-1], *missed)]
    is_complete = num_met == len(plan.legs) and not missed
    return Route(plan.path, result.problem.anchors[rows], stops, is_complete)


def advance(route: Route, place: Place, position: FloatArray, params: ExecutionParams) -> Place:
    """Move to the nearest frame within the window ahead, never past a waypoint that is not visited yet."""
    if place.num_visited < len(route.stops):
        missing = np.linalg.norm(position - route.waypoints[place.num_visited])
        if missing <= params.visit_radius:
            return Place(route.stops[place.num_visited], place.num_visited + 1)
    reach = route.along[place.frame] + params.window
    ahead = int(np.searchsorted(route.along, reach, side="right")) - 1
    last = min([ahead, *route.stops[place.num_visited : place.num_visited + 1]])
    offsets = route.path[place.frame : last + 1] - position
    return Place(place.frame + int(np.argmin((offsets**2).sum(axis=1))), place.num_visited)


def subgoal(route: Route, place: Place, goal: FloatArray, params: ExecutionParams) -> FloatArray:
    """[2] the place to walk toward: ahead on the plan, the next waypoint itself or, at the end, the goal."""
    reach = route.along[place.frame] + params.look_ahead
    if place.num_visited < len(route.stops):
        if reach >= route.along[route.stops[place.num_visited]]:
            return route.waypoints[place.num_visited]
    elif route.is_complete and reach >= route.along[-1]:
        return goal
    return route.point_at(reach)


def retreat(route: Route, place: Place, params: ExecutionParams) -> FloatArray:
    """[2] the place to walk back toward: behind on the plan, as far as the subgoal is ahead."""
    return route.point_at(max(route.along[place.frame] - params.look_ahead, 0.0))


def to_go(route: Route, place: Place, position: FloatArray) -> float:
    """Units left: to the nearest frame and from there along the path."""
    return float(route.along[-1] - route.along[place.frame]) + off_plan(route, place, position)


def off_plan(route: Route, place: Place, position: FloatArray) -> float:
    """Units between the agent and its nearest frame."""
    return float(np.linalg.norm(position - route.path[place.frame]))


Cause = Literal["none", "no plan", "drift", "stuck", "fallen", "out of steps"]
"""Why a rollout failed; "none" when it did not."""

Replan = Callable[[FloatArray, FloatArray], Route | None]
"""Position [2] and the waypoints [K, 2] still to visit → a route from there, None when there is none."""


@dataclass(frozen=True)
class ProgressWatch:
    """What the agent remembers to notice trouble.

    least_to_go: the best it has come, in units, at step `gained_at`; quiet_until: drift is excused so long;
    back_until: it walks back so long.
    """

    least_to_go: float = np.inf
    gained_at: int = 0
    quiet_until: int = 0
    back_until: int = 0

    def updated(self, step: int, units_to_go: float, params: ExecutionParams) -> ProgressWatch:
        """Remember the step when it brought the agent clearly nearer to its goal."""
        if units_to_go > self.least_to_go - params.least_progress:
            return self
        return replace(self, least_to_go=units_to_go, gained_at=step)

    def backing_off(self, step: int, params: ExecutionParams) -> ProgressWatch:
        """Walk back for a moment when nothing was gained for a while.

        A learned tracker can come to rest in a pose that its own constant action keeps; asked for another
        direction it leaves it.
        """
        is_idle = 0 < params.idle_steps <= step - max(self.gained_at, self.back_until)
        return replace(self, back_until=step + BACK_STEPS) if is_idle else self

    def after_failed_replan(self, step: int, params: ExecutionParams) -> ProgressWatch:
        """Give the old route another chance before the next attempt."""
        return ProgressWatch(self.least_to_go, step, step + params.stuck_steps)


def trouble(
    progress: ProgressWatch, route: Route, place: Place, track: list[FloatArray], params: ExecutionParams
) -> Cause | None:
    """What is wrong, if anything; track: the positions [2] from step 0 to now."""
    step = len(track) - 1
    if step > 0 and np.linalg.norm(track[-1] - track[-2]) > params.world.jump:
        return "drift"
    distance = off_plan(route, place, track[-1])
    if distance > params.drift and step >= progress.quiet_until:
        return "drift"
    if not route.is_complete and place.frame == len(route.path) - 1 and distance <= params.visit_radius:
        return "no plan"
    return "stuck" if step - progress.gained_at >= params.stuck_steps else None
