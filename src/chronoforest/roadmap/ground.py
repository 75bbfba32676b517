"""What is known of the support between places, and whether straight lines stay inside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronoforest.types import BoolArray, Calibration, Density, Distance, FloatArray

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
