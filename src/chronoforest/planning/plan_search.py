"""One call of `plan` in progress: what searches over the roadmap, with trees and by peers share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

import numpy as np

from chronoforest.planning.result import PlanResult
from chronoforest.types import Problem, RoundObserver, RoundStats, Snapshot, SnapshotObserver, StopCriterion


class PlanSearch(ABC):
    """The state of one call of `plan`: its problem, its randomness, its rounds and when it began."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.started = time.perf_counter()
        self.problem, self.seed = problem, seed
        self.rng = np.random.default_rng(seed)
        self.rounds: list[RoundStats] = []

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self.started

    @abstractmethod
    def run(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        """Search until there is nothing left to ask or the criterion says so."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """What the search looks like after the last round."""

    @abstractmethod
    def result(self, preset: str, variant: str) -> PlanResult:
        """What was found so far."""

    def _tell(self, on_round: RoundObserver | None, on_snapshot: SnapshotObserver | None) -> None:
        """Show the last round to those who watch."""
        if on_round is not None:
            on_round(self.rounds[-1], self.problem)
        if on_snapshot is not None:
            on_snapshot(self.snapshot())
