"""Supported places, spread so that every supported point sees one: closer together where ways are narrow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.errors import InvalidParameter
from chronoforest.roadmap.lines import keeps_room
from chronoforest.types import BoolArray, Density, FloatArray, IntArray, Support

_THINNED_FROM = 3
"""Cells with more than so many cells of room may be thinned before places are chosen among them."""

_NEAREST = 4
"""Places a point looks at to see one."""

_ROUNDS = 4
"""Rounds in which points that see no place get one."""


@dataclass(frozen=True)
class PlaceParams:
    """Places are `share` of the local width apart, the room in the middle of the way they lie on; never less
    than `least` and never more than `most` of the steps that recordings make, so that a hop is neither lost
    in the noise of a step nor beyond what the distance is trusted with."""

    share: float = 0.6
    least: float = 1.0
    most: float = 10.0

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise InvalidParameter(f"share must lie in (0, 1], got {self.share}")
        if not 0.0 < self.least <= self.most:
            raise InvalidParameter(
                f"least and most must be above 0 and in this order, got {self.least} and {self.most}"
            )


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


def spread(support: Support, density: Density, step_length: float, params: PlaceParams) -> Places:
    """Places over the support, those with the most room first."""
    cells = _candidates(support, density)
    least, most = params.least * step_length, params.most * step_length
    room = density.margin(cells)
    chosen, spacing = _cover(cells, room, params.share, least, most)
    places = Places(cells[chosen], spacing)
    for _ in range(_ROUNDS):
        blind = np.flatnonzero(~sees_place(cells, places, density, support.cell))
        if len(blind) == 0:
            break
        chosen, spacing = _cover(cells[blind], room[blind], params.share, least, most)
        places = places.with_more(Places(cells[blind[chosen]], spacing))
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


def _cover(
    cells: FloatArray, room: FloatArray, share: float, least: float, most: float
) -> tuple[IntArray, FloatArray]:
    """Rows chosen among cells [n, d] and their spacing, so that each cell is within the spacing of one.

    The width of the way a cell lies on is the largest room of a chosen place whose ball contains the cell:
    a place beside a wall of a wide corridor is not a narrow way.
    """
    tree, width = cKDTree(cells), room.copy()
    is_open = np.ones(len(cells), dtype=np.bool_)
    chosen: list[int] = []
    for row in range(len(cells)):
        if not is_open[row]:
            continue
        spacing = float(np.clip(share * width[row], least, most))
        near = np.array(tree.query_ball_point(cells[row], max(spacing, room[row])), dtype=np.int64)
        gap = np.linalg.norm(cells[near] - cells[row], axis=1)
        inside = near[gap <= room[row]]
        width[inside] = np.maximum(width[inside], room[row])
        is_open[near[gap <= spacing]] = False
        chosen.append(row)
    rows = np.array(chosen, dtype=np.int64)
    return rows, np.clip(share * width[rows], least, most)
