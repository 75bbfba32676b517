"""Tables of the protocol suites: which columns each has, for the terminal, in Markdown, CSV and HTML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from chronoforest.bench import metrics
from chronoforest.bench.case import Case
from chronoforest.bench.metrics import Estimate, complete_plans
from chronoforest.bench.protocol import PROTOCOL_SUITES
from chronoforest.bench.trials import PlanFigures, Trial
from chronoforest.files import write_text
from chronoforest.peers.choice import PlannerChoice
from chronoforest.report.contents import Contents


@dataclass(frozen=True)
class TextTable:
    """Text in rows; the first column names the row, and the last row may be a total."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_total: bool = False

    @property
    def name(self) -> str:
        """Of its file: the title, without what file systems dislike."""
        return re.sub(r"[^\w.-]+", "-", self.title)

    def to_rich(self) -> Any:
        """A table for rich's console."""
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, title_justify="left")
        for position, name in enumerate(self.header):
            table.add_column(name, justify="left" if position == 0 else "right")
        for left, row in enumerate(self.rows, start=1 - len(self.rows)):
            table.add_row(*row, end_section=self.has_total and left == -1)
        return table

    def to_pipes(self) -> str:
        """A pipe table, without the title."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def to_markdown(self) -> str:
        """A heading and a pipe table."""
        return f"### {self.title}\n\n{self.to_pipes()}\n"

    def to_html(self, folder: Path) -> str:
        """A heading and a table."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        rows = "".join(
            f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
            for name, *cells in self.rows
        )
        body = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f"<h3>{escape(self.title)}</h3>{body}"

    def save(self, folder: Path) -> None:
        """Write tables/NAME.csv."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.header, *self.rows])
        write_text(folder / "tables" / f"{self.name}.csv", text.getvalue())


Cell = Callable[[Sequence[Trial]], str]


def bench_table(suite: str, trials: Sequence[Trial], title: str = "") -> TextTable:
    """One row per task where the suite has tasks, and one for all trials."""
    columns = COLUMNS[suite]
    tasks = sorted({trial.case.task for trial in trials} - {0})
    groups = [(f"task {task}", [trial for trial in trials if trial.case.task == task]) for task in tasks]
    groups.append((f"all ({len(trials)})", list(trials)))
    rows = tuple((name, *(cell(group) for cell in columns.values())) for name, group in groups)
    return TextTable(title, ("", *columns), rows, has_total=True)


def setup_tables(suite: str, trials: Sequence[Trial]) -> list[TextTable]:
    """A table for each setup that was tried."""
    setups: dict[Case, list[Trial]] = {}
    for trial in trials:
        setups.setdefault(trial.case.setup, []).append(trial)
    return [bench_table(suite, some, setup_title(setup)) for setup, some in setups.items()]


def setup_title(case: Case) -> str:
    """Suite, preset and variant, and whatever else is not as it is by default."""
    plain = Case(case.suite, PlannerChoice(case.preset), variant=case.variant).setup
    told = [
        f"{field.name.removeprefix('num_').replace('_', ' ')} {getattr(one, field.name)}"
        for one, other in ((case.setup.choice, plain.choice), (case.setup, plain))
        for field in fields(one)
        if field.name != "choice" and getattr(one, field.name) != getattr(other, field.name)
    ]
    return ", ".join([case.suite, case.preset, case.variant, *told])


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


_PLAN: dict[str, Cell] = {
    "÷ geodesic": _mean(lambda plan: plan.length / plan.geodesic, digits=3),
    "÷ BFS": _mean(lambda plan: plan.length / plan.bfs, digits=3),
    "clearance (median)": _median(lambda plan: plan.clearance),
    "through walls": lambda trials: str(metrics.num_wall_crossings(trials)),
    "expanded": _mean(lambda plan: plan.num_expanded, digits=1),
    "planning s (median)": _median(lambda plan: plan.seconds),
}

_COMPLETE: Cell = lambda trials: percent(metrics.completeness(trials))  # noqa: E731  a column like the others

COLUMNS: dict[str, dict[str, Cell]] = {
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
"""What is shown of a protocol suite's trials, by the suite's name."""

CONTENTS = Contents(
    title="Tables of the benchmark, from these records",
    suites=PROTOCOL_SUITES,
    exhibits={name: partial(setup_tables, name) for name in PROTOCOL_SUITES},
    command="chronoforest bench SUITE",
)
