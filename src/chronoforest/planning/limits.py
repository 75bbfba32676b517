"""Limits of time that are kept within a round."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext

from chronoforest.patience import limited
from chronoforest.types import StopCriterion


def within(stop: StopCriterion, started: float, num_sharing: int = 1) -> AbstractContextManager[None]:
    """Raise `OutOfTime` at the next step of the work inside once the criterion's `is_over` says so of the
    seconds since `started`, by `time.perf_counter`; a criterion without one waits for the round's end.

    num_sharing: searches that share the work inside, and its time.
    """
    is_over, began = getattr(stop, "is_over", None), time.perf_counter()
    if is_over is None:
        return nullcontext()
    return limited(lambda: is_over(began - started + (time.perf_counter() - began) / num_sharing))
