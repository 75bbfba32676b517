"""Generates stitch datasets by OGBench's protocol: many short walks, each to a cell four cells away.

Every episode has its own seed, so a file depends on its recipe alone: not on the number of workers, not on
interruptions. Generating seeds the global `np.random`, in this process too when there is one worker.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chronoforest.collect.expert import load_expert
from chronoforest.data.episodes import load, write_arrays
from chronoforest.envs.mazes import CELL_SIZE, NEIGHBOURS, ORIGIN_OFFSET, Cell, Maze, cell_centre
from chronoforest.envs.tasks import Env, make_env, seeded_reset, world
from chronoforest.errors import CannotWrite, InvalidParameter
from chronoforest.files import DAMAGE, locked
from chronoforest.processes import deaf_children, end_with
from chronoforest.types import FloatArray, IntArray

GOAL_CELLS = 4
"""BFS cells between an episode's start and its goal."""

EPISODE_STEPS = 201
CHUNK_EPISODES = 50
SPLITS = ("train", "val")
DRAW_STREAM, ENV_STREAM = 0, 1

Arrays = dict[str, NDArray[Any]]
Progress = Callable[[int, int], None]
"""Called with the number of finished episodes and their total."""


class Expert(Protocol):
    """Walks a body in a direction; must be picklable."""

    @property
    def name(self) -> str:
        """What a file's metadata calls it."""
        ...

    @property
    def noise(self) -> float:
        """Standard deviation of the Gaussian noise added to its actions."""
        ...

    def __call__(self, proprioception: FloatArray, direction: FloatArray) -> FloatArray:
        """Observation without x, y [D - 2] and a unit direction [2] → action [A]."""
        ...


@dataclass(frozen=True)
class PointExpert:
    """The point's action is the direction itself."""

    name: str = "point"
    noise: float = 0.5

    def __call__(self, proprioception: FloatArray, direction: FloatArray) -> FloatArray:
        """The direction."""
        return direction


def expert_for(name: str, file: Path | None = None) -> Expert:
    """The expert that walks the body of a dataset: the one that ships, or another one's file."""
    return EXPERTS[world(name).body](file)


def _point_expert(file: Path | None) -> Expert:
    if file is not None:
        raise InvalidParameter(f"the point's expert is not learned, so {file} is of no use; leave it out")
    return PointExpert()


EXPERTS: dict[str, Callable[[Path | None], Expert]] = {"point": _point_expert, "ant": load_expert}
"""What loads the expert of each body."""


@dataclass(frozen=True)
class Recipe:
    """All that determines a generated file."""

    name: str
    split: str
    num_episodes: int
    seed: int
    expert: Expert

    def __post_init__(self) -> None:
        world(self.name)
        if self.split not in SPLITS:
            raise InvalidParameter(f"split must be one of {', '.join(SPLITS)}, got {self.split!r}")
        if self.num_episodes < 1:
            raise InvalidParameter(f"a dataset needs at least one episode, got {self.num_episodes}")
        if self.seed < 0:
            raise InvalidParameter(f"seed must not be negative, got {self.seed}")

    def metadata(self) -> dict[str, Any]:
        """What the file says about itself."""
        return {
            "generator": "chronoforest data generate",
            "protocol": f"OGBench stitch, {EPISODE_STEPS} steps, goal {GOAL_CELLS} cells away",
            "name": self.name,
            "split": self.split,
            "num_episodes": self.num_episodes,
            "seed": self.seed,
            "expert": self.expert.name,
            "noise": self.expert.noise,
            "versions": {package: version(package) for package in ("ogbench", "mujoco", "numpy")},
        }

    def streams(self, episode: int) -> tuple[np.random.Generator, int]:
        """The episode's own draws, and the seed of its reset."""
        entropy = (self.seed, SPLITS.index(self.split), episode)
        draws, resets = np.random.SeedSequence(entropy).spawn(2)
        return np.random.default_rng(draws), int(resets.generate_state(1)[0])


@dataclass(frozen=True)
class Oracle:
    """The shortest way through a maze as a table.

    next_cell: [rows, columns, rows, columns, 2], the cell after cell (i, j) on the way to cell (k, l); the
    cell itself at the goal, in walls and where there is no way. Equal to the environment's own
    `get_oracle_subgoal`, which searches the maze anew at every call and is slower than the physics.
    """

    next_cell: IntArray

    def direction(self, xy: FloatArray, goal: FloatArray) -> FloatArray:
        """Unit vector [2] from a point to the centre of the next cell."""
        offset = cell_centre(self.next_cell[_cell(xy) + _cell(goal)]) - xy
        unit: FloatArray = offset / (np.linalg.norm(offset) + 1e-6)
        return unit


