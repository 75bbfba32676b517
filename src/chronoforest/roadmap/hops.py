"""Hops: straight lines between places that are trusted, supported all along, and go with the traffic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from chronoforest.roadmap.lines import goes_with_traffic, keeps_room
from chronoforest.roadmap.places import Places
from chronoforest.types import Calibration, Density, Distance, FloatArray, IntArray

TRUSTED_SHARE = 0.8
"""Of the calibration's local window: the most steps that a hop may take by the learned distance."""

SPAN = 4.0
"""The longest hop, in spacings of the places it joins."""


@dataclass(frozen=True)
class Ground:
    """What was learned of a world; step_length: units that hardly any recording exceeded in one step; edge:
    the room in world units that a way keeps to the edge of the support, or as much as its ends have."""

    density: Density
    distance: Distance
    calibration: Calibration
    step_length: float
    edge: float


@dataclass(frozen=True, eq=False)
class Hops:
    """source, target: [e] rows of the places that a hop leads from and to; steps: [e] expected."""

    source: IntArray
    target: IntArray
    steps: FloatArray

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight lines that may become hops: source, target [n] rows of the places they join; length [n]
    units; learned [n] steps, as the distance states them."""

    source: IntArray
    target: IntArray
    length: FloatArray
    learned: FloatArray


def survey(sources: Places, targets: Places, ground: Ground) -> Lines:
    """The lines from some places to others that pass every test of a hop.

    A line is refused by the learned distance only where even the least that may be meant by it is beyond
    trust: over a short way the distance is noisy, and a narrow way may have no other line.
    """
    trusted = TRUSTED_SHARE * ground.calibration.local_window
    rows, columns, length = _near(sources, targets, trusted * ground.step_length)
    learned = _learned(sources, targets, rows, columns, ground.distance)
    starts, ends = sources.position[rows], targets.position[columns]
    is_open = np.asarray(ground.calibration.local_ratios[0] * learned <= trusted)
    is_open[is_open] = keeps_room(starts[is_open], ends[is_open], ground.density, ground.edge)
    is_open[is_open] = goes_with_traffic(starts[is_open], ends[is_open], ground.density, 2 * ground.edge)
    return Lines(rows[is_open], columns[is_open], length[is_open], learned[is_open])


def usual_pace(lines: Lines, ground: Ground) -> float:
    """Steps that a unit of way usually takes; at full speed where there are no lines to tell."""
    if len(lines.length) == 0:
        return 1.0 / ground.step_length
    return float(np.median(lines.learned / lines.length))


def price(lines: Lines, pace: float, calibration: Calibration) -> Hops:
    """Hops at the usual pace, and dearer only as far as the distance says so beyond its own error.

    Never cheaper: a chain collects what the distance states too low, by noise or because recordings were
    lucky there.
    """
    return Hops(
        lines.source,
        lines.target,
        np.maximum(pace * lines.length, calibration.local_ratios[0] * lines.learned),
    )


def _near(sources: Places, targets: Places, longest: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows of sources and targets within the span of their spacings and `longest` units, and how far apart
    they are."""
    widest = 0.5 * (sources.spacing.max(initial=0.0) + targets.spacing.max(initial=0.0))
    found = cKDTree(sources.position).sparse_distance_matrix(
        cKDTree(targets.position), min(longest, SPAN * widest), output_type="coo_matrix"
    )
    rows, columns = found.row.astype(np.int64), found.col.astype(np.int64)
    reach = 0.5 * SPAN * (sources.spacing[rows] + targets.spacing[columns])
    keep = np.flatnonzero((found.data <= reach) & (found.data > 0))
    keep = keep[np.lexsort((columns[keep], rows[keep]))]
    return rows[keep], columns[keep], found.data[keep]


def _learned(
    sources: Places, targets: Places, rows: IntArray, columns: IntArray, distance: Distance
) -> FloatArray:
    """[n] steps from sources[rows] to targets[columns]; only these are encoded, since codes cost most."""
    (some, first), (others, last) = (np.unique(asked, return_inverse=True) for asked in (rows, columns))
    source_codes = distance.encode(sources.position[some])
    return distance.between(source_codes[first], distance.encode(targets.position[others])[last])
