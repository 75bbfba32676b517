"""Walk a route in the simulator and record what happened."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.envs.bodies import is_upside_down, pose_of, tilt
from chronoforest.envs.tasks import Env, Start
from chronoforest.errors import BadResult
from chronoforest.execution.righting import UPRIGHT_TILT, LegNames, Rocking, names_for, rock
from chronoforest.execution.route import (
    Cause,
    ExecutionParams,
    Place,
    ProgressWatch,
    Replan,
    Route,
    advance,
    retreat,
    subgoal,
    to_go,
    trouble,
)
from chronoforest.files import reading, write_text
from chronoforest.typed import from_plain
from chronoforest.types import FloatArray, Tracker

FORMAT = "chronoforest-rollout/1"

MAX_STEPS = 2000
"""The longer of the two caps that are reported; success within the official 1000 is read off the record."""

POSE_STRIDE = 2
"""Steps from one kept pose to the next: half of them show how a body walked."""


@dataclass(frozen=True, eq=False)
class Rollout:
    """What one agent did.

    xy: [steps + 1, 2] world units; paths: the plan it followed and one more [T, 2] per re-planning, made at
    `replan_steps`; visited: [k, 2] waypoints at `visit_steps`; missed: [j, 2] the others; cause: why it
    failed; seconds: wall clock, re-planning included; poses: [steps // 2 + 1, 15] of an ant at every second
    step, empty for a body that is a point.
    """

    xy: FloatArray
    cause: Cause
    paths: tuple[FloatArray, ...] = ()
    replan_steps: tuple[int, ...] = ()
    visited: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    visit_steps: tuple[int, ...] = ()
    missed: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    seconds: float = 0.0
    poses: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def success(self) -> bool:
        """Whether the environment reported success with every waypoint visited."""
        return self.cause == "none"

    @property
    def steps(self) -> int:
        """Environment steps taken."""
        return len(self.xy) - 1

    @property
    def num_replans(self) -> int:
        """New routes got on the way."""
        return len(self.replan_steps)

    @property
    def num_falls(self) -> int:
        """How often the body turned over from its feet, as far as the kept poses tell."""
        is_settled = is_upside_down(self.poses) | (tilt(self.poses) < UPRIGHT_TILT)
        is_down = is_upside_down(self.poses[is_settled])  # rocking, it leaves its back and falls on it again
        return int((is_down[1:] & ~is_down[:-1]).sum())

    @property
    def has_poses(self) -> bool:
        """Whether the body can be shown, not only its place."""
        return self.poses.size > 0

    def pose(self, step: int) -> FloatArray:
        """[15] at a step: the latest kept pose, moved to where the body is at the step itself."""
        pose = self.poses[step // POSE_STRIDE].copy()
        pose[:2] = self.xy[step]
        return pose

    def success_within(self, cap: int) -> bool:
        """Whether it succeeded in at most that many steps."""
        return self.success and self.steps <= cap

    def summary(self) -> str:
        """One line for people."""
        state = "arrived" if self.success else f"failed ({self.cause})"
        num_waypoints = len(self.visited) + len(self.missed)
        visits = f", {len(self.visited)}/{num_waypoints} waypoints" if num_waypoints else ""
        return f"{state} after {self.steps} steps{visits}, {self.num_replans} re-plannings"


def walk(
    env: Env,
    start: Start,
    route: Route | None,
    tracker: Tracker,
    replan: Replan | None = None,
    params: ExecutionParams | None = None,
) -> Rollout:
    """Follow a route from a fresh reset until the environment reports success or its step cap is reached.

    Success counts once every waypoint is visited, so an environment for a route with waypoints must not end
    at the goal (`make_env(…, terminate_at_goal=False)`).
    """
    if route is None:
        here = start.observation[None, :2].astype(np.float64)
        return Rollout(here, "no plan", poses=pose_of(start.observation)[None])
    began = time.perf_counter()
    agent = _Agent(start, route, tracker, replan, params or ExecutionParams())
    while agent.cause is None:
        agent.step(env)
    return agent.record(time.perf_counter() - began)


def save_rollouts(path: str | Path, rollouts: Sequence[Rollout]) -> None:
    """Write JSON, complete or not at all."""
    write_text(path, json.dumps({"format": FORMAT, "agents": [_to_dict(r) for r in rollouts]}))


def load_rollouts(path: str | Path) -> tuple[Rollout, ...]:
    """Read what `save_rollouts` wrote."""
    with reading(path, "a saved rollout", BadResult):
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        if values["format"] != FORMAT:
            raise BadResult(f"it has format {values['format']!r}, expected {FORMAT!r}")
        return tuple(_from_dict(agent) for agent in values["agents"])


@dataclass
class _Agent:
    """A walk in progress."""

    start: Start
    route: Route
    tracker: Tracker
    replan: Replan | None
    params: ExecutionParams
    place: Place = field(default_factory=Place)
    progress: ProgressWatch = field(default_factory=ProgressWatch)
    cause: Cause | None = None
    num_attempts: int = 0
    asked_at: int = 0
    rocking: Rocking | None = None
    names: LegNames | None = None

    def __post_init__(self) -> None:
        self.observation = self.start.observation
        self.track = [self.observation[:2].astype(np.float64)]
        self.poses = [pose_of(self.observation)]
        self.paths = [self.route.path]
        self.replan_steps: list[int] = []
        self.visited: list[FloatArray] = []
        self.visit_steps: list[int] = []
        self._locate()

    @property
    def now(self) -> int:
        """Steps taken."""
        return len(self.track) - 1

    def step(self, env: Env) -> None:
        """Aim, act, look around, and recover when something is wrong."""
        action = np.clip(self._action(), env.action_space.low, env.action_space.high)
        self.observation, _, _, is_out_of_steps, info = env.step(action)
        self.track.append(self.observation[:2].astype(np.float64))
        pose = pose_of(self.observation)
        if self.now % POSE_STRIDE == 0:
            self.poses.append(pose)
        before, self.rocking = self.rocking, rock(pose, self.rocking)
        if before is not None and self.rocking is None:  # back on its feet it may face anywhere
            self.names = names_for(pose)
        self._locate()
        if info["success"] and not len(self._remaining()):
            self.cause = "none"
        elif is_out_of_steps:
            self.cause = "fallen" if is_upside_down(pose) else "out of steps"
        elif self.rocking is not None or is_upside_down(pose):
            # On its back it cannot follow any plan, so it asks for none before it is on its feet again.
            self.progress = replace(self.progress, gained_at=self.now)
        elif self.replan is not None and 0 < self.params.replan_every <= self.now - self.asked_at:
            self._plan_anew()
        else:
            self._recover()

    def record(self, seconds: float) -> Rollout:
        """What happened."""
        return Rollout(
            xy=np.array(self.track),
            cause=self.cause or "none",
            paths=tuple(self.paths),
            replan_steps=tuple(self.replan_steps),
            visited=np.array(self.visited).reshape(-1, 2),
            visit_steps=tuple(self.visit_steps),
            missed=self._remaining(),
            seconds=seconds,
            poses=np.array(self.poses),
        )

    def _action(self) -> FloatArray:
        """[A] toward the subgoal, or back on its feet."""
        if self.rocking is not None:
            return self.rocking.action
        if self.now < self.progress.back_until:
            aim = retreat(self.route, self.place, self.params)
        else:
            aim = subgoal(self.route, self.place, self.start.goal, self.params)
        ahead, effort = aim - self.track[-1], self.params.effort
        if self.names is None:
            return effort * self.tracker(self.observation, ahead)
        return effort * self.names.torques(self.tracker(self.names.observed(self.observation), ahead))

    def _locate(self) -> None:
        """Find the place on the route again and note visits and progress."""
        place = advance(self.route, self.place, self.track[-1], self.params)
        if place.num_visited > self.place.num_visited:
            self.visited.append(self.route.waypoints[self.place.num_visited])
            self.visit_steps.append(self.now)
        self.place = place
        self.progress = self.progress.updated(self.now, to_go(self.route, place, self.track[-1]), self.params)

    def _remaining(self) -> FloatArray:
        """[K, 2] waypoints still to visit."""
        return self.route.waypoints[self.place.num_visited :]

    def _recover(self) -> None:
        """Step back when nothing moves; plan anew when something is wrong; without a planner or after too
        many attempts, give up."""
        self.progress = self.progress.backing_off(self.now, self.params)
        cause = trouble(self.progress, self.route, self.place, self.track, self.params)
        if cause is None:
            return
        if self.replan is None or self.num_attempts == self.params.max_replans:
            self.cause = cause
            return
        self.num_attempts += 1
        self._plan_anew()

    def _plan_anew(self) -> None:
        """Follow a new route, or the old one for a while when there is no new one."""
        assert self.replan is not None
        self.asked_at = self.now
        route = self.replan(self.track[-1], self._remaining())
        if route is None:
            self.progress = self.progress.after_failed_replan(self.now, self.params)
            return
        self.route, self.place, self.progress = route, Place(), ProgressWatch(gained_at=self.now)
        self.paths.append(route.path)
        self.replan_steps.append(self.now)
        self._locate()


def _to_dict(rollout: Rollout) -> dict[str, Any]:
    return {
        "cause": rollout.cause,
        "success": rollout.success,
        "steps": rollout.steps,
        "seconds": rollout.seconds,
        "replan_steps": list(rollout.replan_steps),
        "visited": rollout.visited.tolist(),
        "visit_steps": list(rollout.visit_steps),
        "missed": rollout.missed.tolist(),
        "xy": np.round(rollout.xy, 5).tolist(),
        "poses": np.round(rollout.poses, 3).tolist() if rollout.has_poses else [],
        "paths": [np.round(path, 5).tolist() for path in rollout.paths],
    }


def _from_dict(values: Mapping[str, Any]) -> Rollout:
    stored = {one.name: values[one.name] for one in fields(Rollout) if one.name in values}
    rollout = from_plain(Rollout, stored)
    places = {name: getattr(rollout, name).reshape(-1, 2) for name in ("xy", "visited", "missed")}
    return replace(rollout, **places, paths=tuple(path.reshape(-1, 2) for path in rollout.paths))
