"""Lines beside what was recorded: a way pulled tight within its lane, chords, and points along a way."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.types import BoolArray, FloatArray, lengths_along


def taut(path: FloatArray, room: FloatArray | float, num_passes: int = 40) -> FloatArray:
    """A path [t, d] pulled tight; room: units that inner points may move, one for all or [t − 2, 1]."""
    middle, way = path[1:-1], path.copy()
    for _ in range(num_passes if len(middle) else 0):
        move = 0.5 * (way[:-2] + way[2:]) - middle
        size = np.linalg.norm(move, axis=1, keepdims=True)
        way[1:-1] = middle + move * np.minimum(1.0, room / np.maximum(size, 1e-12))
    return way


def resample(path: FloatArray, spacing: float) -> FloatArray:
    """The same polyline [t, d] with evenly spaced points at most `spacing` apart; ends are kept."""
    along = lengths_along(path)
    is_new = np.append(True, np.diff(along) > 1e-9)
    path, along = path[is_new], along[is_new]
    ticks = np.linspace(0.0, along[-1], max(2, int(np.ceil(along[-1] / spacing)) + 1))
    return path if len(path) == 1 else np.stack([np.interp(ticks, along, part) for part in path.T], axis=1)


def finely(path: FloatArray, spacing: float) -> FloatArray:
    """The same polyline [t, d] with all its corners and points at most `spacing` apart."""
    hops = np.linalg.norm(np.diff(path, axis=0), axis=1)
    if not hops.any():
        return path
    count = np.ceil(hops / spacing).astype(np.int64)
    first = np.repeat(np.arange(len(hops)), count)
    share = (np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)) / count[first]
    return np.concatenate([path[first] + share[:, None] * (path[first + 1] - path[first]), path[-1:]])


def are_open(
    starts: FloatArray, ends: FloatArray, recorded: cKDTree, room: FloatArray | float, step: float
) -> BoolArray:
    """[n] whether chords from starts to ends [n, d] stay within `room`, one for all or [n], of recorded
    places."""
    count = np.ceil(np.linalg.norm(ends - starts, axis=1) / step).astype(np.int64) * 2
    chord = np.repeat(np.arange(len(starts)), count + 1)
    rank = np.arange(len(chord)) - np.repeat(np.cumsum(count + 1) - count - 1, count + 1)
    share = (rank / np.maximum(count, 1)[chord])[:, None]
    places = starts[chord] + share * (ends - starts)[chord]
    room = np.broadcast_to(room, len(starts))
    gap, _ = recorded.query(places, distance_upper_bound=1.001 * room.max(initial=0.0))
    return np.asarray(np.bincount(chord, gap > room[chord], minlength=len(starts)) == 0)
