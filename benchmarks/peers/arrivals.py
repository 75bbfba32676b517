"""When segments strung together have reached their target, for the methods that search segment by segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronoforest.peers.legs import Inputs
from chronoforest.types import Distance, FloatArray


@dataclass(frozen=True)
class Arrival:
    """Row and frame of segments at which the target is near enough, and the steps left from there."""

    row: int
    frame: int
    gap: float


def arrival(segments: FloatArray, target: FloatArray, inputs: Inputs) -> Arrival | None:
    """The earliest frame of segments [n, t, 2] that counts as meeting the target, by the forest's radius."""
    radius = inputs.params.search.meeting_steps
    is_near = np.linalg.norm(segments - target, axis=-1) <= radius * inputs.models.step_length
    rows, frames = np.nonzero(is_near)
    gap = steps_to(segments[rows, frames], target, inputs.models.distance)
    rows, frames, gap = rows[gap <= radius], frames[gap <= radius], gap[gap <= radius]
    if len(rows) == 0:
        return None
    first = int(np.lexsort((gap, frames))[0])
    return Arrival(int(rows[first]), int(frames[first]), float(gap[first]))


def steps_to(places: FloatArray, target: FloatArray, distance: Distance) -> FloatArray:
    """[n] d from places [n, 2] to a target [2]."""
    return distance.pairwise(distance.encode(places), distance.encode(target[None]))[:, 0]
