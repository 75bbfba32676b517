"""A roadmap of positions where there are models but no recordings: places over the support of the density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.roadmap.cover import apart
from chronoforest.roadmap.durations import Times
from chronoforest.roadmap.ground import Ground, keeps_room
from chronoforest.roadmap.roadmap import Roadmap, RoadmapParams, inferred
from chronoforest.roadmap.states import StateSpace
from chronoforest.types import Density, FloatArray, IntArray, Support


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
