"""Where the time of a call goes, seen from outside: no line of the planner knows that it is timed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any

REST = "rest"


class Stopwatch:
    """Adds up the seconds spent in named parts of the code while a `with` block runs.

    parts: the functions of each part. Time belongs to the outermost part that is running, so that what a part
    calls counts as its own; what belongs to none is the rest. Only calls on this thread are seen. Watching
    slows Python code down, so shares are told and not seconds.
    """

    def __init__(self, parts: Mapping[str, Sequence[Callable[..., Any]]]) -> None:
        self.seconds = dict.fromkeys([*parts, REST], 0.0)
        self._part_of: dict[CodeType, str] = {
            function.__code__: part for part, functions in parts.items() for function in functions
        }
        self._running: str | None = None
        self._depth = 0
        self._since = 0.0

    def __enter__(self) -> Stopwatch:
        self._since = time.perf_counter()
        self._before = sys.getprofile()
        sys.setprofile(self._see)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(self._before)
        self._lap()

    def shares(self) -> dict[str, float]:
        """Each part's share of all the time."""
        total = sum(self.seconds.values())
        return {part: seconds / total if total else 0.0 for part, seconds in self.seconds.items()}

    def _see(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return"):
            return
        part = self._part_of.get(frame.f_code)
        if part is None or self._running not in (None, part):
            return
        if event == "call":
            if self._depth == 0:
                self._lap()
                self._running = part
            self._depth += 1
        elif self._depth > 0:
            self._depth -= 1
            if self._depth == 0:
                self._lap()
                self._running = None

    def _lap(self) -> None:
        now = time.perf_counter()
        self.seconds[self._running or REST] += now - self._since
        self._since = now
