"""Benchmark trials as a table, for the terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chronoforest.bench import metrics
from chronoforest.bench.metrics import Estimate, complete_plans
from chronoforest.bench.trials import PlanFigures, Trial


@dataclass(frozen=True)
class Table:
    """Text in rows; the first column names the row, and the last row may be a total."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_total: bool = False

    def to_markdown(self) -> str:
        """A pipe table."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def to_rich(self) -> Any:
        """A table for rich's console."""
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, title_justify="left")
        for position, name in enumerate(self.header):
            table.add_column(name, justify="left" if position == 0 else "right")
        for left, row in enumerate(self.rows, start=1 - len(self.rows)):
            table.add_row(*row, end_section=self.has_total and left == -1)
        return table


Cell = Callable[[Sequence[Trial]], str]


def bench_table(suite: str, trials: Sequence[Trial], title: str = "") -> Table:
    """One row per task where the suite has tasks, and one for all trials."""
    columns = _COLUMNS[suite]
    tasks = sorted({trial.case.task for trial in trials} - {0})
    groups = [(f"task {task}", [trial for trial in trials if trial.case.task == task]) for task in tasks]
    groups.append((f"all ({len(trials)})", list(trials)))
    rows = tuple((name, *(cell(group) for cell in columns.values())) for name, group in groups)
    return Table(title, ("", *columns), rows, has_total=True)


def percent(estimate: Estimate) -> str:
    """A share as 98.0 % with its interval."""
    low, high = (f"{100 * end:.1f}" for end in (estimate.low, estimate.high))
    return f"{100 * estimate.value:.1f} % [{low}, {high}]"


def _success(cap: int) -> Cell:
    return lambda trials: percent(metrics.success(trials, cap))


def _mean(value: Callable[[PlanFigures], float], digits: int = 2) -> Cell:
    """Mean over the complete plans with half its interval's width."""

    def cell(trials: Sequence[Trial]) -> str:
        estimate = metrics.mean(value(plan) for plan in complete_plans(trials))
        return f"{estimate.value:.{digits}f} ± {estimate.high - estimate.value:.{digits}f}"

    return cell


def _median(value: Callable[[PlanFigures], float]) -> Cell:
    return lambda trials: f"{metrics.median(value(plan) for plan in complete_plans(trials)):.2f}"


def _steps(trials: Sequence[Trial]) -> str:
    walks = [trial.walk for trial in trials if trial.walk is not None and trial.walk.cause == "none"]
    return f"{metrics.mean(walk.steps for walk in walks).value:.0f}"


def _interval(estimate: Estimate, digits: int) -> str:
    """A value with the ends of its interval."""
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def _failures(trials: Sequence[Trial]) -> str:
    causes = metrics.failures(trials)
    return ", ".join(f"{count} {cause}" for cause, count in causes.most_common()) or "none"


def _walls(trials: Sequence[Trial]) -> str:
    return str(metrics.num_wall_crossings(trials))


_PLAN: dict[str, Cell] = {
    "÷ geodesic": _mean(lambda plan: plan.length / plan.geodesic, digits=3),
    "÷ BFS": _mean(lambda plan: plan.length / plan.bfs, digits=3),
    "clearance (median)": _median(lambda plan: plan.clearance),
    "through walls": _walls,
    "expanded": _mean(lambda plan: plan.num_expanded, digits=1),
    "planning s (median)": _median(lambda plan: plan.seconds),
}

_COMPLETE: Cell = lambda trials: percent(metrics.completeness(trials))  # noqa: E731  a column like the others

_COLUMNS: dict[str, dict[str, Cell]] = {
    "stitch": {
        **{f"success within {cap}": _success(cap) for cap in metrics.CAPS},
        "steps": _steps,
        "steps per unit": lambda trials: f"{metrics.steps_per_unit(trials).value:.2f}",
        "re-planned": lambda trials: f"{100 * metrics.replanned(trials).value:.1f} %",
        **_PLAN,
        "failures": _failures,
    },
    "pairs": {"complete": _COMPLETE, **_PLAN, "failures": _failures},
    "multi": {
        "complete": _COMPLETE,
        "length": _mean(lambda plan: plan.length, digits=1),
        **_PLAN,
        "failures": _failures,
    },
    "track": {
        f"success within {metrics.CAPS[0]}": _success(metrics.CAPS[0]),
        "steps": _steps,
        "units per step": lambda trials: _interval(metrics.pace(trials), digits=3),
        "falls per 1000 steps": lambda trials: _interval(metrics.falls(trials), digits=2),
        "failures": _failures,
    },
    "order": {
        "complete": _COMPLETE,
        "best order": lambda trials: percent(metrics.best_order(trials)),
        "within 1 %": lambda trials: percent(metrics.best_order(trials, slack=0.01)),
        "order ÷ best": _mean(lambda plan: plan.order_length / plan.geodesic, digits=3),
        **_PLAN,
        "failures": _failures,
    },
}
