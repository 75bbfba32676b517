"""The most memory that a part of the work takes, as Linux counts it."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

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
