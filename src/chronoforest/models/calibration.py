"""How far the learned distance may be trusted, measured on recorded episodes (paper appendix, eq. 37–39)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from chronoforest.errors import require_positive
from chronoforest.types import Calibration, Distance, FloatArray

ERROR_GAPS = (0.1, 0.2, 0.4, 0.6, 1.0)
"""Shares of the local window up to which errors are tabulated."""

NUM_PAIRS, PAIRS_SEED = 20_000, 0
"""How many pairs are drawn from the recordings, and how."""

COVERAGE = 0.95
"""Share of recorded costs that h should cover."""


@dataclass(frozen=True)
class CalibrationParams:
    """local_window: steps within which the distance is trusted; arrival_radius: world units around the end of
    a recording within which it has arrived."""

    local_window: float = 50.0
    arrival_radius: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, "local_window", "arrival_radius")


@dataclass(frozen=True)
class StepPairs:
    """Two states of one recording and the steps between them: source, target [n, 2]; steps [n]."""

    source: FloatArray
    target: FloatArray
    steps: FloatArray


def draw_step_pairs(
    xy: FloatArray, params: CalibrationParams, jump: float, num_pairs: int = NUM_PAIRS
) -> StepPairs:
    """Pairs from the moving part of recordings xy [E, T, 2]; steps longer than `jump` are jumps.

    What comes after arrival (recordings park at their goals) or runs across a jump says nothing about
    travel time and is left out.
    """
    rng = np.random.default_rng(PAIRS_SEED)
    is_near_end = np.linalg.norm(xy - xy[:, -1:], axis=-1) < params.arrival_radius
    arrival = np.maximum(np.argmax(is_near_end, axis=1), 1)
    jumps = np.linalg.norm(np.diff(xy, axis=1), axis=-1) > jump
    num_jumps = np.concatenate([np.zeros((len(xy), 1), dtype=int), np.cumsum(jumps, axis=1)], axis=1)
    episode = rng.integers(len(xy), size=num_pairs)
    first = np.floor(rng.random(num_pairs) * arrival[episode]).astype(int)
    ahead = 1 + np.floor(rng.random(num_pairs) * (arrival[episode] - first)).astype(int)
    last = np.minimum(first + ahead, arrival[episode])
    keep = (last > first) & (num_jumps[episode, first] == num_jumps[episode, last])
    episode, first, last = episode[keep], first[keep], last[keep]
    return StepPairs(
        xy[episode, first].astype(float), xy[episode, last].astype(float), (last - first).astype(float)
    )


def predict(distance: Distance, pairs: StepPairs) -> FloatArray:
    """The learned distance of each pair, [n] steps."""
    return distance.between(distance.encode(pairs.source), distance.encode(pairs.target))


def calibrate(
    predicted: FloatArray, steps: FloatArray, params: CalibrationParams, coverage: float = COVERAGE
) -> Calibration:
    """Fit local scale, α and the error bands to predictions [n] and recorded steps [n]."""
    is_local = (predicted <= params.local_window) & (predicted > 1.0) & (steps > 1.0)
    local_scale = (
        float(np.exp(np.log(steps[is_local] / predicted[is_local]).mean())) if is_local.any() else 1.0
    )
    is_far = predicted > params.local_window
    alpha = covering_alpha(predicted[is_far], steps[is_far] / local_scale, coverage)
    ratio = steps / (local_scale * (predicted + alpha * predicted**2)).clip(1e-6)
    error = np.abs(local_scale * predicted - steps)
    gaps = [share * params.local_window for share in ERROR_GAPS]
    rising = np.maximum.accumulate([_quantile(error[predicted <= gap], coverage) for gap in gaps])
    return Calibration(
        alpha=alpha,
        local_scale=local_scale,
        local_ratios=_band(ratio[is_local]),
        all_ratios=_band(ratio[predicted > 1.0]),
        local_window=params.local_window,
        local_error=tuple((gap, float(value)) for gap, value in zip(gaps, rising, strict=True)),
    )


def covering_alpha(predicted: FloatArray, steps: FloatArray, coverage: float) -> float:
    """Smallest α ≥ 0 for which x + αx² reaches `coverage` of the recorded steps.

    Asked of far pairs only: over a short way the scatter of recorded steps is the recorder's noise, which
    no model error explains and which α would magnify at range.
    """
    return max(0.0, _quantile((steps - predicted) / np.maximum(predicted, 1.0) ** 2, coverage))


def rank_correlation(predicted: FloatArray, steps: FloatArray) -> float:
    """Spearman's ρ of predictions with recorded steps."""
    return float(spearmanr(predicted, steps).statistic)


def _band(ratio: FloatArray) -> tuple[float, float]:
    return _quantile(ratio, 0.05), _quantile(ratio, 0.95)


def _quantile(values: FloatArray, share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else 0.0
