"""OGBench environments by dataset name, and resets that a seed determines completely."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chronoforest.data.episodes import load
from chronoforest.envs.bodies import import_mujoco
from chronoforest.envs.maps import MAPS
from chronoforest.errors import FetchFailed, InvalidParameter, InvalidProblem, UnknownEnvironment
from chronoforest.names import optional
from chronoforest.types import FloatArray

NUM_TASKS = 5
"""Official tasks of every maze."""

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


@dataclass(frozen=True)
class Start:
    """What a reset gives: observation [observation_dim] and the goal's place [2] in world units."""

    observation: FloatArray
    goal: FloatArray


WORLDS = {
    f"{body}maze-{kind}-stitch-v0": World(f"{body}maze-{kind}-stitch-v0", body, kind)
    for body in ("point", "ant")
    for kind in MAPS
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


def check_task(task: int) -> None:
    """Refuse a number that no official task has."""
    if not 1 <= task <= NUM_TASKS:
        raise InvalidParameter(f"task must be 1…{NUM_TASKS}, got {task}")


def reset_task(env: Env, task_id: int, seed: int) -> Start:
    """Start official task 1…5 with its jitter; seeds the global `np.random` (see `seeded_reset`)."""
    check_task(task_id)
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


CONNECT_SECONDS = 5.0
STALL_SECONDS = 60.0


def fetch(name: str, out_dir: Path) -> list[Path]:
    """Download and check the training and validation file; fails within seconds without a network."""
    world(name)
    paths = [out_dir / f"{name}.npz", out_dir / f"{name}-val.npz"]
    if not all(path.exists() for path in paths):
        _download(name, out_dir)
    for path in paths:
        load(path)
    return paths


def _download(name: str, out_dir: Path) -> None:
    ogbench, url = optional("ogbench", "sim"), optional("ogbench.utils", "sim").DATASET_URL
    if not _can_reach(f"{url}/{name}-val.npz"):
        raise FetchFailed(_advice(name, f"{url} cannot be reached"))
    try:
        with _stalls_fail():
            ogbench.download_datasets([name], str(out_dir))
    except OSError as error:
        raise FetchFailed(_advice(name, f"the download broke off ({error})")) from error


def _can_reach(url: str) -> bool:
    """Whether the server answers in time; in a thread because looking a name up has no time limit."""
    answers: list[bool] = []

    def ask() -> None:
        request = urllib.request.Request(url, method="HEAD")
        try:
            with urllib.request.urlopen(request, timeout=CONNECT_SECONDS):
                answers.append(True)
        except OSError:
            answers.append(False)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS)
    return answers == [True]


@contextmanager
def _stalls_fail() -> Iterator[None]:
    """Let a connection that has gone silent raise instead of waiting for ever, which ogbench would."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(STALL_SECONDS)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _advice(name: str, reason: str) -> str:
    return f"{reason}; `python -m benchmarks generate {name}` records the same kind of data here"
