"""Figure 2 and eq. 37–39: how the learned distance relates to ways over the map's cells.

The paper fits on all pairs of free cells, which needs the map; the planner itself uses a calibration from
recordings, stored with the distance. T is the raw distance in steps, G the length over cells
in units, and Ĉ(T) = s (T + αT²) the corrected prediction.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from chronoforest.bench.case import Case
from chronoforest.bench.problems import open_cells
from chronoforest.bench.references import bfs_matrix
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial
from chronoforest.envs.mazes import cell_centre
from chronoforest.models.calibration import covering_alpha
from chronoforest.peers.choice import PlannerChoice
from chronoforest.types import FloatArray

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

LOCAL_WINDOW = 50.0
"""Steps up to which the local scale is fitted, as in the paper."""

COVERAGE = 0.95
QUANTILES = (0.05, 0.95)
LARGEST_ALPHA = 0.02
RESIDUALS = (0.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 400.0, 1000.0)
"""Edges of the bins of T, in steps, that coverage and slack are told for."""

MEASURED = (
    ("antmaze-giant-stitch-v0", "own"),
    ("antmaze-giant-stitch-v0", "paper"),
    ("pointmaze-giant-stitch-v0", "own"),
)


def cases(_request: Request) -> list[Case]:
    """One per preset and distance; there is nothing to repeat."""
    return [Case("calibration", PlannerChoice(preset, distance=distance)) for preset, distance in MEASURED]


def run_calibration(case: Case, planner: PresetPlanner) -> Trial:
    """Compare the distance with the map on all pairs of free cells; nothing is planned."""
    points = cell_centre(open_cells(case.maze))
    distance = planner.models.distance
    codes = distance.encode(points)
    above = np.triu_indices(len(points), k=1)
    steps, units = distance.pairwise(codes, codes)[above], bfs_matrix(case.maze, points)[above]
    stored = planner.models.calibration
    fitted = fit(steps, units, stored.alpha)
    pairs = np.round(np.stack([steps, units], axis=1), 2).tolist()
    return Trial(case, plan=None, measures={**fitted, "pairs": pairs, "stored": stored.to_dict()})


def fit(steps: FloatArray, units: FloatArray, alpha: float) -> dict[str, Any]:
    """Scale, α* and α95 of pairs [n], the share that each α covers, and ratios and slack for the α in use."""
    is_local = steps <= LOCAL_WINDOW
    scale = local_scale(steps, units)
    target = units / scale
    best = minimize_scalar(
        lambda a: _log_error(steps, target, a), bounds=(0.0, LARGEST_ALPHA), method="bounded"
    )
    alphas = np.linspace(0.0, LARGEST_ALPHA, 81)
    corrected = steps + alpha * steps**2
    ratios = target / corrected
    return {
        "scale": scale,
        "alpha_best": float(best.x),
        "alpha_95": covering_alpha(steps, target, COVERAGE),
        "alpha_used": alpha,
        "covered": float(np.mean(corrected >= target)),
        "curve": [[float(a), float(np.mean(steps + a * steps**2 >= target))] for a in alphas],
        "local_ratios": np.quantile(ratios[is_local], QUANTILES).tolist(),
        "all_ratios": np.quantile(ratios, QUANTILES).tolist(),
        "bins": [_bin(steps, target, alpha, low, high) for low, high in pairwise(RESIDUALS)],
    }


def local_scale(steps: FloatArray, units: FloatArray) -> float:
    """Units of a step over pairs [n] in the local window, by the least log-error."""
    is_local = steps <= LOCAL_WINDOW
    return float(np.exp(np.mean(np.log(units[is_local] / steps[is_local]))))


def _log_error(steps: FloatArray, target: FloatArray, alpha: float) -> float:
    return float(np.sqrt(np.mean(np.log((steps + alpha * steps**2) / target) ** 2)))


def _bin(steps: FloatArray, target: FloatArray, alpha: float, low: float, high: float) -> dict[str, Any]:
    """Pairs whose T lies between two edges: how many, how many h covers, and quantiles of |T − G / s|."""
    inside = (steps > low) & (steps <= high)
    error = np.abs(steps - target)[inside]
    quantiles = np.quantile(error, (0.5, 0.9, 0.95)).tolist() if len(error) else []
    covered = (steps + alpha * steps**2 >= target)[inside]
    return {"to": high, "count": int(inside.sum()), "covered": int(covered.sum()), "slack": quantiles}


SUITE = Suite("calibration", "the distance against the map", cases, run_calibration, seconds=2.0)
