"""How whoever waits for an import is told how far it is."""

from __future__ import annotations

from collections.abc import Callable

Watch = Callable[[int, int, str], None]
"""Is told how many of how many are done, and of what."""


def unwatched(done: int, total: int, what: str) -> None:
    """A watch that nobody looks at."""
