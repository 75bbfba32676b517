"""How fast and how steadily experts walk while they are trained."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.expert.floor import Outcome
from benchmarks.expert.params import ExpertParams
from chronoforest.envs.bodies import STEPS_PER_SECOND


@dataclass(frozen=True)
class Report:
    """Exploration since the last report, for each seed; speeds in units/s along the direction."""

    step: int
    num_steps: int
    rate: float
    speeds: tuple[float, ...]
    falls_per_1000: tuple[float, ...]


class Recent:
    """Rewards and falls of each seed since the last report."""

    def __init__(self, params: ExpertParams, tick: int) -> None:
        self.params = params
        self._restart(tick)

    @property
    def is_due(self) -> bool:
        """Whether it is time for a report."""
        return time.monotonic() - self._since > self.params.report_seconds

    def add(self, outcome: Outcome) -> None:
        """Count a tick of all ants."""
        shape = (self.params.num_seeds, -1)
        self._rewards += outcome.rewards.reshape(shape).mean(axis=1)
        self._falls += outcome.has_fallen.reshape(shape).mean(axis=1)

    def report(self, tick: int) -> Report:
        """What was seen; starts anew."""
        num_ticks = max(tick - self._tick, 1)
        ants = self.params.ants_per_seed
        speeds = STEPS_PER_SECOND * self._rewards / num_ticks
        falls = 1000.0 * self._falls / num_ticks
        rate = num_ticks * ants / max(time.monotonic() - self._since, 1e-9)
        self._restart(tick)
        total = self.params.num_ticks * ants
        return Report(tick * ants, total, rate, tuple(speeds.tolist()), tuple(falls.tolist()))

    def _restart(self, tick: int) -> None:
        self._since, self._tick = time.monotonic(), tick
        self._rewards, self._falls = np.zeros((2, self.params.num_seeds))
