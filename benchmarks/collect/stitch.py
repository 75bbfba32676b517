"""Generates stitch datasets by OGBench's protocol: many short walks, each to a cell four cells away.

Every episode has its own seed, so a file depends on its recipe alone."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.collect.expert import Expert
from benchmarks.mazes import NEIGHBOURS, Cell, Maze, maze_of
from chronoforest.data.episodes import load, write_arrays
from chronoforest.engines import Engine, Places
from chronoforest.engines.local import LocalEngine
from chronoforest.envs.bodies import import_mujoco
from chronoforest.envs.maps import CELL_SIZE, ORIGIN_OFFSET, cell_centre
from chronoforest.envs.tasks import Env, make_env, seeded_reset, world
from chronoforest.errors import CannotWrite, InvalidParameter, WorkerDied
from chronoforest.files import DAMAGE, locked
from chronoforest.names import optional
from chronoforest.types import FloatArray, IntArray

GOAL_CELLS = 4  # BFS cells between an episode's start and its goal


@dataclass(frozen=True)
class Oracle:
    """The shortest way through a maze, `get_oracle_subgoal` as a table: next_cell is [rows, columns, rows,
    columns, 2], the cell after (i, j) on the way to (k, l), itself at the goal and where there is no way."""

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
    for goal in free_cells(maze):
        table[:, :, goal[0], goal[1]] = _toward(maze, goal, own)
    return Oracle(table)


def stitch_goals(maze: Maze, start: Cell) -> list[Cell]:
    """Cells exactly GOAL_CELLS away, or the start itself if there is none."""
    steps = maze.bfs(start)
    return [cell for cell in free_cells(maze) if steps[cell] == GOAL_CELLS] or [start]


def _toward(maze: Maze, goal: Cell, own: IntArray) -> IntArray:
    """[rows, columns, 2] best neighbour of every cell; ties go to the first, as in OGBench."""
    steps, limit = maze.bfs(goal), np.array(maze.is_wall.shape) - 1
    candidates, scores = [own], [steps]
    for move in NEIGHBOURS:  # very many steps in a wall or off the map, so that nobody walks there
        cells = own + np.array(move)
        inside = np.clip(cells, 0, limit)
        i, j = np.moveaxis(inside, -1, 0)
        is_closed = maze.is_wall[i, j] | (inside != cells).any(axis=-1)
        candidates.append(cells)
        scores.append(np.where(is_closed, steps.size, steps[i, j]))
    best = np.argmin(scores, axis=0)
    chosen: IntArray = np.take_along_axis(np.stack(candidates), best[None, :, :, None], axis=0)[0]
    return chosen


def _cell(xy: FloatArray) -> Cell:
    # Plain numbers: this runs twice per step, where NumPy's overhead on two numbers would show.
    half = ORIGIN_OFFSET + CELL_SIZE / 2
    return int((xy[1] + half) / CELL_SIZE), int((xy[0] + half) / CELL_SIZE)


def free_cells(maze: Maze) -> list[Cell]:
    """Cells that are no walls, by row."""
    return [(int(i), int(j)) for i, j in maze.free_cells]


EPISODE_STEPS = 201
CHUNK_EPISODES = 50
SPLITS = ("train", "val")

Arrays = dict[str, NDArray[Any]]
Progress = Callable[[int, int], None]  # called with the number of finished episodes and their total


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
        if not 1 <= self.num_episodes < 10**6:  # six digits name an episode in the files of its parts
            raise InvalidParameter(f"a dataset has 1 to 999999 episodes, got {self.num_episodes}")
        if self.seed < 0:
            raise InvalidParameter(f"seed must not be negative, got {self.seed}")

    def metadata(self) -> dict[str, Any]:
        """What the file says about itself."""
        return {
            # The command's former name: another one would make every file that is there a foreign one.
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


def record_episode(env: Env, recipe: Recipe, episode: int) -> Arrays:
    """One episode: the arrays of the official files, [EPISODE_STEPS, …], and its goal's place, [1, 2]."""
    maze = maze_of(recipe.name)
    rng, reset_seed = recipe.streams(episode)
    cells = free_cells(maze)
    start = cells[int(rng.integers(len(cells)))]
    goals = stitch_goals(maze, start)
    goal = goals[int(rng.integers(len(goals)))]
    first = seeded_reset(env, reset_seed, {"task_info": {"init_ij": start, "goal_ij": goal}})
    noise = rng.normal(0.0, recipe.expert.noise, (EPISODE_STEPS, *env.action_space.shape))
    walk = _walk(env.unwrapped, oracle(maze), recipe.expert, first.observation, noise)
    return walk | {"goals": first.goal[None].astype(np.float32)}


