"""Long work that may be broken off: it asks often whether anybody still waits, in any depth of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_checks: ContextVar[tuple[Callable[[], None], ...]] = ContextVar("checks", default=())


class OutOfTime(Exception):
    """The time for this work is over; who set the limit takes what there is."""


@contextmanager
def checked(check: Callable[[], None]) -> Iterator[None]:
    """Have `check` called at every step of the work inside; it raises what shall end the work."""
    token = _checks.set((*_checks.get(), check))
    try:
        yield
    finally:
        _checks.reset(token)


@contextmanager
def limited(is_over: Callable[[], bool]) -> Iterator[None]:
    """Raise `OutOfTime` in the work inside, at its next step, once `is_over`."""

    def check() -> None:
        if is_over():
            raise OutOfTime

    with checked(check):
        yield


def step() -> None:
    """To be called by long work before each of its steps."""
    for check in _checks.get():
        check()
