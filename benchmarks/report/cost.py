"""Table 3 and Table 5: seconds and nodes beside the published ones, ratios, shares of the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.stopwatch import REST
from benchmarks.suites.cost import PARTS
from chronoforest.bench.metrics import median
from chronoforest.bench.trials import PlanFigures, Trial
from chronoforest.report.contents import Exhibit

if TYPE_CHECKING:
    pass


Published = dict[str, dict[str, tuple[str, str]]]

PUBLISHED_ORDERS: Published = {
    "high": {
        "temporal-fixed": ("84.4 ± 19.1", "28.7 ± 8.4"),
        "graph-fixed": ("76.3 ± 14.8", "23.2 ± 6.9"),
        "online": ("82.5 ± 32.7", "26.1 ± 11.7"),
        "exhaustive": ("119.1 ± 32.3", "44.5 ± 11.2"),
    },
    "medium": {
        "temporal-fixed": ("108.7 ± 46.3", "37.1 ± 16.7"),
        "graph-fixed": ("99.0 ± 45.8", "29.8 ± 14.7"),
        "online": ("109.8 ± 59.0", "34.4 ± 15.3"),
        "exhaustive": ("132.1 ± 42.6", "45.4 ± 13.9"),
    },
    "low": {
        "temporal-fixed": ("89.4 ± 40.7", "29.4 ± 14.2"),
        "graph-fixed": ("95.1 ± 58.0", "26.6 ± 13.9"),
        "online": ("83.5 ± 25.8", "26.4 ± 10.5"),
        "exhaustive": ("129.0 ± 53.8", "44.1 ± 14.0"),
    },
    "total": {
        "temporal-fixed": ("94.2 ± 38.7", "31.7 ± 14.1"),
        "graph-fixed": ("90.1 ± 44.6", "26.5 ± 12.7"),
        "online": ("91.9 ± 43.6", "29.0 ± 13.2"),
        "exhaustive": ("126.7 ± 44.1", "44.6 ± 13.1"),
    },
}
"""Table 3: seconds on an RTX 3090 and nodes, by bin and variant."""

PUBLISHED_SEARCHES: Published = {
    "task 1": {
        "online": ("63.0", "9.0"),
        "start-tree-only": ("73.8", "27.0"),
        "l2-root": ("68.2", "17.0"),
    },
    "task 2": {
        "online": ("56.0", "7.8"),
        "start-tree-only": ("91.9", "33.1"),
        "l2-root": ("43.0", "11.9"),
    },
    "task 3": {
        "online": ("66.5", "8.9"),
        "start-tree-only": ("92.9", "35.2"),
        "l2-root": ("72.4", "19.1"),
    },
    "task 4": {
        "online": ("66.1", "10.7"),
        "start-tree-only": ("71.5", "24.8"),
        "l2-root": ("179.6", "40.0"),
    },
    "task 5": {
        "online": ("76.5", "10.9"),
        "start-tree-only": ("67.8", "21.0"),
        "l2-root": ("535.5", "31.9"),
    },
    "total": {
        "online": ("65.6", "9.5"),
        "start-tree-only": ("79.6", "28.2"),
        "l2-root": ("179.8", "24.0"),
    },
}
"""Table 5: seconds and nodes by task and variant."""


def cost_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """Cost of the orders by bin, of the searches by task, ratios, and shares of the time."""
    orders = [trial for trial in trials if trial.case.suite == "hamiltonian"]
    tasks = [trial for trial in trials if trial.case.suite == "tasks"]
    watched = [trial for trial in trials if trial.case.suite == "watched tasks"]
    return [
        _cost_sheet("cost-orders", "Planning cost, M = 1, K = 3", "Table 3", orders, PUBLISHED_ORDERS),
        _cost_sheet("cost-tasks", "Planning cost, one goal", "Table 5", tasks, PUBLISHED_SEARCHES),
        _ratio_sheet(orders, tasks),
        _share_sheet(watched),
    ]


def _cost_sheet(name: str, title: str, source: str, trials: Sequence[Trial], published: Published) -> Sheet:
    """A row per bin or task, and for each variant its seconds and its nodes."""
    rows = [
        _cost_row(label, [trial for trial in trials if label in (_label(trial), "total")], printed)
        for label, printed in published.items()
    ]
    notes = ("Planning alone, complete plans only; the paper's seconds are of an RTX 3090.",)
    return Sheet(name, title, source, tuple(rows[0].entries), tuple(rows), notes)


def _label(trial: Trial) -> str:
    """The bin of a stored problem, or the task."""
    return trial.case.instance.split("-")[-2] if trial.case.instance else f"task {trial.case.task}"


def _cost_row(label: str, trials: Sequence[Trial], published: dict[str, tuple[str, str]]) -> Row:
    entries = {}
    for variant, (seconds, nodes) in published.items():
        plans = _plans(trials, variant)
        entries[f"{variant}, s"] = Entry.of_mean((plan.seconds for plan in plans), seconds, digits=2)
        entries[f"{variant}, nodes"] = Entry.of_mean((plan.num_expanded for plan in plans), nodes)
    return Row(label, entries)


def _plans(trials: Sequence[Trial], variant: str) -> list[PlanFigures]:
    own = (trial.plan for trial in trials if trial.case.variant == variant)
    return [plan for plan in own if plan is not None and plan.is_complete]


def _ratio_sheet(orders: Sequence[Trial], tasks: Sequence[Trial]) -> Sheet:
    """Online against exhaustive on the instances that both solved, and the median of one goal."""
    both = _matched(orders, "online", "exhaustive")
    seconds = [[plan.seconds for plan in plans] for plans in zip(*both, strict=True)] or [[], []]
    single = [plan.seconds for plan in _plans(tasks, "online")]
    columns = ("online ÷ exhaustive, s", "median s, one goal")
    entries = {columns[0]: Entry.of_ratio(seconds[0], seconds[1], "0.73")}
    if single:
        entries[columns[1]] = Entry.of_value(median(single), len(single), "65.6 (mean)", digits=2)
    row = Row("planning time", entries)
    return Sheet("cost-ratios", "Planning time in short", "Table 3", columns, (row,))


def _matched(trials: Sequence[Trial], *variants: str) -> list[tuple[PlanFigures, ...]]:
    found: dict[tuple[str, int], dict[str, PlanFigures]] = {}
    for variant in variants:
        for trial in (trial for trial in trials if trial.case.variant == variant):
            if trial.plan is not None and trial.plan.is_complete:
                found.setdefault((trial.case.instance, trial.case.episode), {})[variant] = trial.plan
    whole = (plans for plans in found.values() if len(plans) == len(variants))
    return [tuple(plans[variant] for variant in variants) for plans in whole]


def _share_sheet(watched: Sequence[Trial]) -> Sheet:
    names = (*PARTS, REST)
    shares = [trial.measures["shares"] for trial in watched]
    row = Row("share of the time, %", {n: Entry.of_mean(100 * one[n] for one in shares) for n in names})
    notes = ("Watching slows Python down, so parts outside the networks are overstated a little.",)
    return Sheet("cost-shares", "Where the time goes, one goal", "", names, (row,), notes)
