"""Table 3 and Table 5: seconds and expanded nodes of the variants, and where the time goes; to be run with
one worker on idle cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.case import Case
from benchmarks.experiments.hamiltonian import InstanceFigures, instance_cases, run_instance
from benchmarks.experiments.stitch import task_problem
from benchmarks.instances import instance_set
from benchmarks.measuring import REST, Stopwatch
from benchmarks.metrics import median
from benchmarks.report.tables import Entry, Row, Sheet, by
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import PlanFigures, Trial, figures_of, measure_plan, plan_problem
from chronoforest.models.distance import TemporalDistance
from chronoforest.models.sampler import SegmentSampler
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.loading import PresetPlanner
from chronoforest.routing.solver import AutoSolver, FixedOrder
from chronoforest.search.junction import cluster
from chronoforest.search.meeting import meetings

PRESET = "antmaze-giant-stitch-v0"
ORDERS = ("temporal-fixed", "graph-fixed", "online", "exhaustive")
SEARCHES = ("online", "start-tree-only", "l2-root")
PAPER_SEARCHES = ("paper", "paper-start-tree-only", "paper-l2-root")
EPISODES = 10
WATCHED_EPISODES = 2
RATES = (1.0, 10.0, 100.0)  # λ_time, which the paper leaves open

PARTS: dict[str, tuple[Callable[..., Any], ...]] = {
    "sampling": (SegmentSampler.__call__,),
    "distance": (TemporalDistance.encode, TemporalDistance.between, TemporalDistance.pairwise),
    "clustering": (cluster,),
    "meeting": (meetings,),
    "route solving": (AutoSolver.__call__, FixedOrder.__call__),
}
"""What the time is split over; a distance asked within another part counts there."""


@dataclass(frozen=True)
class ShareFigures:
    """Where the time of a watched plan goes, by name."""

    shares: Mapping[str, float]


def cases(request: Request) -> list[Case]:
    """Stored problems for the orders, official tasks for the searches, and a few plans that are watched."""
    tasks = [
        Case("tasks", PlannerChoice(PRESET), task, episode, variant=variant)
        for episode in range(request.episodes or EPISODES)
        for task in range(1, 6)
        for variant in (*SEARCHES, *PAPER_SEARCHES)
    ]
    is_watched = (case for case in tasks if case.variant == "online" and case.episode < WATCHED_EPISODES)
    watched = [replace(case, suite="watched tasks") for case in is_watched]
    orders = instance_cases(instance_set(PRESET, "own"), ORDERS, request, (1,))
    return [*tasks, *watched, *orders]


def run_cost(case: Case, planner: PresetPlanner) -> Trial:
    """Plan, watched or not; nothing is walked."""
    if case.suite == "hamiltonian":
        return run_instance(case, planner)
    problem, watch = task_problem(case), Stopwatch(PARTS)
    with watch if case.suite == "watched tasks" else nullcontext():
        result = plan_problem(case, planner, problem)
    figures = ShareFigures(watch.shares()) if case.suite == "watched tasks" else None
    return Trial(case, measure_plan(result, case.maze), figures=figures)


Published = dict[str, dict[str, tuple[str, str]]]


def _printed(variants: Sequence[str], rows: Mapping[str, str]) -> Published:
    """Rows as the paper prints them: seconds and nodes of each variant."""
    cells = {label: [cell.split(", ") for cell in row.split(" | ")] for label, row in rows.items()}
    return {
        label: {v: (s, n) for v, (s, n) in zip(variants, row, strict=True)} for label, row in cells.items()
    }


PUBLISHED_ORDERS = _printed(
    ORDERS,
    {
        "high": "84.4 ± 19.1, 28.7 ± 8.4 | 76.3 ± 14.8, 23.2 ± 6.9 | "
        "82.5 ± 32.7, 26.1 ± 11.7 | 119.1 ± 32.3, 44.5 ± 11.2",
        "medium": "108.7 ± 46.3, 37.1 ± 16.7 | 99.0 ± 45.8, 29.8 ± 14.7 | "
        "109.8 ± 59.0, 34.4 ± 15.3 | 132.1 ± 42.6, 45.4 ± 13.9",
        "low": "89.4 ± 40.7, 29.4 ± 14.2 | 95.1 ± 58.0, 26.6 ± 13.9 | "
        "83.5 ± 25.8, 26.4 ± 10.5 | 129.0 ± 53.8, 44.1 ± 14.0",
        "total": "94.2 ± 38.7, 31.7 ± 14.1 | 90.1 ± 44.6, 26.5 ± 12.7 | "
        "91.9 ± 43.6, 29.0 ± 13.2 | 126.7 ± 44.1, 44.6 ± 13.1",
    },
)
"""Table 3: seconds on an RTX 3090 and nodes, by bin and variant."""

_TABLE_5 = {
    "task 1": "63.0, 9.0 | 73.8, 27.0 | 68.2, 17.0",
    "task 2": "56.0, 7.8 | 91.9, 33.1 | 43.0, 11.9",
    "task 3": "66.5, 8.9 | 92.9, 35.2 | 72.4, 19.1",
    "task 4": "66.1, 10.7 | 71.5, 24.8 | 179.6, 40.0",
    "task 5": "76.5, 10.9 | 67.8, 21.0 | 535.5, 31.9",
    "total": "65.6, 9.5 | 79.6, 28.2 | 179.8, 24.0",
}
"""Table 5: seconds and nodes by task and variant."""


def cost_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """Cost of the orders by bin, of the searches by task, ratios, and shares of the time."""
    orders = [trial for trial in trials if trial.case.suite == "hamiltonian"]
    tasks = [trial for trial in trials if trial.case.suite == "tasks"]
    watched = [trial for trial in trials if trial.case.suite == "watched tasks"]
    return [
        _cost_sheet("cost-orders", "Planning cost, M = 1, K = 3", "Table 3", orders, PUBLISHED_ORDERS),
        _cost_sheet("cost-tasks", "Planning cost, one goal", "Table 5", tasks, _printed(SEARCHES, _TABLE_5)),
        _cost_sheet(
            "cost-paper",
            "Planning cost, one goal, the variant paper",
            "Table 5",
            tasks,
            _printed(PAPER_SEARCHES, _TABLE_5),
        ),
        _ratio_sheet(orders, tasks),
        loss_sheet(orders),
        _share_sheet(watched),
    ]


def _cost_sheet(name: str, title: str, source: str, trials: Sequence[Trial], published: Published) -> Sheet:
    """A row per bin or task, and for each variant its seconds and its nodes."""
    groups = by(
        trials, lambda t: t.case.instance.split("-")[-2] if t.case.instance else f"task {t.case.task}"
    )
    rows = []
    for label, printed in published.items():
        entries = {}
        for variant, (seconds, nodes) in printed.items():
            plans = _plans(trials if label == "total" else groups.get(label, []), variant)
            entries[f"{variant}, s"] = Entry.of_mean((plan.seconds for plan in plans), seconds, digits=2)
            entries[f"{variant}, nodes"] = Entry.of_mean((plan.num_expanded for plan in plans), nodes)
        rows.append(Row(label, entries))
    notes = ("Planning alone, complete plans only; the paper's seconds are of an RTX 3090.",)
    return Sheet(name, title, source, tuple(rows[0].entries), tuple(rows), notes)


def _plans(trials: Sequence[Trial], variant: str) -> list[PlanFigures]:
    own = (trial.plan for trial in trials if trial.case.variant == variant)
    return [plan for plan in own if plan is not None and plan.is_complete]


def _ratio_sheet(orders: Sequence[Trial], tasks: Sequence[Trial]) -> Sheet:
    """Online against exhaustive on the instances that both solved, and the median of one goal."""
    both = _matched(orders)
    seconds = [one.seconds for one, _, _ in both], [other.seconds for _, other, _ in both]
    single = [plan.seconds for plan in _plans(tasks, "online")]
    columns = ("online ÷ exhaustive, s", "median s, one goal")
    entries = {columns[0]: Entry.of_ratio(seconds[0], seconds[1], "0.73")}
    if single:
        entries[columns[1]] = Entry.of_value(median(single), len(single), "65.6 (mean)", digits=2)
    row = Row("planning time", entries)
    return Sheet("cost-ratios", "Planning time in short", "Table 3", columns, (row,))


def _matched(orders: Sequence[Trial]) -> list[tuple[PlanFigures, PlanFigures, float]]:
    """Plans of `online` and `exhaustive` of what both solved, and the bound of Theorem 1 of the first."""
    found: dict[tuple[str, int], dict[str, tuple[PlanFigures, object]]] = {}
    for trial in orders:
        if trial.plan is not None and trial.plan.is_complete:
            plans = found.setdefault((trial.case.instance, trial.case.episode), {})
            plans[trial.case.variant] = trial.plan, trial.figures
    both = []
    for of in found.values():
        if {"online", "exhaustive"} <= set(of):
            (one, kept), (other, _) = of["online"], of["exhaustive"]
            bound = kept.certificate.bound if isinstance(kept, InstanceFigures) else np.inf
            both.append((one, other, bound))
    return both


def loss_sheet(orders: Sequence[Trial]) -> Sheet:
    """The loss of eq. 34, λ τ + J*, of `online` and of `exhaustive`, and how often eq. 43 and 44 hold."""
    both = _matched(orders)
    saved = [other.seconds - one.seconds for one, other, _ in both]
    longer = [one.order_length - other.order_length for one, other, _ in both]
    entries = {
        "seconds saved": Entry.of_mean(saved),
        "J* longer, units": Entry.of_mean(longer, digits=2),
    }
    for rate in RATES:
        is_less = [rate * seconds > units for seconds, units in zip(saved, longer, strict=True)]
        is_bound = [rate * seconds > bound for seconds, (_, _, bound) in zip(saved, both, strict=True)]
        entries[f"eq. 44 at λ = {rate:g}, %"] = Entry.of_share(is_less)
        entries[f"eq. 43 at λ = {rate:g}, %"] = Entry.of_share(is_bound)
    notes = (
        "A round of `exhaustive` searches every pair and one of `online` four, so τ is in seconds, of the "
        "finished plan with its challenges; J* is the order's way by the map.",
        "λ is in units a second for eq. 44 and in steps a second for eq. 43, with the bound of Theorem 1.",
    )
    row = Row("online against exhaustive", entries)
    return Sheet("cost-loss", "Planning-augmented loss", "eq. 34, 43, 44", tuple(entries), (row,), notes)


def _share_sheet(watched: Sequence[Trial]) -> Sheet:
    names = (*PARTS, REST)
    shares = [found.shares for found in figures_of(watched, ShareFigures)]
    row = Row("share of the time, %", {n: Entry.of_mean(100 * one[n] for one in shares) for n in names})
    notes = ("Watching slows Python down, so parts outside the networks are overstated a little.",)
    return Sheet("cost-shares", "Where the time goes, one goal", "", names, (row,), notes)


SUITE = Suite(
    "cost",
    "seconds and nodes of the variants",
    cases,
    run_cost,
    cost_tables,
    figures=(ShareFigures, InstanceFigures),
)
