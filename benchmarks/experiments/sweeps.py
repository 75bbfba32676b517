"""Sweeps over what the paper does not give, one parameter at a time, on problems that no other table uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from benchmarks.case import Case
from benchmarks.experiments.protocol import plan_random, random_cases
from benchmarks.metrics import complete_plans, is_sound
from benchmarks.overrides import overridden
from benchmarks.report.pictures import Chart, Series
from benchmarks.report.tables import Entry, Row, Sheet
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import PlanFigures, Trial
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.loading import PresetPlanner

EPISODES = 20
VALIDATION = Case("multi", PlannerChoice("antmaze-giant-stitch-v0"), seed=777, num_waypoints=3)

SWEEPS: dict[str, tuple[str, tuple[float, ...]]] = {
    "pairs in a round": ("budget.num_pairs", (2, 4, 8)),
    "of them for coverage": ("budget.num_coverage", (0, 1, 2)),
    "τ, steps": ("budget.certified_gap", (10, 30, 100)),
    "leaves promoted per pair": ("search.num_expand", (1, 2, 3)),
    "samples per leaf": ("search.junction.num_samples", (4, 6, 12, 24)),
    "denoising steps": ("sampler.num_steps", (5, 10, 20, 50)),
    "α": ("calibration.alpha", (0.0, 0.0005, 0.002, 0.005)),
    "λ": ("search.uncertainty_weight", (0.0, 0.1, 1.0, 10.0)),
    "challenges of a link": ("challenge.max_challenges", (0, 1, 8)),
}
"""What is swept: the parameter's name for `changes`, and its values."""


def cases(request: Request) -> list[Case]:
    """Every value of every parameter on the same problems."""
    problems = random_cases(VALIDATION, request.episodes or EPISODES)
    return [
        replace(case, change=f"{path}={value:g}")
        for path, values in SWEEPS.values()
        for value in values
        for case in problems
    ]


def run_changed(case: Case, planner: PresetPlanner) -> Trial:
    """Plan with the one parameter set otherwise."""
    return plan_random(case, overridden(planner, case.change))


def _mean(value: Callable[[PlanFigures], float], digits: int) -> Callable[[Sequence[Trial]], Entry]:
    return lambda trials: Entry.of_mean(map(value, complete_plans(trials)), digits=digits)


COLUMNS: dict[str, Callable[[Sequence[Trial]], Entry]] = {
    "sound plans, %": lambda own: Entry.of_share(t.plan is not None and is_sound(t.plan) for t in own),
    "÷ geodesic optimum": _mean(lambda plan: plan.length / plan.geodesic, 3),
    "its order ÷ best order": _mean(lambda plan: plan.order_length / plan.geodesic, 3),
    "expanded": _mean(lambda plan: plan.num_expanded, 1),
    "planning s": _mean(lambda plan: plan.seconds, 2),
}


def sweep_charts(trials: Sequence[Trial]) -> list[Exhibit]:
    """A table of everything and a chart for each parameter."""
    groups = {
        f"{name} = {value:g}": [t for t in trials if t.case.change == f"{path}={value:g}"]
        for name, (path, values) in SWEEPS.items()
        for value in values
    }
    notes = ("Validation problems: random, three waypoints, seed 777. Every change is from the preset.",)
    sheet = Sheet.of("sweeps", "One parameter at a time", "", groups, COLUMNS, notes)
    rows = {row.label: row for row in sheet.rows}
    charts = (_chart(name, rows) for name in SWEEPS)
    return [sheet, *(chart for chart in charts if chart.series[0].x)]


def _chart(name: str, rows: Mapping[str, Row]) -> Chart:
    """Length against the geodesic optimum, and how much of it is the order's fault, over the values."""
    path, values = SWEEPS[name]
    series = []
    for column in tuple(COLUMNS)[1:3]:
        known = [(value, rows[f"{name} = {value:g}"].entries[column].ours) for value in values]
        points = [(float(value), ours.value) for value, ours in known if ours is not None]
        series.append(Series(column, tuple(x for x, _ in points), tuple(y for _, y in points)))
    slug = path.replace(".", "-")
    return Chart(f"sweep-{slug}", f"Length over {name}", "", name, "÷ geodesic optimum", tuple(series))


SUITE = Suite("sweeps", "parameters the paper does not give", cases, run_changed, sweep_charts)
