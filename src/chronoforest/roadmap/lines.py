"""Straight lines between places: whether they stay where recordings went, and go the way they went."""

from __future__ import annotations

import numpy as np

from chronoforest.types import BoolArray, Density, FloatArray

FAR = 1e6
"""A short move of a body has no direction, a line has one however short it is: it is asked about so many
times as long."""


RISE = 0.5
"""A line from outside the support comes nearer to it by at least this much with every unit: so it leads in by
about the shortest way, not across what nobody recorded to the other side."""


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


def goes_with_traffic(
    starts: FloatArray, ends: FloatArray, density: Density, spacing: float, least: float = 0.0
) -> BoolArray:
    """[n]: everywhere along the lines recordings moved in about their direction, where directions count.

    The middles of parts of at most `spacing` units are looked at, not the ends: there a way may turn.
    A line of less than `least` units has no direction.
    """
    is_open = np.ones(len(starts), dtype=np.bool_)
    if not density.is_one_way:
        return is_open
    moves = ends - starts
    longest = float(np.linalg.norm(moves, axis=1).max(initial=0.0))
    num_parts = max(2, int(np.ceil(longest / spacing)))
    for share in (np.arange(num_parts) + 0.5) / num_parts:
        rows = np.flatnonzero(is_open & (np.linalg.norm(moves, axis=1) >= least))
        is_open[rows] = density.follows(starts[rows] + share * moves[rows], FAR * moves[rows])
    return is_open


def was_passed(starts: FloatArray, ends: FloatArray, density: Density, least: float) -> BoolArray:
    """[n]: a log density of at least that much all along the lines: somebody was there, maybe by a stray."""
    share = np.linspace(0.1, 0.9, 5)[None, :, None]
    along = starts[:, None] + share * (ends - starts)[:, None]
    return np.asarray((density.log_density(along) >= least).all(axis=1))
