"""Stop criteria of planning, and the context that applies one within a round."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from chronoforest.cancellation import limited
from chronoforest.errors import InvalidParameter
from chronoforest.typed import check_seconds, check_whole
from chronoforest.types import RoundStats, StopCriterion


@dataclass(frozen=True)
class MaxRounds:
    """Stop after `count` rounds."""

    count: int

    def __post_init__(self) -> None:
        check_whole("count", self.count)

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        return len(rounds) >= self.count


@dataclass(frozen=True)
class MaxExpansions:
    """Stop once `count` leaves were promoted, or none in `patience` rounds: then the count may never come."""

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


def checked_stop(stop: StopCriterion | None, seconds: float | None = None) -> StopCriterion | None:
    """The criterion itself, or one of seconds; only one of both may be given."""
    if seconds is not None and stop is not None:
        raise InvalidParameter(f"seconds={seconds!r:.40} and stop={stop!r:.40} are two ends; give one")
    if seconds is not None:
        return MaxSeconds(seconds)
    if stop is None or callable(stop):
        return stop
    raise InvalidParameter(
        f"stop must be a criterion such as MaxRounds(10), got {stop!r:.40}; seconds=2.0 is a time"
    )


def within(stop: StopCriterion, seconds: float, num_sharing: int = 1) -> AbstractContextManager[None]:
    """Context whose work raises `OutOfTime` at its next step once the criterion's `is_over` is true for the
    seconds that a plan has taken. A criterion without `is_over` is not applied here.

    seconds: at the beginning of the work; num_sharing: plans that share the work and therefore its time.
    """
    is_over, began = getattr(stop, "is_over", None), time.perf_counter()
    if is_over is None:
        return nullcontext()
    return limited(lambda: is_over(seconds + (time.perf_counter() - began) / num_sharing))
