"""How long ways take: from how long recordings took on the same hops, with an interval checked on others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronoforest.errors import require_positive, require_within
from chronoforest.roadmap.transitions import Passes, Transitions, group_median
from chronoforest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class TimeParams:
    """How times are checked: on stretches of recordings of so many hops, if there are `least` of them; share:
    of the true times that shall lie in an interval."""

    num_hops: tuple[int, ...] = (4, 8, 16, 32, 64, 128, 256)
    share: float = 0.9
    least: int = 30

    def __post_init__(self) -> None:
        require_positive(self, "least")
        require_within(self, 0, 1, "share")


@dataclass(frozen=True)
class Took:
    """Steps that a way takes in the middle, and between which it lies for most recordings."""

    steps: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Times:
    """steps: [e] of each hop in the median; ratios: [k, 3] times the sum of these that stretches of
    num_hops [k] hops take in the median, at least and at most: hops in a row are slow together."""

    steps: FloatArray
    num_hops: FloatArray
    ratios: FloatArray

    def of(self, hops: IntArray) -> Took:
        """How long some hops take, one after the other."""
        steps, count = float(self.steps[hops].sum()), np.log(max(1, len(hops)))
        return Took(*(steps * float(np.interp(count, np.log(self.num_hops), part)) for part in self.ratios.T))


def times_of(hops: Transitions, passes: Passes, num_places: int, params: TimeParams) -> Times:
    """Times of hops, and intervals from how long the recordings of one half took on stretches, against the
    medians of the other half."""
    hop = hops.numbers_of(passes.source, passes.target, num_places)
    is_known = hop >= 0
    half = passes.owner % 2 == 0
    expected = np.where(
        half,
        _medians(hops, hop, passes, is_known & ~half)[hop],
        _medians(hops, hop, passes, is_known & half)[hop],
    )
    is_next = (passes.source[1:] == passes.target[:-1]) & (passes.owner[1:] == passes.owner[:-1])
    follows = np.append(False, is_next)
    chain: IntArray = np.cumsum(~(follows & is_known), dtype=np.int64)
    found = [_ratios(passes.duration, expected, chain, is_known, count) for count in params.num_hops]
    some = [(k, ratio) for k, ratio in zip(params.num_hops, found, strict=True) if len(ratio) >= params.least]
    if not some:
        return Times(hops.steps, np.ones(1), np.ones((1, 3)))
    tail = 0.5 * (1.0 - params.share)
    ratios = np.array([np.quantile(ratio, [0.5, tail, 1.0 - tail]) for _, ratio in some])
    return Times(hops.steps, np.array([k for k, _ in some], dtype=np.float64), ratios)


def _medians(hops: Transitions, hop: IntArray, passes: Passes, keep: BoolArray) -> FloatArray:
    """[e] steps of hops in the median of some passes, as all have it where none of these makes one."""
    steps = hops.steps.copy()
    made, group = np.unique(hop[keep], return_inverse=True)
    steps[made] = group_median(group, passes.duration[keep], len(made))
    return steps


def _ratios(
    duration: FloatArray, expected: FloatArray, chain: IntArray, is_known: BoolArray, count: int
) -> FloatArray:
    """[n] of stretches of so many hops that recordings made in a row, the time taken over that expected."""
    start = np.arange(0, len(duration) - count, max(1, count // 2))
    total = [np.append(0.0, np.cumsum(np.where(is_known, values, 0.0))) for values in (duration, expected)]
    # A chain begins at a pass that does not follow the one before, or is not known.
    is_whole = (chain[start] == chain[start + count - 1]) & is_known[start]
    took, usual = (part[start + count][is_whole] - part[start][is_whole] for part in total)
    return np.asarray(took[usual > 0] / usual[usual > 0])
