"""Table 6: the teleport maze, from the paper's setting to ours step by step, and both without uncertainty."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.changes import changed
from benchmarks.suites.stitch import EPISODES, REPEATS
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import task_cases, walk_official
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial
from chronoforest.peers.choice import PlannerChoice

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "antmaze-teleport-stitch-v0"
_BASE = Case("stitch", PlannerChoice(PRESET))
_PAPER = replace(_BASE.chosen(distance="paper"), variant="reversed-trees", replans=False)

STEPS: dict[str, Case] = {
    "paper's setting, without uncertainty": replace(_PAPER, change="search.uncertainty_weight=0"),
    "paper's setting": _PAPER,
    "+ luck averaged in the distance": _PAPER.chosen(distance="own"),
    "+ incoming trees": replace(_BASE, replans=False),
    "+ re-planning: ours": _BASE,
    "ours, without uncertainty": replace(_BASE, variant="no-uncertainty"),
}
"""Rows, and how their cases differ from ours."""


def cases(request: Request) -> list[Case]:
    """The five tasks in every setting; repeats differ in the seed."""
    return [
        case
        for template in STEPS.values()
        for repeat in range(request.repeats or REPEATS)
        for case in task_cases(replace(template, seed=repeat), request.episodes or EPISODES)
    ]


def walk_changed(case: Case, planner: PresetPlanner) -> Trial:
    """Walk, with one parameter set otherwise where the case says so."""
    return walk_official(case, changed(planner, case.change))


SUITE = Suite("teleport", "the uncertainty ablation", cases, walk_changed, seconds=6.0)
