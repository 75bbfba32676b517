"""What a suite is: which trials it wants, what they run on, and how one is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chronoforest.bench.case import Case
from chronoforest.bench.trials import Trial
from chronoforest.errors import require_at_least
from chronoforest.peers.choice import PlannerChoice


@dataclass(frozen=True)
class Request:
    """What is asked of a suite: evaluations of the whole and episodes in each, the suite's own number where
    None; template: what all cases share, where the suite leaves that open."""

    repeats: int | None = None
    episodes: int | None = None
    template: Case | None = None

    def __post_init__(self) -> None:
        require_at_least(self, 1, "repeats", "episodes")


@dataclass(frozen=True)
class Suite:
    """A list of trials and how they are run; what is shown of them is the report's affair.

    summary: a line about it; cases: the trials that a request asks for; run: one case on what was loaded for
    it; load: what a case needs of a choice, all of the planner unless told; seconds: of a trial on one core,
    for estimates before any was run; records: the suite whose file holds the trials, its own unless told.
    `run` and `load` are functions of a module, because other processes import them.
    """

    name: str
    summary: str
    cases: Callable[[Request], list[Case]]
    run: Callable[[Case, Any], Trial]
    load: Callable[[PlannerChoice], Any] = PlannerChoice.load
    seconds: float = 10.0
    records: str = ""

    @property
    def file(self) -> str:
        """Name of its file of trials."""
        return f"{self.records or self.name}.jsonl"
