"""What speaks against a way: the part of a refuted piece to which nobody keeps."""

from __future__ import annotations

import numpy as np

from chronoforest.roadmap.arrivals import passing
from chronoforest.types import BoolArray, FloatArray, path_length

ONWARD = 25.0
"""Degrees that a way may differ from a street which it goes along."""


def kept_to(piece: FloatArray, segments: FloatArray, is_sound: BoolArray, room: float) -> BoolArray:
    """[n, k]: the sound part of each segment [n, frames, d] passes a point of a piece [k, d] within room."""
    gap = passing(segments[:, None], piece[None])
    return np.asarray(((gap <= room) & is_sound[:, None, 1:]).any(axis=-1))


def doubtful(piece: FloatArray, leaving: BoolArray, arriving: BoolArray, room: float) -> FloatArray:
    """[m, d] the part of a piece [k, d] between where the last of those who leave departs from it and where
    the first of those who arrive joins it; each [n, k], the points that they keep to.

    Of a piece that turns there, or within `room` units of it, it is the turn alone: on the streets that it
    connects people do move.
    """
    kept, kept_back = leaving.any(axis=0), np.flip(arriving.any(axis=0))
    last = int(np.logical_and.accumulate(kept).sum()) - 1
    first = len(piece) - int(np.logical_and.accumulate(kept_back).sum())
    low, high = sorted((max(last, 0), min(first, len(piece) - 1)))
    tangent = np.gradient(piece, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
    is_onward = np.max(tangent @ tangent[[0, -1]].T, axis=1) >= np.cos(np.radians(ONWARD))
    around = int(np.ceil(room * (len(piece) - 1) / path_length(piece)))
    turning = [k for k in range(max(low - around, 0), min(high + around + 1, len(piece))) if not is_onward[k]]
    if len(turning) > 1:
        return piece[turning[0] : turning[-1] + 1]
    return piece[max(low - 1, 0) : high + 2]
