"""The problems of the Hamiltonian benchmark: waypoints whose best order the learned distance gets wrong.

A triple of free cells is a mismatch when the best joint route on raw d is not a best one on the maze's grid.
GapRel = (second-best − best) / best on the grid; its quantiles make the bins."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np

from benchmarks.mazes import Maze, maze_of
from benchmarks.problems import mismatches
from benchmarks.references import bfs_matrix, task_points
from benchmarks.trials import fingerprint
from chronoforest.envs.maps import cell_centre
from chronoforest.errors import BadResult, InvalidParameter
from chronoforest.files import reading, write_text
from chronoforest.typed import from_plain
from chronoforest.types import Distance, FloatArray, Problem

STORED = Path(__file__).with_name("hamiltonian.json")
FORMAT = "chronoforest-hamiltonian/1"

MARGINS = {"high": (0.75, 1.0), "medium": (0.5, 0.75), "low": (0.25, 0.5)}
"""Quantiles of GapRel between which the mismatches of a bin lie, by rank."""

GROUPS_PER_MARGIN = 2
SEED = 42

APART = 0.1
"""Units by which a goal is moved along x where another task starts in the same place: task 3 of the giant
maze ends where task 1 starts, and every anchor needs a place of its own."""


@dataclass(frozen=True)
class Instance:
    """A group of waypoints for one task or a pair of tasks.

    name: unique in its set; tasks: 1…5, one per agent; margin: its bin; gap: GapRel; waypoints: x, y.
    """

    name: str
    tasks: tuple[int, ...]
    margin: str
    gap: float
    waypoints: tuple[tuple[float, float], ...]

    def problem(self, maze: Maze) -> Problem:
        """The tasks without jitter and these waypoints."""
        starts, goals = agent_ends(maze, self.tasks)
        return Problem(starts, goals, self.waypoints)


@dataclass(frozen=True)
class InstanceSet:
    """The instances that one distance misjudges; weights: fingerprint of its file."""

    preset: str
    distance: str
    weights: str
    seed: int
    instances: tuple[Instance, ...]


def build(preset: str, recipe: str, distance: Distance, weights: Path, seed: int = SEED) -> InstanceSet:
    """Choose the instances of all tasks and of all pairs of tasks for a distance and its file of weights."""
    maze = maze_of(preset)
    numbers = range(1, len(maze.tasks) + 1)
    teams = [(task,) for task in numbers] + list(combinations(numbers, 2))
    chosen = tuple(instance for tasks in teams for instance in _choose(maze, tasks, distance, seed))
    return InstanceSet(preset, recipe, fingerprint(weights), seed, chosen)


def agent_ends(maze: Maze, tasks: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Starts and goals [M, 2] of some tasks, all in different places."""
    ends = task_points(maze)[np.array(tasks) - 1]
    starts, goals = ends[:, 0], ends[:, 1].copy()
    is_shared = (goals[:, None] == starts).all(axis=-1).any(axis=1)
    goals[is_shared, 0] += APART
    return starts, goals


def _choose(maze: Maze, tasks: tuple[int, ...], distance: Distance, seed: int) -> Iterator[Instance]:
    """Groups of every bin, drawn without replacement; the bins take turns."""
    starts, goals = agent_ends(maze, tasks)
    ends = np.array([maze.tasks[task - 1] for task in tasks]).reshape(-1, 2)
    is_end = (maze.free_cells[:, None] == ends).all(axis=-1).any(axis=1)
    places = cell_centre(maze.free_cells[~is_end])
    anchors = np.concatenate([starts, places, goals])
    triples, gaps = mismatches(anchors, len(tasks), distance, bfs_matrix(maze, anchors))
    rng = np.random.default_rng([seed, *tasks])
    shuffled = rng.permutation(len(gaps))  # lengths on a grid often tie, so equal gaps are ranked at random
    ranked, drawn = shuffled[np.argsort(gaps[shuffled], kind="stable")], {}
    for margin, shares in MARGINS.items():
        low, high = np.rint(np.array(shares) * len(gaps)).astype(int)
        rows = ranked[low:high]
        drawn[margin] = rng.choice(rows, min(GROUPS_PER_MARGIN, len(rows)), replace=False)
    for number, margin in product(range(GROUPS_PER_MARGIN), MARGINS):
        for row in drawn[margin][number : number + 1]:
            waypoints = tuple((float(x), float(y)) for x, y in places[triples[row]])
            name = f"{'-'.join(map(str, tasks))}-{margin}-{number}"
            yield Instance(name, tasks, margin, round(float(gaps[row]), 6), waypoints)


def save(sets: Sequence[InstanceSet], path: Path = STORED) -> None:
    """Write instance sets as JSON, complete or not at all."""
    values = {"format": FORMAT, "sets": [asdict(one) for one in sets]}
    write_text(path, json.dumps(values, indent=1) + "\n")


def load(path: Path = STORED) -> tuple[InstanceSet, ...]:
    """Read what `save` wrote."""
    with reading(path, "a file of instances", BadResult):
        values = json.loads(path.read_text())
        if values["format"] != FORMAT:
            raise BadResult(f"it has format {values['format']!r}, expected {FORMAT!r}")
        return from_plain(tuple[InstanceSet, ...], values["sets"])


@cache
def stored_sets() -> dict[tuple[str, str], InstanceSet]:
    """The stored sets by preset and distance."""
    return {(one.preset, one.distance): one for one in load()}


def instance_set(preset: str, distance: str) -> InstanceSet:
    """The stored set that was chosen for a distance."""
    known = stored_sets()
    if (preset, distance) not in known:
        shown = ", ".join(f"{name} with distance {recipe}" for name, recipe in known)
        raise InvalidParameter(f"no instances for {preset} with distance {distance}; available: {shown}")
    return known[preset, distance]


def find(preset: str, distance: str, name: str) -> Instance:
    """A stored instance by its name."""
    for instance in instance_set(preset, distance).instances:
        if instance.name == name:
            return instance
    raise InvalidParameter(f"{preset} with distance {distance} has no instance {name!r}")
