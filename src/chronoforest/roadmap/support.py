"""What is known of the support between places, and a roadmap of positions over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import binary_dilation, label
from scipy.spatial import cKDTree

from chronoforest.roadmap.roadmap import Roadmap, RoadmapParams, inferred
from chronoforest.roadmap.states import StateSpace, apart
from chronoforest.roadmap.transitions import Times
from chronoforest.types import BoolArray, Calibration, Density, Distance, FloatArray, IntArray, Support

FAR = 1e6
"""A short move of a body has no direction, a line has one however short it is: it is asked about
this many times as long."""

RISE = 0.5
"""A line from outside the support comes nearer to it by at least this much with every unit: so it leads in by
about the shortest way, not across what was not recorded to the other side."""


@dataclass(frozen=True)
class Ground:
    """What was learned of a world; step_length: units that hardly any recording exceeded in one step; edge:
    the room in world units that a way keeps to the edge of the support, or as much as its ends have."""

    density: Density
    distance: Distance
    calibration: Calibration
    step_length: float
    edge: float


def keeps_room(starts: FloatArray, ends: FloatArray, density: Density, edge: float) -> BoolArray:
    """[n]: the lines from starts to ends [n, d] keep `edge` units to the edge of the support, or as much as
    their ends have where that is less; an end outside the support is left by about the shortest way.

    The room at a place is the radius of a supported ball, so the next look is where that ball ends.
    """
    length = np.linalg.norm(ends - starts, axis=1)
    heading = (ends - starts) / np.maximum(length, 1e-9)[:, None]
    first, last = density.margin(starts) - 1e-6, density.margin(ends) - 1e-6
    least = np.minimum(np.maximum(np.minimum(first, last), -1e-6), edge - 1e-6)
    is_open = np.ones(len(starts), dtype=np.bool_)
    along, rows = np.zeros(len(starts)), np.arange(len(starts))
    while len(rows):
        room = density.margin(starts[rows] + along[rows, None] * heading[rows])
        outside = np.minimum(first[rows] + RISE * along[rows], last[rows] + RISE * (length - along)[rows])
        is_open[rows] = room >= np.minimum(least[rows], outside)
        along[rows] += np.maximum(room - least[rows], edge)
        rows = rows[is_open[rows] & (along[rows] < length[rows])]
    return is_open


@dataclass(frozen=True)
class SupportParams:
    """spacing: of places, in the room that a way keeps to the edge of the support; reach: of the longest hop,
    in spacings; sight: how far beyond the nearest place an anchor is joined to others, in spacings; trusted:
    share of the calibration's local window beyond which the distance refuses a hop; thinned: every other cell
    along each axis is left out where there are more than `thinned` cells of room."""

    spacing: float = 5.0
    reach: float = 4.0
    sight: float = 3.0
    trusted: float = 0.8
    thinned: float = 3.0


def roadmap_of_support(support: Support, ground: Ground, params: SupportParams | None = None) -> Roadmap:
    """Places in the support, those with the most room first, and hops both ways along straight lines that
    keep their room, at the usual pace or slower where the distance says so beyond its own error.

    A chain of hops would collect what the distance states too low, by noise or because recordings were lucky
    there, so no hop costs less than its length at that pace.
    """
    params = params or SupportParams()
    spacing = params.spacing * ground.edge
    cells = _cells(support, ground.density, params.thinned)
    position = cells[apart(cells / spacing, np.arange(len(cells)))]
    source, target = _lines(position, params.reach * spacing, ground)
    codes = ground.distance.encode(position)
    learned = ground.distance.between(codes[source], codes[target])
    surely = ground.calibration.local_ratios[0] * learned
    is_near = surely <= params.trusted * ground.calibration.local_window
    source, target = source[is_near], target[is_near]
    learned, surely = learned[is_near], surely[is_near]
    length = np.linalg.norm(position[target] - position[source], axis=1)
    pace = float(np.median(learned / length)) if len(length) else 1.0 / ground.step_length
    steps = np.maximum(pace * length, surely)
    hops = inferred(source, target, steps / pace, steps)
    names = tuple("xyz"[: position.shape[1]])
    return Roadmap(
        StateSpace(names, spacing, angle=None, is_open=True),
        position,
        np.zeros_like(position),
        hops,
        support.places,
        Times(steps, np.ones(1), np.ones((1, 3))),
        RoadmapParams(far=params.sight, open_room=support.cell / spacing),
        pace,
    )


def _cells(support: Support, density: Density, thinned: float) -> FloatArray:
    """[n, d] supported cells, every other one along each axis where there is room, widest room first."""
    index = np.argwhere(support.mask)
    cells = support.origin + support.cell * index
    room = density.margin(cells)
    keep = ((room <= thinned * support.cell) | (index % 2 == 0).all(axis=1)) & (room > 0)
    return np.asarray(cells[keep][np.argsort(-room[keep], kind="stable")])


def _lines(position: FloatArray, longest: float, ground: Ground) -> tuple[IntArray, IntArray]:
    """Rows of places [n, d] that a straight line joins, there and back."""
    pairs = cKDTree(position).query_pairs(longest, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].astype(np.int64)
    starts, ends = position[pairs[:, 0]], position[pairs[:, 1]]
    pairs = pairs[keeps_room(starts, ends, ground.density, ground.edge)]
    return np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]])


class SupportParts:
    """The parts of a support that lie more than `most_apart` units from each other."""

    def __init__(self, support: Support, most_apart: float) -> None:
        reach = int(0.5 * most_apart / support.cell)
        mask = binary_dilation(support.mask, iterations=reach) if reach else support.mask
        parts, _ = label(mask, np.ones((3,) * mask.ndim))
        cells = np.argwhere(mask)
        self._places = support.origin + support.cell * cells
        self._parts = parts[tuple(cells.T)]

    def joins(self, ends: FloatArray) -> bool:
        """Whether recordings lead from about one place to about the other [2, d]."""
        first, second = (self._part(end) for end in ends)
        return first == second

    def _part(self, place: FloatArray) -> int:
        return int(self._parts[np.argmin(((self._places - place) ** 2).sum(axis=1))])
