"""What a suite of the paper is: which trials it wants, how they are run, and what is shown of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chronoforest.bench.paper.exhibits import Exhibit
from chronoforest.bench.run import RunCase
from chronoforest.bench.suites import Case
from chronoforest.bench.trials import Trial, run_case
from chronoforest.errors import InvalidParameter


@dataclass(frozen=True)
class Effort:
    """How much is run: evaluations of the whole, and episodes in each; as in the paper where None."""

    repeats: int | None = None
    episodes: int | None = None

    def __post_init__(self) -> None:
        for name, count in (("repeats", self.repeats), ("episodes", self.episodes)):
            if count is not None and count < 1:
                raise InvalidParameter(f"{name} must be at least 1, got {count}")

    def num_repeats(self, default: int) -> int:
        """As told, or the suite's own."""
        return default if self.repeats is None else self.repeats

    def num_episodes(self, default: int) -> int:
        """As told, or the suite's own; never more, where there are only so many problems."""
        return default if self.episodes is None else self.episodes


@dataclass(frozen=True)
class Suite:
    """One of the paper's experiments.

    summary: a line about it; cases: the trials that an effort asks for; exhibits: tables and figures of
    whatever trials there are; seconds: of a trial on one core, for estimates before any was run; run: how a
    case is run, a function of a module; records: the suite whose file holds the trials, its own unless told.
    """

    name: str
    summary: str
    cases: Callable[[Effort], list[Case]]
    exhibits: Callable[[Sequence[Trial]], list[Exhibit]]
    seconds: float = 10.0
    run: RunCase = run_case
    records: str = ""

    @property
    def file(self) -> str:
        """Name of its file of trials."""
        return f"{self.records or self.name}.jsonl"
