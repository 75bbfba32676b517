"""Hops: straight lines between places that are trusted, supported all along, and go with the traffic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from chronoforest.roadmap.lines import goes_with_traffic, keeps_room, was_passed
from chronoforest.roadmap.places import Places
from chronoforest.types import BoolArray, Calibration, Density, Distance, FloatArray, IntArray

TRUSTED_SHARE = 0.8
"""Of the calibration's local window: the most steps that a hop may take by the learned distance."""

LONELY = 0.3
"""Where ways are lanes, how much dearer a hop gets with every factor e by which fewer recordings passed there
than at the usual place: what hardly anybody drove may be a stray. With less, a dozen trips whose fixes were
wrong lead through a block."""

AGAINST = 50.0
"""How much dearer a hop is that nobody drove the way it leads: taken only where there is no other way."""

NEAREST = 2.0
"""The longest hop that nobody drove, in spacings."""

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
    """source, target: [e] rows of the places that a hop leads from and to; steps: [e] expected; is_driven:
    [e] recordings went that way."""

    source: IntArray
    target: IntArray
    steps: FloatArray
    is_driven: BoolArray

    def __len__(self) -> int:
        return len(self.source)

    def driven(self) -> Hops:
        """Those that recordings went."""
        return self.some(self.is_driven)

    def some(self, keep: BoolArray) -> Hops:
        """Those that are kept [e]."""
        return Hops(self.source[keep], self.target[keep], self.steps[keep], self.is_driven[keep])

    def with_more(self, *others: Hops) -> Hops:
        """These hops and then the others."""
        parts = (self, *others)
        return Hops(
            np.concatenate([part.source for part in parts]),
            np.concatenate([part.target for part in parts]),
            np.concatenate([part.steps for part in parts]),
            np.concatenate([part.is_driven for part in parts]),
        )

    def graph(self, count: int) -> csr_matrix:
        """[count, count] steps from place to place."""
        return csr_matrix((self.steps, (self.source, self.target)), shape=(count, count))


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight lines that may become hops: source, target [n] rows of the places they join; length [n]
    units; learned [n] steps, as the distance states them; traffic [n] log density half-way; is_driven [n]
    recordings went that way."""

    source: IntArray
    target: IntArray
    length: FloatArray
    learned: FloatArray
    traffic: FloatArray
    is_driven: BoolArray


def survey(
    sources: Places,
    targets: Places,
    ground: Ground,
    codes: tuple[NDArray[Any], NDArray[Any]] | None = None,
    may_join: Callable[[IntArray, IntArray], BoolArray] | None = None,
) -> Lines:
    """The lines from some places to others that pass every test of a hop, and short ones that nobody drove:
    a world where recordings are thin would fall apart without them.

    codes: of the sources and the targets, where they are known; may_join: which rows of both may be joined.

    A line is refused by the learned distance only where even the least that may be meant by it is beyond
    trust: over a short way the distance is noisy, and a narrow way may have no other line.
    """
    trusted = TRUSTED_SHARE * ground.calibration.local_window
    rows, columns, length = _near(sources, targets, trusted * ground.step_length)
    if may_join is not None:
        keep = may_join(rows, columns)
        rows, columns, length = rows[keep], columns[keep], length[keep]
    source_codes, target_codes = codes or (ground.distance.encode(p.position) for p in (sources, targets))
    learned = ground.distance.between(source_codes[rows], target_codes[columns])
    starts, ends = sources.position[rows], targets.position[columns]
    is_open = np.asarray(ground.calibration.local_ratios[0] * learned <= trusted)
    is_driven = is_open.copy()
    is_driven[is_driven] = keeps_room(starts[is_driven], ends[is_driven], ground.density, ground.edge)
    is_driven[is_driven] = goes_with_traffic(
        starts[is_driven], ends[is_driven], ground.density, 2 * ground.edge
    )
    if ground.density.is_one_way:
        is_open &= is_driven | (length <= 0.5 * NEAREST * (sources.spacing[rows] + targets.spacing[columns]))
        least = min(
            float(ground.density.log_density(ends.position).min(initial=0.0)) for ends in (sources, targets)
        )
        undriven = np.flatnonzero(is_open & ~is_driven)
        is_open[undriven] = was_passed(starts[undriven], ends[undriven], ground.density, least)
    else:
        is_open = is_driven
    traffic = ground.density.log_density(0.5 * (starts + ends)[is_open])
    return Lines(
        rows[is_open], columns[is_open], length[is_open], learned[is_open], traffic, is_driven[is_open]
    )


@dataclass(frozen=True)
class Usual:
    """What is usual along lines: pace: steps that a unit of way takes; traffic: log density, None where ways
    are no lanes."""

    pace: float
    traffic: float | None = None

    @classmethod
    def along(cls, lines: Lines, ground: Ground) -> Usual:
        """The median of all; full speed where there are no lines to tell."""
        if len(lines.length) == 0:
            return cls(1.0 / ground.step_length)
        pace = float(np.median(lines.learned / lines.length))
        return cls(pace, float(np.median(lines.traffic)) if ground.density.is_one_way else None)


def price(lines: Lines, usual: Usual, calibration: Calibration) -> Hops:
    """Hops at the usual pace, and dearer only as far as the distance says so beyond its own error.

    Never cheaper: a chain collects what the distance states too low, by noise or because recordings were
    lucky there.
    """
    steps = np.maximum(usual.pace * lines.length, calibration.local_ratios[0] * lines.learned)
    if usual.traffic is not None:
        steps = steps * (1.0 + LONELY * np.maximum(0.0, usual.traffic - lines.traffic))
    steps = np.where(lines.is_driven, steps, AGAINST * steps)
    return Hops(lines.source, lines.target, steps, lines.is_driven)


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
