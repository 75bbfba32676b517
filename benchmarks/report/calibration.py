"""Figure 2 and eq. 37–39: the fits, coverage and slack by residual, and the two panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.report.charts import Chart, Series
from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites.calibration import RESIDUALS
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

if TYPE_CHECKING:
    pass


COVERED = "covered by α used, %"
RATIO_COLUMNS = ("local ratio 5 %", "local ratio 95 %", "ratio 5 %", "ratio 95 %")

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
        f"{trial.case.preset}, distance {trial.case.choice.distance}": trial.measures for trial in trials
    }
    return [
        _fit_sheet(named),
        _bin_sheet(named),
        *(chart for name, found in named.items() for chart in _charts(name, found)),
    ]


def _fit_sheet(named: Mapping[str, Mapping[str, Any]]) -> Sheet:
    rows = []
    for name, found in named.items():
        count = len(found["pairs"])
        values = (found["scale"], found["alpha_best"], found["alpha_95"], found["alpha_used"])
        entries = {
            column: Entry.of_value(value, count, PUBLISHED[column], digits=5)
            for column, value in zip(PUBLISHED, values, strict=False)
        }
        covered = 100 * found["covered"]
        entries[COVERED] = Entry.of_value(covered, count, PUBLISHED[COVERED], digits=1)
        rows.append(Row(f"{name}: free cells", {**entries, **_ratio_entries(found, count)}))
        stored = found["stored"]
        own = {"local scale": Entry.of_value(stored["local_scale"], 0), **_ratio_entries(stored, 0)}
        rows.append(
            Row(f"{name}: recordings", {**own, "α used": Entry.of_value(stored["alpha"], 0, digits=5)})
        )
    notes = (
        "Free cells: s in units per step. Recordings: s in steps per step, as stored with the weights.",
        "Ratios are the 5 % and 95 % quantiles of truth ÷ Ĉ (eq. 38), for T up to 50 steps and for all T; "
        "the width of a prediction is their difference times Ĉ (eq. 39). The paper left them blank.",
    )
    columns = (*PUBLISHED, *RATIO_COLUMNS)
    return Sheet("calibration", "Calibration of the distance", "Figure 2", columns, tuple(rows), notes)


def _ratio_entries(found: Mapping[str, Any], count: int) -> dict[str, Entry]:
    values = (*found["local_ratios"], *found["all_ratios"])
    return {name: Entry.of_value(value, count) for name, value in zip(RATIO_COLUMNS, values, strict=True)}


def _bin_sheet(named: Mapping[str, Mapping[str, Any]]) -> Sheet:
    """Two of the measurements that the paper proposes: coverage and slack, by residual."""
    columns = tuple(f"T ≤ {edge:g}" for edge in RESIDUALS[1:])
    rows = []
    for name, found in named.items():
        bins = dict(zip(columns, found["bins"], strict=True))
        shares = {column: _covered(one) for column, one in bins.items()}
        rows.append(Row(f"{name}: h(T) ≥ truth, %", shares))
        for place, quantile in enumerate(("median", "90 %", "95 %")):
            slack = {
                c: Entry.of_value(b["slack"][place], b["count"], digits=1)
                for c, b in bins.items()
                if b["slack"]
            }
            rows.append(Row(f"{name}: slack in steps, {quantile}", slack))
    notes = ("Pairs of free cells; every column starts where the one before ends.",)
    title = "Upper-calibration coverage and slack by residual"
    return Sheet("calibration-residuals", title, "appendix, proposed", columns, tuple(rows), notes)


def _covered(one: Mapping[str, Any]) -> Entry:
    return Entry.of_share([True] * one["covered"] + [False] * (one["count"] - one["covered"]))


def _charts(name: str, found: Mapping[str, Any]) -> list[Chart]:
    slug = name.replace(", distance ", "-")
    alphas, shares = zip(*found["curve"], strict=True)
    marks = {"α*": found["alpha_best"], "α used": found["alpha_used"], "α95": found["alpha_95"]}
    curve = Series("covered", alphas, shares)
    steps, units = np.array(found["pairs"]).T
    corrected = found["scale"] * (steps + found["alpha_used"] * steps**2)
    raw = Series("raw, sT", tuple(units), tuple(found["scale"] * steps))
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
