"""Shortest ways that keep a true distance to the walls: straight lines, and arcs round their corners.

The geodesic that plans are measured against keeps a square clearance. What passes corners round is shorter,
by more at some corners than at others, so the two need not agree on the best order. Privileged, as `bench`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from chronoforest.bench.references import blocked_cells, convex_corners
from chronoforest.envs.mazes import CELL_SIZE, Maze, cell_centre, segments_hit_boxes
from chronoforest.types import BoolArray, Density, FloatArray, IntArray

TOUCH = 1e-7
"""A line may come so much nearer to a corner than its arc: it is a tangent of it."""

NUM_DIRECTIONS = 9
"""Directions in which it is looked how near to a corner recordings came."""

AT_ONCE = 4000
"""Lines that are tested together, so that memory stays small."""


@dataclass(frozen=True, eq=False)
class _Discs:
    """What lines touch: points, and the circles round corners, each once for either way round.

    centre: [n, 2]; bend: [n] the radius, negative where it is passed clockwise, 0 for points; away: [n] the
    direction from a corner's wall to the open, an angle.
    """

    centre: FloatArray
    bend: FloatArray
    away: FloatArray


@dataclass(frozen=True, eq=False)
class _Lines:
    """Directed lines between discs: source, target: [l] of them; length: [l]; heading: [l] an angle."""

    source: IntArray
    target: IntArray
    length: FloatArray
    heading: FloatArray

    def some(self, keep: BoolArray) -> _Lines:
        """Those that are kept."""
        return _Lines(self.source[keep], self.target[keep], self.length[keep], self.heading[keep])

    def ends(self, discs: _Discs) -> tuple[FloatArray, FloatArray]:
        """[l, 2] where they leave one disc, and where they touch the other."""
        # A disc that is passed counter-clockwise lies to the left of the line, which touches its right.
        right = np.stack([np.sin(self.heading), -np.cos(self.heading)], axis=1)
        starts, stops = (discs.centre[k] + discs.bend[k, None] * right for k in (self.source, self.target))
        return starts, stops


def rounded_matrix(maze: Maze, points: ArrayLike, room: ArrayLike) -> FloatArray:
    """[n, 2] → [n, n] units between points that keep the room themselves; infinite where there is no way.

    room: units to the walls, one for all or [C] for every corner of `corners_of`.
    """
    given = np.asarray(points, dtype=np.float64)
    corners, away = corners_of(maze)
    radius = np.broadcast_to(np.asarray(room, dtype=np.float64), len(corners))
    direction = np.arctan2(away[:, 1], away[:, 0])
    discs = _Discs(
        np.concatenate([given, corners, corners]),
        np.concatenate([np.zeros(len(given)), radius, -radius]),
        np.concatenate([np.zeros(len(given)), direction, direction]),
    )
    lines = _tangents(discs)
    starts, ends = lines.ends(discs)
    lines = lines.some(_is_open(maze, starts, ends, corners, radius))
    return _shortest(discs, lines, len(given))


def corners_of(maze: Maze) -> tuple[FloatArray, FloatArray]:
    """[C, 2] the convex corners of the walls, and [C, 2] the diagonals away from them."""
    is_blocked = blocked_cells(maze)
    corners = convex_corners(is_blocked, 0.0)
    return corners, convex_corners(is_blocked, 1.0) - corners


def room_left(maze: Maze, density: Density, margin: float) -> FloatArray:
    """[C] how far from each corner one is `margin` units inside the support: what recordings leave of it."""
    corners, away = corners_of(maze)
    ticks = np.arange(0.0, CELL_SIZE, 0.01)
    turns = np.linspace(-np.pi / 4, np.pi / 4, NUM_DIRECTIONS)
    angles = np.arctan2(away[:, 1], away[:, 0])[:, None] + turns
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    found = density.margin(corners[:, None, None] + ticks[:, None] * rays[:, :, None])
    return np.asarray(ticks[(found >= margin).argmax(axis=-1)].mean(axis=1))


def _tangents(discs: _Discs) -> _Lines:
    """The line from every disc to every other that leaves and joins them their way round."""
    source, target = np.nonzero(~np.eye(len(discs.centre), dtype=np.bool_))
    apart = discs.centre[target] - discs.centre[source]
    squared = (apart**2).sum(axis=1)
    wider = discs.bend[target] - discs.bend[source]
    is_there = squared > wider**2 + TOUCH
    length = np.sqrt(np.maximum(squared - wider**2, 0.0))
    heading = np.arctan2(apart[:, 1], apart[:, 0]) - np.arctan2(wider, length)
    return _Lines(source, target, length, heading).some(is_there)


def _is_open(
    maze: Maze, starts: FloatArray, ends: FloatArray, corners: FloatArray, radius: FloatArray
) -> BoolArray:
    """[l]: the line crosses no wall and leaves every corner its room. Between ends that keep the room nothing
    else of a wall can be too near."""
    walls = cell_centre(np.argwhere(blocked_cells(maze)))
    # Two walls that meet at a corner only would let a line through between them.
    half_width = CELL_SIZE / 2 + TOUCH
    is_open = np.ones(len(starts), dtype=np.bool_)
    for low in range(0, len(starts), AT_ONCE):
        some = slice(low, low + AT_ONCE)
        hits = segments_hit_boxes(starts[some], ends[some], walls, half_width).any(axis=1)
        gap = _distances(corners, starts[some], ends[some])
        is_open[some] = ~hits & (gap >= radius - TOUCH).all(axis=1)
    return is_open


def _distances(points: FloatArray, starts: FloatArray, ends: FloatArray) -> FloatArray:
    """[p, 2] × [l, 2] × [l, 2] → [l, p] from lines to points."""
    along = (ends - starts)[:, None]
    relative = points - starts[:, None]
    share = (relative * along).sum(axis=-1) / (along**2).sum(axis=-1)
    return np.linalg.norm(relative - np.clip(share, 0.0, 1.0)[..., None] * along, axis=-1)


def _shortest(discs: _Discs, lines: _Lines, num_points: int) -> FloatArray:
    """[n, n] over lines, and arcs from the end of one to the start of the next; every line is a node, and
    every point two: one to leave from and one to arrive at."""
    count = len(lines.source)
    links: list[tuple[IntArray, IntArray, FloatArray]] = []
    for disc in range(len(discs.centre)):
        into, out = np.flatnonzero(lines.target == disc), np.flatnonzero(lines.source == disc)
        if disc < num_points:
            links.append((np.full(len(out), count + disc), out, lines.length[out]))
            links.append((into, np.full(len(into), count + num_points + disc), np.full(len(into), TOUCH**2)))
            continue
        pairs = np.array(list(product(into, out)), dtype=np.int64).reshape(-1, 2)
        turn = _turn(discs, disc, lines.heading[pairs])
        is_onward = turn >= -TOUCH
        before, after = pairs[is_onward].T
        arc = np.abs(discs.bend[disc]) * np.maximum(turn[is_onward], 0.0)
        links.append((before, after, arc + lines.length[after]))
    rows, columns, cost = (np.concatenate(part) for part in zip(*links, strict=True))
    size = count + 2 * num_points
    graph = csr_matrix((cost, (rows, columns)), shape=(size, size))
    sources = np.arange(count, count + num_points)
    lengths = dijkstra(graph, indices=sources)[:, count + num_points :]
    np.fill_diagonal(lengths, 0.0)
    return np.asarray(lengths)


def _turn(discs: _Discs, disc: int, headings: FloatArray) -> FloatArray:
    """[n] angle from the first to the second heading [n, 2] along the open side of a disc, its way round;
    negative where that leads back."""
    side = np.where(discs.bend[disc] > 0, -0.5, 0.5) * np.pi
    # Where a line touches, as an angle from the middle of the open side: the wall is beyond ±135°.
    touch = (headings + side - discs.away[disc] + np.pi) % (2 * np.pi) - np.pi
    return np.asarray(np.sign(discs.bend[disc]) * (touch[:, 1] - touch[:, 0]))
