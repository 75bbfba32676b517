"""Supported places, spread so that every supported point sees one: closer together where ways are narrow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.roadmap.lines import keeps_room
from chronoforest.types import BoolArray, Density, FloatArray, Support

SHARE = 0.6
"""How far places are apart, of the local width: the room in the middle of the way they lie on."""

LEAST, MOST = 1.0, 10.0
"""How far places are apart at least and at most, in steps of the recordings at full speed: a hop is neither
lost in the noise of a step nor beyond what the distance is trusted with."""

_THINNED_FROM = 3
"""Cells with more than so many cells of room may be thinned before places are chosen among them."""

_NEAREST = 4
"""Places a point looks at to see one."""

_ROUNDS = 4
"""Rounds in which points that see no place get one."""


@dataclass(frozen=True, eq=False)
class Places:
    """position: [n, d] world units; spacing: [n] units to where the next place may lie."""

    position: FloatArray
    spacing: FloatArray

    def __len__(self) -> int:
        return len(self.position)

    def with_more(self, other: Places) -> Places:
        """These places and then the other's."""
        return Places(
            np.concatenate([self.position, other.position]), np.concatenate([self.spacing, other.spacing])
        )


def spread(support: Support, density: Density, step_length: float) -> Places:
    """Places over the support, those with the most room first."""
    cells = _candidates(support, density)
    room = density.margin(cells)
    places = _cover(cells, room, step_length)
    for _ in range(_ROUNDS):
        blind = np.flatnonzero(~sees_place(cells, places, density, support.cell))
        if len(blind) == 0:
            break
        places = places.with_more(_cover(cells[blind], room[blind], step_length))
    return places


def sees_place(points: FloatArray, places: Places, density: Density, edge: float) -> BoolArray:
    """[n]: a supported straight line leads from the point [n, d] to one of the places nearest to it."""
    if len(places) == 0 or len(points) == 0:
        return np.zeros(len(points), dtype=np.bool_)
    gap, near = cKDTree(places.position).query(points, k=min(_NEAREST, len(places)))
    gap, near = gap.reshape(len(points), -1), near.reshape(len(points), -1)
    # What lies in the supported ball around a place is seen from there.
    is_seen = np.asarray((gap < density.margin(places.position)[near]).any(axis=1))
    for column in range(near.shape[1]):
        rows = np.flatnonzero(~is_seen)
        is_seen[rows] = keeps_room(points[rows], places.position[near[rows, column]], density, edge)
    return is_seen


def _candidates(support: Support, density: Density) -> FloatArray:
    """[n, d] supported cells, every other one along each axis where there is room, widest room first."""
    index = np.argwhere(support.mask)
    cells = support.origin + support.cell * index
    room = density.margin(cells)
    keep = (room <= _THINNED_FROM * support.cell) | (index % 2 == 0).all(axis=1)
    keep &= room > 0
    cells, room = cells[keep], room[keep]
    return np.asarray(cells[np.argsort(-room, kind="stable")])


def _cover(cells: FloatArray, room: FloatArray, step_length: float) -> Places:
    """Places chosen among cells [n, d], so that each cell is within the spacing of one.

    The width of the way a cell lies on is the largest room of a chosen place whose ball contains the cell:
    a place beside a wall of a wide corridor is not a narrow way.
    """
    tree, width = cKDTree(cells), room.copy()
    is_open = np.ones(len(cells), dtype=np.bool_)
    chosen: list[int] = []
    spacing: list[float] = []
    for row in range(len(cells)):
        if not is_open[row]:
            continue
        chosen.append(row)
        spacing.append(float(np.clip(SHARE * width[row], LEAST * step_length, MOST * step_length)))
        near = np.array(tree.query_ball_point(cells[row], max(spacing[-1], room[row])), dtype=np.int64)
        gap = np.linalg.norm(cells[near] - cells[row], axis=1)
        inside = near[gap <= room[row]]
        width[inside] = np.maximum(width[inside], room[row])
        is_open[near[gap <= spacing[-1]]] = False
    return Places(cells[chosen], np.array(spacing))
