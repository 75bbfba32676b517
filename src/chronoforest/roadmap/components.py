"""Where a roadmap falls apart between anchors: the nearest places of what is reached and what leads on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import binary_dilation, label
from scipy.spatial import cKDTree

from chronoforest.roadmap.ways import Joined
from chronoforest.types import Distance, FloatArray, IntArray, Support

NUM_NEAR = 4
"""Places on the near side that each place on the far side is compared with."""

MOST_PAIRS = 512
"""Pairs of places, the nearest in a straight line, of which the learned distance chooses the best."""


@dataclass(frozen=True, eq=False)
class Break:
    """Where no way leads on from an anchor to another: rows of the two nearest places, one that is reached
    and one that leads on to the other anchor; extents: units that both sides get away from their anchors."""

    reached: int
    wanted: int
    extents: tuple[float, float]


def find_break(joined: Joined, source: int, target: int, distance: Distance | None) -> Break:
    """Between two anchors that no way joins; nearest by the learned distance, if there is one."""
    here, there = joined.reached_from(source), joined.leading_to(target)
    position, first = joined.roadmap.position, joined.first
    near, far = _closest(position, here, there, distance)
    extents = (
        _extent(position[here], position[first + source]),
        _extent(position[there], position[first + target]),
    )
    return Break(near, far, extents)


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


def _closest(
    position: FloatArray, here: IntArray, there: IntArray, distance: Distance | None
) -> tuple[int, int]:
    gap, near = cKDTree(position[here]).query(position[there], k=np.arange(1, min(NUM_NEAR, len(here)) + 1))
    order = np.argsort(gap, axis=None, kind="stable")[:MOST_PAIRS]
    rows, columns = np.unravel_index(order, gap.shape)
    sources, targets = here[near[rows, columns]], there[rows]
    best = 0
    if distance is not None:
        steps = distance.between(distance.encode(position[sources]), distance.encode(position[targets]))
        best = int(np.argmin(steps))
    return int(sources[best]), int(targets[best])


def _extent(points: FloatArray, anchor: FloatArray) -> float:
    return float(np.linalg.norm(points - anchor, axis=1).max())
