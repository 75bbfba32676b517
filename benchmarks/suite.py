"""What a suite is: which trials it wants, what they run on, how one is run, and how all are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.case import Case
from benchmarks.report.pictures import Picture
from benchmarks.report.tables import Sheet, TextTable
from benchmarks.trials import Trial
from chronoforest.errors import require_at_least
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice

Exhibit = (
    Sheet | TextTable | Picture
)  # what a report shows: it writes its own files, and is a part of the page


@dataclass(frozen=True)
class Contender:
    """A row of a table: whose plans are measured."""

    label: str
    variant: str = "online"
    planner: str = CHRONOFOREST

    def case(self, suite: str, preset: str, **values: Any) -> Case:
        """A case of a suite for this planner."""
        return Case(suite, PlannerChoice(preset, planner=self.planner), variant=self.variant, **values)

    def is_of(self, trial: Trial) -> bool:
        """Whether a trial belongs to the row."""
        return (trial.case.choice.planner, trial.case.variant) == (self.planner, self.variant)


CONTENDERS = (
    Contender("verified", "verified"),
    Contender("roadmap-only", "roadmap-only"),
    Contender("online"),
    Contender("paper", "paper"),
    Contender("dataset-graph", planner="dataset-graph"),
    Contender("state-graph", planner="state-graph"),
    Contender("point-graph", planner="point-graph"),
)
"""Who plans in worlds that are learned from few recordings, or from one-way ones."""


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
    """A list of trials, how they are run, and how they are shown.

    summary: a line about it; cases: the trials that a request asks for; run: one case on what was loaded for
    it; show: tables and pictures of whatever trials there are, also of none; load: what a case needs of a
    choice, all of the planner by default; records: the suite whose file holds the trials, its own by
    default; figures: dataclasses of what it measures beside plans and walks.
    `run` and `load` are functions of a module, because other processes import them.
    """

    name: str
    summary: str
    cases: Callable[[Request], list[Case]]
    run: Callable[[Case, Any], Trial]
    show: Callable[[Sequence[Trial]], Sequence[Exhibit]]
    load: Callable[[PlannerChoice], Any] = PlannerChoice.load
    records: str = ""
    figures: tuple[type, ...] = ()

    @property
    def file(self) -> str:
        """Name of its file of trials."""
        return f"{self.records or self.name}.jsonl"


@dataclass(frozen=True)
class Contents:
    """What a report can be about; title: of the report; command: what makes such records."""

    title: str
    suites: Mapping[str, Suite]
    command: str
