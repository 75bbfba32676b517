"""Whether a body could move so: segments tested by the support, by jumps and by the traffic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronoforest.types import BoolArray, Density, FloatArray

LEAST_STEPS = 4
"""Steps whose length two neighbouring frames may at least be apart. Where they are fewer steps apart, what a
denoiser blurs counts as much as what it moves, and of many single steps some are longer than hardly any."""


def sound_part(
    segments: FloatArray, is_incoming: BoolArray, density: Density, largest_hop: float, slip: float
) -> FloatArray:
    """Segments [n, frames, d] that stay where they are before they first do what no recording did.

    Lanes may be as narrow as recordings are wrong, and then hardly any segment keeps to one until its end.
    """
    is_sound = _is_inside(segments, density, slip) & _is_step(segments, largest_hop)
    is_sound &= _is_with_traffic(segments, is_incoming, density)
    num_sound = np.logical_and.accumulate(is_sound, axis=1).sum(axis=1)
    frame = np.minimum(np.arange(segments.shape[1]), num_sound[:, None])
    return np.take_along_axis(segments, frame[..., None], axis=1)


def is_supported(segments: FloatArray, density: Density, slip: float = 0.0) -> NDArray[np.bool_]:
    """[n]: every generated frame lies where recordings went, or no farther outside than the boundary does."""
    return np.asarray(_is_inside(segments, density, slip).all(axis=1))


def _is_inside(segments: FloatArray, density: Density, slip: float) -> BoolArray:
    """[n, frames − 1] for every generated frame."""
    margin = density.margin(segments)
    return np.asarray(margin[:, 1:] > np.minimum(margin[:, :1] - slip, 0.0))


def longest_hop(step_length: float, stride: int) -> float:
    """World units between two frames `stride` steps apart that hardly any recording exceeds."""
    return step_length * max(stride, LEAST_STEPS)


def has_no_jump(segments: FloatArray, largest_hop: float) -> NDArray[np.bool_]:
    """[n]: no two consecutive frames farther apart than a recording ever moved."""
    return np.asarray(_is_step(segments, largest_hop).all(axis=1))


def _is_step(segments: FloatArray, largest_hop: float) -> BoolArray:
    """[n, frames − 1] for every hop."""
    return np.asarray(np.linalg.norm(np.diff(segments, axis=1), axis=-1) <= largest_hop)


def goes_with_traffic(
    segments: FloatArray, is_incoming: BoolArray | bool, density: Density
) -> NDArray[np.bool_]:
    """[n]: every hop goes in a direction in which recordings moved there; is_incoming: of each or of all."""
    if not density.is_one_way:
        return np.ones(len(segments), dtype=np.bool_)
    return np.asarray(_is_with_traffic(segments, is_incoming, density).all(axis=1))


def _is_with_traffic(segments: FloatArray, is_incoming: BoolArray | bool, density: Density) -> BoolArray:
    """[n, frames − 1] for every hop."""
    moves = np.diff(segments, axis=1)
    middles = segments[:, :-1] + 0.5 * moves
    is_back = np.reshape(is_incoming, (-1, 1, 1))
    return density.follows(middles, np.where(is_back, -moves, moves))
