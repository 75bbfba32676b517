"""What each part is worth where recordings are few: the rows of `parts` on the models of suite `thin`.

Rows without a student are left out: none is trained there.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.suites.parts import rows_of, run_part
from benchmarks.suites.thin import recorded
from benchmarks.thin import COUNTS, PRESET, folder_of
from chronoforest.bench.case import Case
from chronoforest.bench.suite import Request, Suite
from chronoforest.peers.choice import PlannerChoice

EPISODES = 12
LEFT_OUT = ("no-student", "verified-no-student")
"""Variants."""


def cases(request: Request) -> list[Case]:
    """Every row on every count, the same pairs for all, which are the first of suite `thin`."""
    return [
        case
        for count in COUNTS
        for seed in range(request.repeats or 1)
        for episode in range(request.episodes or EPISODES)
        for case in rows_of(replace(_template(count), seed=seed, episode=episode))
        if case.variant not in LEFT_OUT
    ]


def _template(count: int) -> Case:
    folder = folder_of(count)
    return Case("pairs", PlannerChoice(PRESET, weights=folder, data=folder), change=recorded(count))


SUITE = Suite("thin-parts", "what each part is worth where recordings are few", cases, run_part, seconds=8.0)
