"""Where the time of a piece of work goes, watched from outside, and the most memory that it takes."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

REST = "rest"


class Stopwatch:
    """Adds up the seconds spent in named parts of the code, each the outermost function that runs, on this
    thread. Watching slows Python code down, so shares are told and not seconds."""

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


_RESET = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


class PeakMemory:
    """Megabytes that a `with` block adds to what was resident before, at its peak; `added` after it."""

    def __init__(self) -> None:
        self.added = 0.0

    def __enter__(self) -> PeakMemory:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what was given back and is used again would not be counted
        _RESET.write_text("5")  # from here on the peak is counted anew
        self._before = _megabytes("VmRSS")
        return self

    def __exit__(self, *error: object) -> None:
        self.added = max(0.0, _megabytes("VmHWM") - self._before)


def _megabytes(name: str) -> float:
    lines = _STATUS.read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return float(kilobytes) / 1024.0
