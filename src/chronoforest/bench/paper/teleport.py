"""Table 6: the teleport maze, from the paper's setting to ours step by step, and both without uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chronoforest.bench.metrics import CAPS
from chronoforest.bench.paper.exhibits import Entry, Exhibit, Row, Sheet
from chronoforest.bench.paper.stitch import EPISODES, REPEATS, is_within
from chronoforest.bench.paper.suite import Effort, Suite
from chronoforest.bench.suites import Case, make_cases
from chronoforest.bench.trials import Trial

PRESET = "antmaze-teleport-stitch-v0"
_BASE = Case("stitch", PRESET, 0, 0)
_PAPER = replace(_BASE, distance="paper", variant="reversed-trees", replans=False)

STEPS: dict[str, tuple[Case, str]] = {
    "paper's setting, without uncertainty": (
        replace(_PAPER, change="search.uncertainty_weight=0"),
        "49.2 ± 2.9",
    ),
    "paper's setting": (_PAPER, "68.8 ± 3.6"),
    "+ luck averaged in the distance": (replace(_PAPER, distance="own"), ""),
    "+ incoming trees": (replace(_BASE, replans=False), ""),
    "+ re-planning: ours": (_BASE, ""),
    "ours, without uncertainty": (replace(_BASE, variant="no-uncertainty"), ""),
}
"""Rows: how a case differs from ours, and what the paper prints."""

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


def cases(effort: Effort) -> list[Case]:
    """The five tasks in every setting; repeats differ in the seed."""
    return [
        case
        for template, _ in STEPS.values()
        for repeat in range(effort.num_repeats(REPEATS))
        for case in make_cases(replace(template, seed=repeat), effort.num_episodes(EPISODES))
    ]


def exhibits(trials: Sequence[Trial]) -> list[Exhibit]:
    """Success at either cap for every setting."""
    columns = {cap: f"within {cap} steps" for cap in CAPS}
    rows = [
        Row(label, {columns[cap]: _success(trials, template, cap, printed) for cap in CAPS})
        for label, (template, printed) in STEPS.items()
    ]
    rows += [Row(name, {columns[CAPS[0]]: Entry.only_published(value)}) for name, value in OTHERS.items()]
    notes = ("The last rows are what the paper copied from others.",)
    title = "Success in AntMaze-Teleport-Stitch, %"
    return [Sheet("teleport", title, "Table 6", tuple(columns.values()), tuple(rows), notes)]


def _success(trials: Sequence[Trial], template: Case, cap: int, published: str) -> Entry:
    is_good = (is_within(trial, cap) for trial in trials if _setting(trial.case) == _setting(template))
    return Entry.of_share(is_good, published)


def _setting(case: Case) -> tuple[str, str, bool, str]:
    return case.distance, case.variant, case.replans, case.change


SUITE = Suite("teleport", "the uncertainty ablation", cases, exhibits, seconds=6.0)
