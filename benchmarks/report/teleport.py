"""Table 6: success in the teleport maze for every setting, beside what the paper prints."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites.teleport import STEPS
from chronoforest.bench.case import Case
from chronoforest.bench.metrics import CAPS, is_within
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

PUBLISHED = {"paper's setting, without uncertainty": "49.2 ± 2.9", "paper's setting": "68.8 ± 3.6"}
"""What the paper prints, by step."""

OTHERS = {
    "GCBC": "31 ± 6",
    "CRL": "31 ± 4",
    "GC-SSCP": "33 ± 4",
    "HIQL": "36 ± 2",
    "SVL": "38 ± 1",
    "GCIVL": "39 ± 3",
    "Eik-HIQL": "47 ± 2",
    "Eik-HiQRL": "60 ± 3",
}


def ablation_table(trials: Sequence[Trial]) -> list[Exhibit]:
    """Success at either cap for every setting."""
    columns = {cap: f"within {cap} steps" for cap in CAPS}
    rows = [
        Row(label, {columns[cap]: _success(trials, step, cap, PUBLISHED.get(label, "")) for cap in CAPS})
        for label, step in STEPS.items()
    ]
    rows += [Row(name, {columns[CAPS[0]]: Entry.only_published(value)}) for name, value in OTHERS.items()]
    notes = ("The last rows are what the paper copied from others.",)
    title = "Success in AntMaze-Teleport-Stitch, %"
    return [Sheet("teleport", title, "Table 6", tuple(columns.values()), tuple(rows), notes)]


def _success(trials: Sequence[Trial], step: Case, cap: int, published: str) -> Entry:
    is_good = (is_within(trial, cap) for trial in trials if trial.case.setup == step.setup)
    return Entry.of_share(is_good, published)