@cache
def oracle(maze: Maze) -> Oracle:
    """Tabulate a maze once."""
    rows, columns = maze.is_wall.shape
    own = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"), axis=-1)
    table = np.tile(own[:, :, None, None], (1, 1, rows, columns, 1))
    for goal in _cells(maze):
        table[:, :, goal[0], goal[1]] = _toward(maze, goal, own)
    return Oracle(table)


def stitch_goals(maze: Maze, start: Cell) -> list[Cell]:
    """Cells exactly GOAL_CELLS away, or the start itself if there is none."""
    steps = maze.bfs(start)
    return [cell for cell in _cells(maze) if steps[cell] == GOAL_CELLS] or [start]


def record_episode(env: Env, recipe: Recipe, episode: int) -> Arrays:
    """One episode: the arrays of the official files, [EPISODE_STEPS, …], and its goal's place, [1, 2]."""
    maze = world(recipe.name).maze
    rng, reset_seed = recipe.streams(episode)
    start = _pick(rng, _cells(maze))
    goal = _pick(rng, stitch_goals(maze, start))
    first = seeded_reset(env, reset_seed, {"task_info": {"init_ij": start, "goal_ij": goal}})
    noise = rng.normal(0.0, recipe.expert.noise, (EPISODE_STEPS, *env.action_space.shape))
    walk = _walk(env.unwrapped, oracle(maze), recipe.expert, first.observation, noise)
    return walk | {"goals": first.goal[None].astype(np.float32)}


def generate(
    recipe: Recipe, out: Path, workers: int | None = None, on_progress: Progress | None = None
) -> bool:
    """Write the recipe's dataset to `out`; False if it was there already.

    Finished chunks wait in `<out>.parts/` until the file is complete, so an interrupted call continues.
    A file that another recipe made is never overwritten.
    """
    with locked(out):
        if out.exists():
            _refuse_foreign(out, recipe)
            return False
        chunks = _chunks(recipe, _parts_folder(out))
        for num_done in _record_chunks(chunks, workers):
            if on_progress is not None:
                on_progress(num_done, recipe.num_episodes)
        write_arrays(out, _joined(chunks) | {"metadata": np.array(json.dumps(recipe.metadata()))})
        shutil.rmtree(_parts_folder(out))
        return True


@dataclass(frozen=True)
class _Chunk:
    """Episodes first … last - 1 of a recipe and the file where they wait."""

    recipe: Recipe
    first: int
    last: int
    path: Path

    def read(self) -> Arrays | None:
        """The stored arrays; None when they are missing or damaged."""
        try:
            with np.load(self.path) as file:
                arrays = {key: file[key] for key in file}
            num_episodes = self.last - self.first
            is_whole = len(arrays["terminals"]) == num_episodes * EPISODE_STEPS
            return arrays if is_whole and len(arrays["goals"]) == num_episodes else None
        except DAMAGE:
            return None


def _chunks(recipe: Recipe, folder: Path) -> list[_Chunk]:
    # The digest keeps parts of another recipe (other seed, other expert, other MuJoCo) from being mixed in;
    # the number of episodes is left out because a longer run may well use a shorter one's parts.
    facts = {key: value for key, value in recipe.metadata().items() if key != "num_episodes"}
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]
    firsts = range(0, recipe.num_episodes, CHUNK_EPISODES)
    spans = [(first, min(first + CHUNK_EPISODES, recipe.num_episodes)) for first in firsts]
    return [_Chunk(recipe, a, b, folder / f"{digest}-{a:06}-{b:06}.npz") for a, b in spans]


def _record_chunks(chunks: list[_Chunk], workers: int | None) -> Iterator[int]:
    """Record what is missing on all cores; yields the number of episodes that are finished."""
    from joblib import Parallel, delayed

    pending = [chunk for chunk in chunks if chunk.read() is None]
    num_done = chunks[-1].last - _num_episodes(pending)
    yield num_done
    # One thread per worker is joblib's default when the workers fill the cores.
    parallel = Parallel(n_jobs=_num_workers(workers, len(pending)), return_as="generator", batch_size=1)
    with deaf_children():
        recorded = parallel(delayed(_record_chunk)(chunk, os.getpid()) for chunk in pending)
    for chunk, _ in zip(pending, recorded, strict=True):
        num_done += _num_episodes([chunk])
        yield num_done


