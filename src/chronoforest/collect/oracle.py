"""The way through a maze that experts are told while datasets are recorded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from chronoforest.envs.mazes import CELL_SIZE, NEIGHBOURS, ORIGIN_OFFSET, Cell, Maze, cell_centre
from chronoforest.types import FloatArray, IntArray

GOAL_CELLS = 4
"""BFS cells between an episode's start and its goal."""


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
    for goal in free_cells(maze):
        table[:, :, goal[0], goal[1]] = _toward(maze, goal, own)
    return Oracle(table)


def stitch_goals(maze: Maze, start: Cell) -> list[Cell]:
    """Cells exactly GOAL_CELLS away, or the start itself if there is none."""
    steps = maze.bfs(start)
    return [cell for cell in free_cells(maze) if steps[cell] == GOAL_CELLS] or [start]


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


def free_cells(maze: Maze) -> list[Cell]:
    """Cells that are no walls, by row."""
    return [(int(i), int(j)) for i, j in maze.free_cells]
