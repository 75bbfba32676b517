"""Appendix B: walks and single segments for every way of injecting guidance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites.injection import INJECTIONS, NUM_SEGMENTS
from chronoforest.bench.metrics import is_within
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

if TYPE_CHECKING:
    pass


CAP = 1000

SEGMENT_COLUMNS = {
    "frames in walls, %": "walls",
    "boundary error, units": "boundary",
    "largest hop, units": "hop",
    "gained on the goal, units": "gain",
}
"""Columns of what was measured on segments, and the names of the measures."""


def injection_table(trials: Sequence[Trial]) -> list[Exhibit]:
    """A row for every way of injecting."""
    rows = tuple(
        Row(label, _entries([trial for trial in trials if trial.case.variant == variant]))
        for label, variant in INJECTIONS.items()
    )
    columns = (f"success within {CAP}, %", "plans complete, %", "walks that fell, %", *SEGMENT_COLUMNS)
    notes = (
        "Success and falls are of walks with the whole planner, which prunes what guidance spoils.",
        f"The other columns are of single segments, {NUM_SEGMENTS} from a start, before pruning; each start "
        "counts once.",
    )
    title = "Where guidance is injected, giant maze"
    return [Sheet("injection", title, "appendix B, argued", columns, rows, notes)]


def _entries(trials: Sequence[Trial]) -> dict[str, Entry]:
    walks = [trial for trial in trials if trial.case.suite == "stitch"]
    sampled = [trial.measures for trial in trials if trial.case.suite == "segments"]
    entries = {
        f"success within {CAP}, %": Entry.of_share(is_within(trial, CAP) for trial in walks),
        "plans complete, %": Entry.of_share(t.plan is not None and t.plan.is_complete for t in walks),
        "walks that fell, %": Entry.of_share(t.walk is not None and t.walk.num_falls > 0 for t in walks),
    }
    for column, measure in SEGMENT_COLUMNS.items():
        scale = 100.0 if column.endswith("%") else 1.0
        entries[column] = Entry.of_mean([scale * one[measure] for one in sampled], digits=2)
    return entries
