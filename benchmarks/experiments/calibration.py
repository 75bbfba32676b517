"""Figure 2 and eq. 37–39 on all pairs of free cells: T is the raw distance in steps, G the length over cells
in units, and Ĉ(T) = s (T + αT²) the corrected prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from benchmarks.case import Case
from benchmarks.problems import open_cells
from benchmarks.references import bfs_matrix
from benchmarks.report.pictures import Chart, Series
from benchmarks.report.tables import Entry, Row, Sheet
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import Trial
from chronoforest.envs.maps import cell_centre
from chronoforest.models.distance import covering_alpha
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.loading import PresetPlanner
from chronoforest.types import Calibration, FloatArray

LOCAL_WINDOW = 50.0  # steps up to which the local scale is fitted, as in the paper

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


@dataclass(frozen=True)
class Bin:
    """Pairs whose T lies below an edge and above the one before: how many, how many of them h covers, and the
    median, 90 % and 95 % quantiles of |T − G / s|, none without pairs."""

    to: float
    count: int
    covered: int
    slack: list[float]


@dataclass(frozen=True)
class FitFigures:
    """Scale, α* and α95 of pairs [n], the share that each α covers, ratios and slack for the α in use, the
    pairs (T, G) themselves, and the calibration that is stored with the distance."""

    scale: float
    alpha_best: float
    alpha_95: float
    alpha_used: float
    covered: float
    curve: list[list[float]]
    local_ratios: list[float]
    all_ratios: list[float]
    bins: list[Bin]
    pairs: list[list[float]]
    stored: Calibration


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
    return Trial(case, plan=None, figures=fit(steps, units, stored))


def fit(steps: FloatArray, units: FloatArray, stored: Calibration) -> FitFigures:
    """Fit pairs [n] of predicted steps and true units."""
    alpha = stored.alpha
    is_local = steps <= LOCAL_WINDOW
    scale = local_scale(steps, units)
    target = units / scale
    log_error = lambda a: np.sqrt(np.mean(np.log((steps + a * steps**2) / target) ** 2))  # noqa: E731
    best = minimize_scalar(log_error, bounds=(0.0, LARGEST_ALPHA), method="bounded")
    alphas = np.linspace(0.0, LARGEST_ALPHA, 81)
    corrected = steps + alpha * steps**2
    ratios = target / corrected
    return FitFigures(
        scale=scale,
        alpha_best=float(best.x),
        alpha_95=covering_alpha(steps, target, COVERAGE),
        alpha_used=alpha,
        covered=float(np.mean(corrected >= target)),
        curve=[[float(a), float(np.mean(steps + a * steps**2 >= target))] for a in alphas],
        local_ratios=np.quantile(ratios[is_local], QUANTILES).tolist(),
        all_ratios=np.quantile(ratios, QUANTILES).tolist(),
        bins=[_bin(steps, target, alpha, low, high) for low, high in pairwise(RESIDUALS)],
        pairs=np.round(np.stack([steps, units], axis=1), 2).tolist(),
        stored=stored,
    )


def local_scale(steps: FloatArray, units: FloatArray) -> float:
    """Units of a step over pairs [n] in the local window, by the least log-error."""
    is_local = steps <= LOCAL_WINDOW
    return float(np.exp(np.mean(np.log(units[is_local] / steps[is_local]))))


def _bin(steps: FloatArray, target: FloatArray, alpha: float, low: float, high: float) -> Bin:
    """Pairs whose T lies between two edges."""
    inside = (steps > low) & (steps <= high)
    error = np.abs(steps - target)[inside]
    quantiles = np.quantile(error, (0.5, 0.9, 0.95)).tolist() if len(error) else []
    covered = (steps + alpha * steps**2 >= target)[inside]
    return Bin(high, int(inside.sum()), int(covered.sum()), quantiles)


COVERED = "covered by α used, %"
RATIO_COLUMNS = ("local ratio 5 %", "local ratio 95 %", "ratio 5 %", "ratio 95 %")
MEDIANS = ("local ratio, median", "ratio, median")

PUBLISHED = {
    "local scale": "0.15131",
    "α*": "0.00164",
    "α95": "0.00609",
    "α used": "0.005",
    COVERED: "about 93",
}
"""The paper leaves the ratio quantiles of eq. 38 blank."""


def calibration_fits(trials: Sequence[Trial]) -> list[Exhibit]:
    """The fits, coverage and slack by residual, and the two panels of the figure."""
    if not trials:
        return []
    named = {
        f"{trial.case.preset}, distance {trial.case.choice.distance}": trial.figures
        for trial in trials
        if isinstance(trial.figures, FitFigures)
    }
    return [
        _fit_sheet(named),
        _bin_sheet(named),
        *(chart for name, found in named.items() for chart in _charts(name, found)),
    ]


def _fit_sheet(named: Mapping[str, FitFigures]) -> Sheet:
    rows = []
    for name, found in named.items():
        count = len(found.pairs)
        values = (found.scale, found.alpha_best, found.alpha_95, found.alpha_used)
        entries = {
            column: Entry.of_value(value, count, PUBLISHED[column], digits=5)
            for column, value in zip(PUBLISHED, values, strict=False)
        }
        covered = 100 * found.covered
        entries[COVERED] = Entry.of_value(covered, count, PUBLISHED[COVERED], digits=1)
        steps, units = np.array(found.pairs).T
        ratios = units / found.scale / (steps + found.alpha_used * steps**2)
        medians = (np.median(ratios[steps <= LOCAL_WINDOW]), np.median(ratios))
        entries |= {name: Entry.of_value(float(v), count) for name, v in zip(MEDIANS, medians, strict=True)}
        rows.append(Row(f"{name}: free cells", {**entries, **_ratio_entries(found, count)}))
        stored = found.stored
        own = {"local scale": Entry.of_value(stored.local_scale, 0), **_ratio_entries(stored, 0)}
        rows.append(Row(f"{name}: recordings", {**own, "α used": Entry.of_value(stored.alpha, 0, digits=5)}))
    notes = (
        "Free cells: s in units per step. Recordings: s in steps per step, as stored with the weights.",
        "Ratios are quantiles of truth ÷ Ĉ (eq. 38), for T up to 50 steps and for all T; "
        "the width of a prediction is their difference times Ĉ (eq. 39). The paper left them blank.",
    )
    columns = (*PUBLISHED, *RATIO_COLUMNS, *MEDIANS)
    return Sheet("calibration", "Calibration of the distance", "Figure 2", columns, tuple(rows), notes)


def _ratio_entries(found: FitFigures | Calibration, count: int) -> dict[str, Entry]:
    values = (*found.local_ratios, *found.all_ratios)
    return {name: Entry.of_value(value, count) for name, value in zip(RATIO_COLUMNS, values, strict=True)}


def _bin_sheet(named: Mapping[str, FitFigures]) -> Sheet:
    """Two of the measurements that the paper proposes: coverage and slack, by residual."""
    columns = tuple(f"T ≤ {edge:g}" for edge in RESIDUALS[1:])
    rows = []
    for name, found in named.items():
        bins = dict(zip(columns, found.bins, strict=True))
        shares = {c: Entry.of_share(k < one.covered for k in range(one.count)) for c, one in bins.items()}
        rows.append(Row(f"{name}: h(T) ≥ truth, %", shares))
        for place, quantile in enumerate(("median", "90 %", "95 %")):
            slack = {c: Entry.of_value(b.slack[place], b.count, digits=1) for c, b in bins.items() if b.slack}
            rows.append(Row(f"{name}: slack in steps, {quantile}", slack))
    notes = ("Pairs of free cells; every column starts where the one before ends.",)
    title = "Upper-calibration coverage and slack by residual"
    return Sheet("calibration-residuals", title, "appendix, proposed", columns, tuple(rows), notes)


def _charts(name: str, found: FitFigures) -> list[Chart]:
    slug = name.replace(", distance ", "-")
    alphas, shares = zip(*found.curve, strict=True)
    marks = {"α*": found.alpha_best, "α used": found.alpha_used, "α95": found.alpha_95}
    curve = Series("covered", alphas, shares)
    steps, units = np.array(found.pairs).T
    corrected = found.scale * (steps + found.alpha_used * steps**2)
    raw = Series("raw, sT", tuple(units), tuple(found.scale * steps))
    inflated = Series("corrected, s(T + αT²)", tuple(units), tuple(corrected))
    places = tuple(np.linspace(0.0, units.max(), 200))
    truth = Series("equal", places, places)
    return [
        Chart(f"coverage-{slug}", f"Pairs covered, {name}", "Figure 2", "α", "share", (curve,), marks=marks),
        Chart(
            f"scatter-{slug}",
            f"Distance against BFS, {name}",
            "Figure 2",
            "G, units over cells",
            "prediction, units",
            (raw, inflated, truth),
            kind="scatter",
        ),
    ]


SUITE = Suite(
    "calibration",
    "the distance against the map",
    cases,
    run_calibration,
    calibration_fits,
    figures=(FitFigures,),
)
