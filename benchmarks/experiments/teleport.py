"""Table 6: the teleport maze, from the paper's distance and trees to ours step by step, and both without
uncertainty. All rows have our pruning, shortening and guidance on a ramp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.case import Case
from benchmarks.experiments.protocol import walk_official
from benchmarks.experiments.stitch import REPEATS, repeated
from benchmarks.metrics import CAPS, is_within
from benchmarks.overrides import overridden
from benchmarks.report.tables import Entry, Row, Sheet
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import Trial
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.loading import PresetPlanner

PRESET = "antmaze-teleport-stitch-v0"
_BASE = Case("stitch", PlannerChoice(PRESET))
_WHOLE = replace(_BASE.chosen(distance="paper"), variant="paper")
_PAPER = replace(_WHOLE, variant="reversed-trees", replans=False)

STEPS: dict[str, Case] = {
    "paper's distance, one tree per anchor, without uncertainty": replace(
        _PAPER, change="search.uncertainty_weight=0"
    ),
    "paper's distance, one tree per anchor": _PAPER,
    "+ luck averaged in the distance": _PAPER.chosen(distance="own"),
    "+ incoming trees": replace(_BASE, replans=False),
    "+ re-planning: ours": _BASE,
    "ours, without uncertainty": replace(_BASE, variant="no-uncertainty"),
    "variant paper, without uncertainty": replace(_WHOLE, variant="paper-no-uncertainty"),
    "variant paper": _WHOLE,
}
"""Rows, and how their cases differ from ours."""


def cases(request: Request) -> list[Case]:
    """The five tasks in every setting; repeats differ in the seed."""
    return [
        case
        for step in STEPS.values()
        for case in repeated(
            step, request.repeats or (1 if step.variant.startswith("paper") else REPEATS), request
        )
    ]


def walk_changed(case: Case, planner: PresetPlanner) -> Trial:
    """Walk, with one parameter set otherwise where the case says so."""
    return walk_official(case, overridden(planner, case.change))


PUBLISHED = dict(zip((*list(STEPS)[:2], *list(STEPS)[-2:]), ("49.2 ± 2.9", "68.8 ± 3.6") * 2, strict=True))
"""What the paper prints, beside the steps that are nearest to it."""

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
    own = {label: [t for t in trials if t.case.setup == step.setup] for label, step in STEPS.items()}
    rows = [
        Row(
            label,
            {
                name: Entry.of_share((is_within(trial, cap) for trial in some), PUBLISHED.get(label, ""))
                for cap, name in columns.items()
            },
        )
        for label, some in own.items()
    ]
    rows += [Row(name, {columns[CAPS[0]]: Entry(None, 0, value)}) for name, value in OTHERS.items()]
    notes = (
        "All rows but those of the variant `paper`, which is the paper's settings, prune by support and step "
        "length, shorten ways and guide all frames on a ramp.",
        "The last rows are what the paper copied from others.",
    )
    title = "Success in AntMaze-Teleport-Stitch, %"
    return [Sheet("teleport", title, "Table 6", tuple(columns.values()), tuple(rows), notes)]


SUITE = Suite("teleport", "the uncertainty ablation", cases, walk_changed, ablation_table)
