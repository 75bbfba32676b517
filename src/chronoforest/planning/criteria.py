"""When planning has spent enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.errors import InvalidParameter
from chronoforest.typed import check_seconds, check_whole
from chronoforest.types import RoundStats, StopCriterion


@dataclass(frozen=True)
class MaxRounds:
    """Stop after so many rounds."""

    count: int

    def __post_init__(self) -> None:
        check_whole("count", self.count)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        return len(rounds) >= self.count


@dataclass(frozen=True)
class MaxExpansions:
    """Stop once so many leaves were promoted, or none in `patience` rounds: then the count may never come."""

    count: int
    patience: int = 20

    def __post_init__(self) -> None:
        check_whole("count", self.count)
        check_whole("patience", self.patience, least=1)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        spent = [stats.num_expanded for stats in rounds]
        is_stuck = len(spent) > self.patience and spent[-1] == spent[-1 - self.patience]
        return bool(spent) and (spent[-1] >= self.count or is_stuck)


@dataclass(frozen=True)
class MaxSeconds:
    """Stop once so much time went by."""

    seconds: float

    def __post_init__(self) -> None:
        check_seconds("seconds", self.seconds)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether it is spent."""
        return bool(rounds) and self.is_over(rounds[-1].seconds)

    def is_over(self, seconds: float) -> bool:
        """Whether planning shall end within its round; asked before every denoising step."""
        return seconds >= self.seconds


def checked_stop(stop: StopCriterion | float | None) -> StopCriterion | None:
    """A criterion as it is; a number means seconds."""
    if stop is None or callable(stop):
        return stop
    if isinstance(stop, (int, float, np.number)) and not isinstance(stop, bool):
        return MaxSeconds(float(stop))
    raise InvalidParameter(
        f"stop must be seconds such as 2.0, or a criterion such as MaxRounds(10), got {stop!r:.40}"
    )
