"""Where segments arrive, and how far they can be believed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from chronoforest.roadmap.hops import Ground
from chronoforest.types import BoolArray, FloatArray, IntArray

LOOKS = (4, 16)
"""A segment arrives soon after it comes near or stays there: so many of its near frames are measured first,
and then so many, before the rest is."""


def arrivals(
    segments: FloatArray,
    is_sound: BoolArray,
    ends: FloatArray,
    piece: IntArray,
    ground: Ground,
    radius: float,
) -> IntArray:
    """[n] the first sound frame of each segment within `radius` steps of the end of its piece [n], −1 where
    there is none; ends: [pieces, d].

    Where ways are lanes, passing the end between two frames will do, and the place alone decides: no wall
    divides a lane, and over a short way the distance is noisy.
    """
    if ground.density.is_one_way:
        is_past = is_sound[:, 1:] & (passing(segments, ends[piece]) <= radius * ground.step_length)
        return np.where(is_past.any(axis=1), is_past.argmax(axis=1), -1)
    gap = np.linalg.norm(segments - ends[piece, None], axis=-1)
    # Nobody covers more than a step's length in a step, so what lies farther off need not be encoded.
    is_near = is_sound & (gap <= radius * ground.step_length)
    rank, codes = np.cumsum(is_near, axis=1), ground.distance.encode(ends)
    arrival = np.full(len(segments), -1)
    for low, high in pairwise((0, *LOOKS, segments.shape[1])):
        is_asked = is_near & (rank > low) & (rank <= high) & (arrival < 0)[:, None]
        row, frame = np.nonzero(is_asked)
        steps = ground.distance.between(ground.distance.encode(segments[row, frame]), codes[piece[row]])
        row, frame = row[steps <= radius], frame[steps <= radius]
        arrived, first = np.unique(row, return_index=True)
        arrival[arrived] = frame[first]
    return arrival


def passing(segments: FloatArray, ends: FloatArray) -> FloatArray:
    """[..., frames − 1] how near the straight parts of segments [..., frames, d] come to ends [..., d]."""
    starts, moves = segments[..., :-1, :], np.diff(segments, axis=-2)
    ahead = ((ends[..., None, :] - starts) * moves).sum(axis=-1)
    ahead = ahead / np.maximum((moves**2).sum(axis=-1), 1e-12)
    nearest = starts + np.clip(ahead, 0.0, 1.0)[..., None] * moves
    return np.linalg.norm(nearest - ends[..., None, :], axis=-1)


def is_sound_until(
    segments: FloatArray, is_back: BoolArray, largest_hop: float, ground: Ground, slip: float
) -> BoolArray:
    """[n, frames]: everything up to this frame is supported, without a jump, and goes with the traffic, which
    comes toward those segments that are followed back [n]."""
    margin = ground.density.margin(segments)
    moves = np.diff(segments, axis=1)
    is_sound = margin > np.minimum(margin[:, :1] - slip, 0.0)
    is_sound[:, 0] = True
    is_sound[:, 1:] &= np.linalg.norm(moves, axis=-1) <= largest_hop
    is_sound[:, 1:] &= ground.density.follows(
        segments[:, :-1] + 0.5 * moves, np.where(is_back, -1.0, 1.0)[:, None, None] * moves
    )
    return np.logical_and.accumulate(is_sound, axis=1)
