"""Table 4: plan lengths against BFS and the geodesic, per task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites import stitch
from benchmarks.suites.lengths import OURS
from chronoforest.bench.metrics import complete_plans
from chronoforest.bench.trials import PlanFigures, Trial
from chronoforest.report.contents import Exhibit

TASKS = tuple(f"task {task}" for task in range(1, 6))
LIMIT = 1.1

LENGTHS = {
    "medium": ("37.0", "35.5", "21.6", "35.5", "29.1"),
    "large": ("56.9", "71.7", "48.1", "53.4", "57.5"),
    "giant": ("117.5", "99.8", "109.5", "96.8", "62.6"),
}
WITHIN = {
    "medium": ("100.0",) * 5,
    "large": ("100.0", "97.5", "100.0", "100.0", "100.0"),
    "giant": ("100.0",) * 5,
}
BFS = {"medium": (40, 40, 24, 40, 32), "large": (60, 76, 48, 56, 60), "giant": (120, 104, 120, 104, 68)}


def task_lengths(trials: Sequence[Trial]) -> list[Exhibit]:
    """Lengths, the share within 1.1 × BFS, and the ratio to the geodesic."""
    rows = tuple(row for split in stitch.SPLITS for row in _rows(split, trials))
    notes = (
        "Lengths are those of the complete plans, in world units, after post-processing.",
        "The geodesic keeps a clearance of 1.0 from the walls; the paper does not report it.",
    )
    return [Sheet("lengths", "Plan length against BFS, AntMaze-Stitch", "Table 4", TASKS, rows, notes)]


def _rows(split: str, trials: Sequence[Trial]) -> Iterator[Row]:
    own = [t for t in trials if OURS.is_of(t) and t.case.preset == stitch.preset(split)]
    plans = [complete_plans([t for t in own if t.case.task == task]) for task in range(1, 6)]
    yield Row(f"{split}: BFS", _printed([str(length) for length in BFS[split]]))
    yield Row(f"{split}: plan mean", _means(plans, lambda plan: plan.length, LENGTHS[split], 1))
    shares = zip(TASKS, plans, WITHIN[split], strict=True)
    yield Row(
        f"{split}: within {LIMIT} × BFS, %",
        {
            task: Entry.of_share((plan.length <= LIMIT * plan.bfs for plan in some), printed)
            for task, some, printed in shares
        },
    )
    yield Row(f"{split}: ÷ geodesic", _means(plans, lambda plan: plan.length / plan.geodesic, ("",) * 5, 3))


def _printed(values: Sequence[str]) -> dict[str, Entry]:
    return {task: Entry.only_published(value) for task, value in zip(TASKS, values, strict=True)}


def _means(
    plans: Sequence[Sequence[PlanFigures]],
    value: Callable[[PlanFigures], float],
    published: Sequence[str],
    digits: int,
) -> dict[str, Entry]:
    columns = zip(TASKS, plans, published, strict=True)
    return {task: Entry.of_mean(map(value, some), printed, digits) for task, some, printed in columns}
