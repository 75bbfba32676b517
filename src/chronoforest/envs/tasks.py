"""OGBench environments by dataset name, and resets that a seed determines completely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chronoforest.envs.mazes import Maze, maze
from chronoforest.envs.simulator import import_mujoco
from chronoforest.errors import InvalidParameter, InvalidProblem, UnknownEnvironment
from chronoforest.modules import optional
from chronoforest.types import FloatArray

BODIES = ("point", "ant")
MAZES = ("medium", "large", "giant", "teleport")

Env = Any
"""A gymnasium environment made by `make_env`."""


@dataclass(frozen=True)
class World:
    """What a dataset name such as `pointmaze-giant-stitch-v0` stands for."""

    name: str
    body: str
    maze_name: str

    @property
    def environment_id(self) -> str:
        """The registered environment: the dataset's name without its kind of data."""
        return f"{self.body}maze-{self.maze_name}-v0"

    @property
    def maze(self) -> Maze:
        """The map."""
        return maze(self.maze_name)


@dataclass(frozen=True)
class Start:
    """What a reset gives: observation [observation_dim] and the goal's place [2] in world units."""

    observation: FloatArray
    goal: FloatArray


WORLDS = {
    f"{body}maze-{kind}-stitch-v0": World(f"{body}maze-{kind}-stitch-v0", body, kind)
    for body in BODIES
    for kind in MAZES
}


def world(name: str) -> World:
    """Look a dataset name up."""
    if name not in WORLDS:
        raise UnknownEnvironment(name, choices=WORLDS)
    return WORLDS[name]


def make_env(
    name: str, *, max_episode_steps: int | None = None, terminate_at_goal: bool = True, **options: Any
) -> Env:
    """The environment of a dataset name; without `max_episode_steps` it has its registered cap of 1000."""
    environment_id = world(name).environment_id
    import_mujoco()
    gymnasium = optional("gymnasium", "sim")
    optional("ogbench", "sim")  # registers the environments

    if max_episode_steps is not None:
        options["max_episode_steps"] = max_episode_steps
    return gymnasium.make(environment_id, terminate_at_goal=terminate_at_goal, **options)


def seeded_reset(env: Env, seed: int, options: dict[str, Any]) -> Start:
    """Reset so that everything until the next reset follows from the seed and the actions.

    Seeds the *global* `np.random`, from which OGBench draws the jitter of start and goal and the exits of
    portals, and leaves it seeded; the environment's own generator and the action space follow too.
    """
    np.random.seed(seed)
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed, options=options)
    return Start(observation, np.array(env.unwrapped.cur_goal_xy, dtype=np.float64))


def reset_task(env: Env, task_id: int, seed: int) -> Start:
    """Start official task 1…5 with its jitter; seeds the global `np.random` (see `seeded_reset`)."""
    num_tasks = env.unwrapped.num_tasks
    if not 1 <= task_id <= num_tasks:
        raise InvalidParameter(f"task must be 1…{num_tasks}, got {task_id}")
    return seeded_reset(env, seed, {"task_id": task_id})


def reset_at(env: Env, start_xy: ArrayLike, goal_xy: ArrayLike, seed: int) -> Start:
    """Start exactly at one free point with the goal exactly at another; seeds the global `np.random`."""
    start, goal = (_free_point(env, name, xy) for name, xy in (("start", start_xy), ("goal", goal_xy)))
    seeded_reset(env, seed, {"task_id": 1})
    env.unwrapped.set_goal(goal_xy=goal)
    env.unwrapped.set_xy(start)
    return Start(env.unwrapped.get_ob(), goal)


def _free_point(env: Env, name: str, xy: ArrayLike) -> FloatArray:
    point = np.array(xy, dtype=np.float64)
    if point.shape != (2,) or not np.isfinite(point).all():
        raise InvalidProblem(f"{name} must be a finite point [x, y], got {xy!r}")
    if env.unwrapped.maze_map[env.unwrapped.xy_to_ij(point)] != 0:
        raise InvalidProblem(f"{name} ({point[0]:g}, {point[1]:g}) lies in a wall")
    return point