def _num_workers(workers: int | None, num_chunks: int) -> int:
    from joblib import cpu_count

    if workers is not None and workers < 1:
        raise InvalidParameter(f"workers must be at least 1, got {workers}")
    return max(1, min(workers or cpu_count(), num_chunks))


def _record_chunk(chunk: _Chunk, parent: int) -> None:
    end_with(parent)
    env = _env(chunk.recipe.name)
    episodes = [record_episode(env, chunk.recipe, k) for k in range(chunk.first, chunk.last)]
    write_arrays(chunk.path, _concatenated(episodes))


@cache
def _env(name: str) -> Env:
    """One environment per process: building it costs as much as several episodes."""
    return make_env(name, max_episode_steps=EPISODE_STEPS, terminate_at_goal=False)


def _walk(env: Env, way: Oracle, expert: Expert, observation: FloatArray, noise: FloatArray) -> Arrays:
    """Follow the oracle for len(noise) steps in an unwrapped environment.

    After a portal the returned observation is still the one before it while the body is already elsewhere;
    the official recordings have that delay too, so the expert sees the body and the file the observation.
    """
    rows: list[tuple[Any, ...]] = []
    for step_noise in noise:
        direction = way.direction(env.get_xy(), env.cur_goal_xy)
        action = np.clip(expert(env.get_ob()[2:], direction) + step_noise, -1.0, 1.0)
        next_observation, _, _, _, info = env.step(action)
        rows.append((observation, action, info["prev_qpos"], info["prev_qvel"]))
        observation = next_observation
    columns = zip(("observations", "actions", "qpos", "qvel"), zip(*rows, strict=True), strict=True)
    arrays: Arrays = {key: np.array(values, dtype=np.float32) for key, values in columns}
    return arrays | {"terminals": np.arange(len(noise)) == len(noise) - 1}


def _toward(maze: Maze, goal: Cell, own: IntArray) -> IntArray:
    """[rows, columns, 2] best neighbour of every cell; ties go to the first, as in OGBench."""
    steps = maze.bfs(goal)
    candidates = [own] + [own + np.array(move) for move in NEIGHBOURS]
    scores = [steps] + [_steps_at(maze, steps, cells) for cells in candidates[1:]]
    best = np.argmin(scores, axis=0)
    chosen: IntArray = np.take_along_axis(np.stack(candidates), best[None, :, :, None], axis=0)[0]
    return chosen


def _steps_at(maze: Maze, steps: IntArray, cells: IntArray) -> IntArray:
    """Steps at the given cells; very many in a wall or off the map, so that nobody walks there."""
    limit = np.array(maze.is_wall.shape) - 1
    i, j = np.moveaxis(np.clip(cells, 0, limit), -1, 0)
    is_closed = maze.is_wall[i, j] | (np.clip(cells, 0, limit) != cells).any(axis=-1)
    return np.where(is_closed, steps.size, steps[i, j])


def _cell(xy: FloatArray) -> Cell:
    # Plain numbers: this runs twice per step, where NumPy's overhead on two numbers would show.
    half = ORIGIN_OFFSET + CELL_SIZE / 2
    return int((xy[1] + half) / CELL_SIZE), int((xy[0] + half) / CELL_SIZE)


def _cells(maze: Maze) -> list[Cell]:
    return [(int(i), int(j)) for i, j in maze.free_cells]


def _pick(rng: np.random.Generator, cells: list[Cell]) -> Cell:
    return cells[int(rng.integers(len(cells)))]


def _concatenated(parts: Iterable[Arrays]) -> Arrays:
    parts = list(parts)
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _joined(chunks: list[_Chunk]) -> Arrays:
    parts = [chunk.read() for chunk in chunks]
    if any(part is None for part in parts):
        raise CannotWrite(f"parts vanished from {chunks[0].path.parent} while they were needed")
    return _concatenated(part for part in parts if part is not None)


def _num_episodes(chunks: list[_Chunk]) -> int:
    return sum(chunk.last - chunk.first for chunk in chunks)


def _parts_folder(out: Path) -> Path:
    return out.with_name(out.name + ".parts")


def _refuse_foreign(out: Path, recipe: Recipe) -> None:
    if load(out).metadata != recipe.metadata():
        raise CannotWrite(
            f"{out} exists and was made otherwise; move it away or choose another folder to generate "
            f"{recipe.name} (seed {recipe.seed}, {recipe.num_episodes} episodes)"
        )
