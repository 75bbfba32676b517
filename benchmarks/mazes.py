"""The OGBench mazes as plain geometry, for collecting data and scoring; cell (i, j) is row i, column j."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from chronoforest.envs.maps import CELL_SIZE, ORIGIN_OFFSET, cell_centre, is_wall
from chronoforest.envs.tasks import world
from chronoforest.types import BoolArray, FloatArray, IntArray

NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1))
"""Steps to the four neighbours of a cell, in the order in which OGBench tries them."""

TOUCH = 1e-9  # sliding along a wall is not crossing it: boxes are this much smaller in intersection tests

Cell = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Maze:
    """One map with its five official tasks and, in the teleport maze, its portals.

    is_wall: [rows, columns]; tasks: (start cell, goal cell) of tasks 1…5.
    """

    name: str
    is_wall: BoolArray
    tasks: tuple[tuple[Cell, Cell], ...]
    portals_in: tuple[Cell, ...] = ()
    portals_out: tuple[Cell, ...] = ()

    @cached_property
    def free_cells(self) -> IntArray:
        """[F, 2] cells without a wall, row by row."""
        return np.argwhere(~self.is_wall).astype(np.int64)

    @cached_property
    def wall_centres(self) -> FloatArray:
        """[W, 2] centres of the wall boxes, which are CELL_SIZE wide."""
        return cell_centre(np.argwhere(self.is_wall))

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the map in world units, the outer walls included."""
        rows, columns = self.is_wall.shape
        low = -ORIGIN_OFFSET - CELL_SIZE / 2
        return low, low + columns * CELL_SIZE, low, low + rows * CELL_SIZE

    def is_free(self, points: FloatArray) -> BoolArray:
        """[n, 2] → [n]: inside the map and not in a wall's cell."""
        cells = cell_of(points)
        # Around the map lies one more ring of walls, so that clipped cells are off the map.
        closed = np.pad(self.is_wall, 1, constant_values=True)
        rows, columns = np.clip(cells + 1, 0, np.array(closed.shape) - 1).T
        return ~closed[rows, columns]

    def wall_clearance(self, points: FloatArray) -> FloatArray:
        """[n, 2] → [n] distance to the nearest wall box, 0 in a wall and off the map."""
        beyond = np.maximum(np.abs(points[:, None] - self.wall_centres) - CELL_SIZE / 2, 0.0)
        return np.where(self.is_free(points), np.linalg.norm(beyond, axis=-1).min(axis=1), 0.0)

    def path_clearance(self, path: FloatArray) -> float:
        """Least distance between the polyline [T, 2] and a wall box, 0 where it crosses one."""
        if self.crosses_wall(path):
            return 0.0
        corners = self.wall_centres[:, None] + np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)]) * CELL_SIZE / 2
        along, relative = np.diff(path, axis=0), corners.reshape(-1, 2)[:, None] - path[:-1]
        squared = np.maximum((along**2).sum(axis=-1), np.finfo(float).tiny)
        share = np.clip((relative * along).sum(axis=-1) / squared, 0.0, 1.0)
        to_corners = np.linalg.norm(relative - share[..., None] * along, axis=-1).min(initial=np.inf)
        return float(min(self.wall_clearance(path).min(), to_corners))

    def crosses_wall(self, path: FloatArray) -> bool:
        """Whether the polyline [T, 2] enters a wall or leaves the map; sliding along a wall is allowed."""
        left, right, bottom, top = self.extent
        is_off = (path < (left, bottom)).any() or (path > (right, top)).any()
        ends = np.concatenate([path[1:], path[-1:]])
        return bool(is_off or segments_hit_boxes(path, ends, self.wall_centres, CELL_SIZE / 2).any())

    def bfs(self, cell: Cell) -> IntArray:
        """[rows, columns] number of cell steps to every cell, -1 in walls and where there is no way."""
        steps = np.full(self.is_wall.shape, -1, dtype=np.int64)
        steps[cell] = 0
        queue = deque([cell])
        while queue:
            i, j = queue.popleft()
            for di, dj in NEIGHBOURS:
                neighbour = (i + di, j + dj)
                if not self.is_wall[neighbour] and steps[neighbour] == -1:
                    steps[neighbour] = steps[i, j] + 1
                    queue.append(neighbour)
        return steps


def cell_of(points: FloatArray) -> IntArray:
    """[…, 2] world units (x, y) → […, 2] cells (i, j)."""
    indices = np.floor((np.asarray(points) + ORIGIN_OFFSET) / CELL_SIZE + 0.5)
    return indices.astype(np.int64)[..., ::-1]


def segments_hit_boxes(
    starts: FloatArray, ends: FloatArray, centres: FloatArray, half_width: float
) -> BoolArray:
    """[s, 2] × [s, 2] × [W, 2] → [s, W]: whether a segment enters the open square box of that half width, by
    separating axes."""
    inner = half_width - TOUCH
    half = (ends - starts)[:, None] / 2
    middle = (starts + ends)[:, None] / 2 - centres
    reach = np.abs(half)
    is_near = np.all(np.abs(middle) < inner + reach, axis=-1)
    cross = np.abs(middle[..., 0] * half[..., 1] - middle[..., 1] * half[..., 0])
    hits: BoolArray = is_near & (cross <= inner * reach.sum(axis=-1))
    return hits


@cache
def maze(name: str) -> Maze:
    """The maze called medium, large, giant or teleport."""
    return Maze(name, is_wall(name), _TASKS[name], *_PORTALS.get(name, ((), ())))


def maze_of(preset: str) -> Maze:
    """The maze of a dataset or a preset that ships."""
    return maze(world(preset).maze_name)


_TASKS: dict[str, tuple[tuple[Cell, Cell], ...]] = {
    "medium": (((1, 1), (6, 6)), ((6, 1), (1, 6)), ((5, 3), (4, 2)), ((6, 5), (6, 1)), ((2, 6), (1, 1))),
    "large": (((1, 1), (7, 10)), ((5, 4), (7, 1)), ((7, 4), (1, 10)), ((3, 8), (5, 4)), ((1, 1), (5, 4))),
    "giant": (((1, 1), (10, 14)), ((1, 14), (10, 1)), ((8, 14), (1, 1)), ((8, 3), (5, 12)), ((5, 9), (3, 8))),
    "teleport": (
        ((1, 10), (7, 1)),
        ((1, 1), (7, 10)),
        ((5, 6), (7, 10)),
        ((7, 1), (7, 10)),
        ((5, 6), (7, 1)),
    ),
}

_PORTALS: dict[str, tuple[tuple[Cell, ...], tuple[Cell, ...]]] = {
    "teleport": (((4, 6), (5, 1)), ((1, 7), (6, 1), (6, 10)))
}
