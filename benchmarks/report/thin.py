"""Few recordings: how often plans are complete, how long they are, how soon they are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites.thin import CONTENDERS, recorded
from benchmarks.thin import COUNTS
from chronoforest.bench.metrics import complete_plans, median
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

COLUMNS = (
    "complete",
    "anchor without recordings",
    "not connected",
    "÷ geodesic",
    "÷ geodesic, where all are complete",
    "through walls",
    "first plan, s",
    "final plan, s",
)


def thin_table(trials: Sequence[Trial]) -> list[Exhibit]:
    """A row for every count and contender."""
    rows = tuple(row for count in COUNTS for row in _rows(count, trials))
    notes = (
        "Models are learned from the first recordings of 5000; a tenth of them is held out.",
        "An anchor without recordings lies outside the data's support, and every planner refuses it.",
        "Seconds are medians; the first plan of all also builds the roadmap.",
    )
    return [Sheet("thin", "Plans on what few recordings teach", "", COLUMNS, rows, notes)]


def _rows(count: int, trials: Sequence[Trial]) -> Iterator[Row]:
    own = [trial for trial in trials if trial.case.change == recorded(count)]
    rows = {one.label: [trial for trial in own if one.is_of(trial)] for one in CONTENDERS}
    solved = ({trial.case.seeds for trial in _complete(some)} for some in rows.values())
    by_all = set.intersection(*solved)
    for label, some in rows.items():
        yield Row(f"{count}: {label}", dict(zip(COLUMNS, _entries(some, by_all), strict=True)))


def _entries(trials: Sequence[Trial], by_all: set[tuple[int, int]]) -> Iterator[Entry]:
    """In the order of the columns; by_all: seeds of the problems that all contenders solve."""
    whole, refused = _complete(trials), sum(bool(trial.refusal) for trial in trials)
    plans = complete_plans(whole)
    shared = complete_plans([trial for trial in whole if trial.case.seeds in by_all])
    yield Entry.of_value(len(whole), len(trials), digits=0)
    yield Entry.of_value(refused, len(trials), digits=0)
    yield Entry.of_value(len(trials) - refused - len(whole), len(trials), digits=0)
    yield Entry.of_mean((plan.length / plan.geodesic for plan in plans), digits=3)
    yield Entry.of_mean((plan.length / plan.geodesic for plan in shared), digits=3)
    yield Entry.of_value(sum(plan.crosses_wall for plan in plans), len(plans), digits=0)
    yield _median([trial.measures["first_seconds"] for trial in whole])
    yield _median([plan.seconds for plan in plans])


def _complete(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.plan is not None and trial.plan.is_complete]


def _median(values: Sequence[float]) -> Entry:
    return Entry.of_value(median(values), len(values)) if values else Entry(None)
