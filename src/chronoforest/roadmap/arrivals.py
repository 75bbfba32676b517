"""Where segments arrive, how far they can be believed, what they follow, and what no segment keeps to."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np

from chronoforest.roadmap.support import FAR, Ground
from chronoforest.types import BoolArray, Density, FloatArray, IntArray, path_length

Refusal = Literal["support", "heading", "motion"]
"""What speaks against a piece: it leaves the support, recordings go otherwise there, or none follows it."""

ONWARD = 25.0
"""Degrees that a way may differ from a street which it goes along."""

LOOKS = (4, 16)
"""A segment arrives soon after it comes near or stays there: of its near frames these are the
numbers measured first and second, before the rest is."""


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


def room(points: FloatArray, density: Density, slip: float, most: float) -> FloatArray:
    """[k] the room that recordings leave at points [k, 2]: the radius of the largest supported disc that
    covers each, at most `most` units; 0 where none does. The support reaches `slip` units farther here."""
    angle = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    off = np.concatenate([np.zeros((1, 2)), *(share * most * ring for share in (0.25, 0.5, 0.75, 1.0))])
    radius = density.margin(points[:, None] + off) + slip
    radius[radius < np.linalg.norm(off, axis=1)] = 0.0
    return np.asarray(radius.max(axis=1).clip(max=most))


def follows(segment: FloatArray, piece: FloatArray, room: FloatArray) -> bool:
    """Whether no point of a piece [k, d] is farther from a segment [n, d] than the room there [k], and no
    point of the segment from the piece."""
    if not (passing(segment[None], piece).min(axis=1) <= room).all():
        return False
    gap = np.linalg.norm(segment[:, None] - piece, axis=-1)
    return bool((gap <= room).any(axis=1).all())


def refusal(piece: FloatArray, density: Density, slip: float) -> Refusal | None:
    """What refutes a piece [k, d] without a segment: its points say whether it leaves the support by
    `slip` units, its tangents whether recordings go its way."""
    if (density.margin(piece) <= -slip).any():
        return "support"
    moves = np.diff(piece, axis=0)
    return None if density.follows(piece[:-1] + 0.5 * moves, FAR * moves).all() else "heading"


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
