"""What other yardsticks say about the best order, and about the orders of plans."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites.yardsticks import NUM_REPORTED, YARDSTICKS
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

SAME = 1e-8
"""Orders whose lengths differ by a smaller share are equally good."""

AGREES = "its best order is the suite's, %"
PLANNED = "the planned order is its best, %"
COLUMNS = (AGREES, PLANNED)

NOTES = (
    "Suite order asks for the best order by the geodesic that keeps a square clearance of 1.0.",
    "Plans try to keep a room to the edge of what was recorded, not to the walls, which they do not know: "
    "at each corner that is another distance to the wall.",
)


def yardstick_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """The seeds that suite `order` reports, and others."""
    reported = [trial for trial in trials if trial.case.seed < NUM_REPORTED]
    others = [trial for trial in trials if trial.case.seed >= NUM_REPORTED]
    return [
        Sheet(f"yardsticks-{name}", f"Best orders by other yardsticks, {title}", "", COLUMNS, rows, NOTES)
        for name, title, rows in (
            ("reported", "the seeds that are reported", _rows(reported)),
            ("others", "other seeds", _rows(others)),
        )
    ]


def _rows(trials: Sequence[Trial]) -> tuple[Row, ...]:
    return tuple(
        Row(
            name,
            {
                AGREES: Entry.of_share(trial.measures[name]["differs"] <= SAME for trial in trials),
                PLANNED: Entry.of_share(trial.measures[name]["longer"] <= SAME for trial in trials),
            },
        )
        for name in YARDSTICKS
    )
