"""What plans are measured against, from the map: shortest ways over cells, and at any angle with clearance.
Portal entrances count as walls, since a plan cannot choose the exit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import csgraph_from_dense, shortest_path

from benchmarks.mazes import NEIGHBOURS, Maze, cell_of, segments_hit_boxes
from chronoforest.envs.maps import CELL_SIZE, cell_centre
from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.types import BoolArray, FloatArray, IntArray

MAX_TESTS = 2_000_000
"""Segment-against-box tests done at once; bounds the memory of a large matrix to some 100 MB."""


@dataclass(frozen=True, eq=False)
class Geodesics:
    """Shortest any-angle paths that keep a square clearance from the walls: the walls' boxes grow by it.

    A shortest path bends only at convex corners of the grown walls. corners: [C, 2] world units;
    lengths: [C, C] between corners; predecessors: [C, C] the corner before the last on the way, negative
    at its start. Points nearer to a wall than the clearance first step away from it.
    """

    clearance: float
    is_blocked: BoolArray
    corners: FloatArray
    lengths: FloatArray
    predecessors: IntArray

    def length(self, start: ArrayLike, goal: ArrayLike) -> float:
        """Units from one point [2] to another, infinite where there is no way."""
        return float(self.matrix(np.array([start, goal], dtype=np.float64))[0, 1])

    def matrix(self, points: ArrayLike) -> FloatArray:
        """[n, 2] → [n, n] units between all points."""
        given = _points(self.is_blocked, points)
        inside = self._stepped_away(given)
        visible = partial(_visible_lengths, self.is_blocked, self.clearance)
        reach = visible(inside, self.corners)
        lengths = np.minimum(visible(inside, inside), _min_plus(_min_plus(reach, self.lengths), reach.T))
        detour = np.linalg.norm(given - inside, axis=1)
        lengths += detour[:, None] + detour
        return np.where(np.all(given[:, None] == given, axis=-1), 0.0, lengths)

    def path(self, start: ArrayLike, goal: ArrayLike) -> FloatArray:
        """[T, 2] vertices of a shortest path; InvalidProblem where there is no way."""
        given = _points(self.is_blocked, np.array([start, goal], dtype=np.float64))
        inside = self._stepped_away(given)
        bends = self.corners[self._bends(inside)]
        path = np.concatenate([given[:1], inside[:1], bends, inside[1:], given[1:]])
        is_new = np.append(True, np.any(np.diff(path, axis=0) != 0, axis=1))
        return path[is_new]

    def _bends(self, ends: FloatArray) -> list[int]:
        """Corners of a shortest path between two points that keep the clearance."""
        visible = partial(_visible_lengths, self.is_blocked, self.clearance)
        if np.isfinite(visible(ends[:1], ends[1:])).all():
            return []
        out, back = visible(ends, self.corners)
        total = out[:, None] + self.lengths + back
        first, last = map(int, np.unravel_index(np.argmin(total), total.shape))
        if not np.isfinite(total[first, last]):
            raise InvalidProblem(f"no way from {ends[0].tolist()} to {ends[1].tolist()}")
        chain = [last]
        while chain[-1] != first:
            chain.append(int(self.predecessors[first, chain[-1]]))
        return chain[::-1]

    def _stepped_away(self, points: FloatArray) -> FloatArray:
        """Points [n, 2] moved to the nearest place that keeps the clearance, within their own cells."""
        cells = cell_of(points)
        return np.array([self._step_away(point, cell) for point, cell in zip(points, cells, strict=True)])

    def _step_away(self, point: FloatArray, cell: IntArray) -> FloatArray:
        room = CELL_SIZE / 2 - self.clearance
        offset = point - cell_centre(cell)
        side = np.where(offset < 0, -1, 1)
        beside = np.array([self._is_wall(cell, (0, side[0])), self._is_wall(cell, (side[1], 0))])
        offset = np.where(beside, side * np.minimum(np.abs(offset), room), offset)
        # Only the wall diagonally opposite is left; leaving its grown corner by the nearer edge is shortest.
        if self._is_wall(cell, (side[1], side[0])) and (np.abs(offset) > room).all():
            axis = int(np.argmin(np.abs(offset)))
            offset[axis] = side[axis] * room
        return cell_centre(cell) + offset

    def _is_wall(self, cell: IntArray, move: tuple[int, int]) -> bool:
        return bool(self.is_blocked[cell[0] + move[0], cell[1] + move[1]])


@cache
def geodesics(maze: Maze, clearance: float = 1.0) -> Geodesics:
    """Prepare a maze once: its convex corners and the shortest ways between all of them."""
    if not 0 < clearance < CELL_SIZE / 2:
        raise InvalidParameter(f"clearance must be between 0 and {CELL_SIZE / 2:g} units, got {clearance:g}")
    is_blocked = blocked_cells(maze)
    # A path can bend at lattice points with one wall around them.
    blocks = np.lib.stride_tricks.sliding_window_view(is_blocked, (2, 2))
    rows, columns = np.nonzero(blocks.sum(axis=(2, 3)) == 1)
    wall = blocks[rows, columns].reshape(-1, 4).argmax(axis=1)
    away = np.stack([np.where(wall % 2 == 0, 1, -1), np.where(wall // 2 == 0, 1, -1)], axis=1)
    corners = cell_centre(np.stack([rows, columns], axis=1)) + CELL_SIZE / 2 + away * clearance
    edges = _visible_lengths(is_blocked, clearance, corners, corners)
    graph = csgraph_from_dense(edges, null_value=np.inf)
    lengths, predecessors = shortest_path(graph, method="D", directed=False, return_predecessors=True)
    return Geodesics(clearance, is_blocked, corners, lengths, predecessors.astype(np.int64))


def geodesic_matrix(maze: Maze, points: ArrayLike, clearance: float = 1.0) -> FloatArray:
    """[n, 2] → [n, n] any-angle lengths in units."""
    return geodesics(maze, clearance).matrix(points)


def bfs_matrix(maze: Maze, points: ArrayLike) -> FloatArray:
    """[n, 2] → [n, n] lengths in units of the shortest ways over cells, infinite where there is none."""
    given = _points(blocked_cells(maze), points)
    index = _cell_index(maze)[tuple(cell_of(given).T)]
    lengths: FloatArray = _cell_lengths(maze)[np.ix_(index, index)]
    return lengths


def centre_path(maze: Maze, start: ArrayLike, goal: ArrayLike) -> FloatArray:
    """[T, 2] from one point to another through the centres of the cells between theirs, a shortest way."""
    given = _points(blocked_cells(maze), np.array([start, goal], dtype=np.float64))
    index = _cell_index(maze)
    cell, last = (tuple(row) for row in cell_of(given))
    to_go = _cell_lengths(maze)[index[last]]
    if not np.isfinite(to_go[index[cell]]):
        raise InvalidProblem(f"no way from {given[0].tolist()} to {given[1].tolist()}")
    cells = []
    while cell != last:
        around = [(cell[0] + i, cell[1] + j) for i, j in NEIGHBOURS]
        cell = min((near for near in around if index[near] >= 0), key=lambda near: to_go[index[near]])
        cells.append(cell)
    between = cell_centre(np.array(cells[:-1], dtype=np.int64).reshape(-1, 2))
    return np.concatenate([given[:1], between, given[1:]])


REFERENCES: dict[str, Callable[[Maze, ArrayLike, ArrayLike], FloatArray]] = {
    "centres": centre_path,
    "geodesic-1.5": lambda maze, start, goal: geodesics(maze, 1.5).path(start, goal),
    "geodesic-1.25": lambda maze, start, goal: geodesics(maze, 1.25).path(start, goal),
    "geodesic-1.0": lambda maze, start, goal: geodesics(maze, 1.0).path(start, goal),
}
"""Paths through a maze that trackers are compared on, by name."""


def task_points(maze: Maze) -> FloatArray:
    """[5, 2, 2] start and goal of the official tasks, without jitter."""
    return cell_centre(np.array(maze.tasks))


def blocked_cells(maze: Maze) -> BoolArray:
    """[rows, columns]: a wall, or the entrance of a portal."""
    is_blocked = maze.is_wall.copy()
    for portal in maze.portals_in:
        is_blocked[portal] = True
    return is_blocked


def _cell_index(maze: Maze) -> IntArray:
    """[rows, columns] row of a free cell in `_cell_lengths`, -1 elsewhere."""
    is_free = ~blocked_cells(maze)
    return np.where(is_free, np.cumsum(is_free).reshape(is_free.shape) - 1, -1)


@cache
def _cell_lengths(maze: Maze) -> FloatArray:
    """[F, F] units between free cells."""
    cells = np.argwhere(~blocked_cells(maze))
    is_adjacent = np.abs(cells[:, None] - cells).sum(axis=-1) == 1
    lengths: FloatArray = shortest_path(is_adjacent, unweighted=True, directed=False) * CELL_SIZE
    return lengths


def _visible_lengths(
    is_blocked: BoolArray, clearance: float, starts: FloatArray, ends: FloatArray
) -> FloatArray:
    """[n, 2] × [m, 2] → [n, m] straight lengths, infinite where a grown wall is in between."""
    walls = cell_centre(np.argwhere(is_blocked))
    lengths = np.linalg.norm(starts[:, None] - ends, axis=-1)
    num_rows = max(1, MAX_TESTS // max(1, len(ends) * len(walls)))
    for low in range(0, len(starts), num_rows):
        rows = slice(low, low + num_rows)
        first, last = np.broadcast_arrays(starts[rows, None], ends)
        hits = segments_hit_boxes(
            first.reshape(-1, 2), last.reshape(-1, 2), walls, CELL_SIZE / 2 + clearance
        ).any(axis=1)
        lengths[rows][hits.reshape(first.shape[:2])] = np.inf
    return lengths


def _min_plus(left: FloatArray, right: FloatArray) -> FloatArray:
    """[n, k] × [k, m] → [n, m] least sum over the middle."""
    least = np.full((len(left), right.shape[1]), np.inf)
    for column, row in zip(left.T, right, strict=True):
        np.minimum(least, column[:, None] + row, out=least)
    return least


def _points(is_blocked: BoolArray, points: ArrayLike) -> FloatArray:
    given = np.asarray(points, dtype=np.float64)
    cells = cell_of(given)
    is_inside = np.all((cells >= 0) & (cells < np.array(is_blocked.shape)), axis=1)
    is_free = is_inside & ~is_blocked[tuple(np.where(is_inside[:, None], cells, 0).T)]
    if not is_free.all():
        raise InvalidProblem(f"point {given[~is_free][0].tolist()} lies in a wall, a portal or off the map")
    return given