def generate(
    recipe: Recipe,
    out: Path,
    workers: int | None = None,
    on_progress: Progress | None = None,
    engine: Engine | None = None,
) -> bool:
    """Write the recipe's dataset to `out`; False if it was there already. Finished chunks wait in
    `<out>.parts/`, so an interrupted call continues; a file of another recipe is not overwritten."""
    import_mujoco()
    optional("ogbench", "sim")
    with locked(out):
        if out.exists():
            if load(out).metadata != recipe.metadata():
                raise CannotWrite(
                    f"{out} exists and was made otherwise; move it away or choose another folder to generate "
                    f"{recipe.name} (seed {recipe.seed}, {recipe.num_episodes} episodes)"
                )
            return False
        parts = out.with_name(out.name + ".parts")
        chunks = _chunks(recipe, parts)
        num_workers = optional("joblib", "sim").cpu_count() if workers is None else workers
        for num_done in _record_chunks(chunks, engine or LocalEngine(num_workers)):
            if on_progress is not None:
                on_progress(num_done, recipe.num_episodes)
        whole = [part for chunk in chunks if (part := chunk.read()) is not None]
        if len(whole) < len(chunks):
            raise CannotWrite(f"parts vanished from {parts} while they were needed")
        write_arrays(out, _concatenated(whole) | {"metadata": np.array(json.dumps(recipe.metadata()))})
        shutil.rmtree(parts)
        return True


@dataclass(frozen=True)
class _Chunk:
    """Episodes first … last - 1 of a recipe and the file where they wait."""

    recipe: Recipe
    first: int
    last: int
    path: Path

    @property
    def num_episodes(self) -> int:
        return self.last - self.first

    def read(self) -> Arrays | None:
        """The stored arrays; None when they are missing or damaged."""
        try:
            with np.load(self.path) as file:
                arrays = {key: file[key] for key in file}
            is_whole = len(arrays["terminals"]) == self.num_episodes * EPISODE_STEPS
            return arrays if is_whole and len(arrays["goals"]) == self.num_episodes else None
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


def _record_chunks(chunks: list[_Chunk], engine: Engine) -> Iterator[int]:
    """Record and write what is missing; yields the number of episodes that are finished."""
    pending = [chunk for chunk in chunks if chunk.read() is None]
    num_done = chunks[-1].last - sum(chunk.num_episodes for chunk in pending)
    yield num_done
    with closing(engine.answers(_record_chunk, pending)) as answers:
        for answer in answers:
            chunk = pending[answer.index]
            if answer.result is None:
                raise WorkerDied(
                    f"episodes {chunk.first} to {chunk.last - 1} cannot be recorded: {answer.failure}"
                )
            write_arrays(chunk.path, answer.result)
            num_done += chunk.num_episodes
            yield num_done


def _record_chunk(chunk: _Chunk, _: Places) -> Arrays:
    env = _env(chunk.recipe.name)
    return _concatenated([record_episode(env, chunk.recipe, k) for k in range(chunk.first, chunk.last)])


def _concatenated(parts: list[Arrays]) -> Arrays:
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


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
