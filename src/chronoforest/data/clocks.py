"""Times as people write them, as seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np

from chronoforest.types import FloatArray

FORMATS = (
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%Y%m%d %H:%M:%S",
)
"""Of dates, beside those of ISO 8601; of several that fit a whole column the first is taken."""

FINER = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Since 1970 so many nanoseconds, microseconds or milliseconds passed, and how many make a second; seconds
take until the year 5138 to become as many."""

MILLISECONDS = {"ms", "millis", "milliseconds", "msec"}

Parse = Callable[[str], float]


def parser_for(cells: Sequence[str]) -> Parse:
    """What turns every cell of a column into seconds; the plain one, which complains, where nothing does."""
    for parse in (_plain, *map(_of_format, FORMATS)):
        try:
            for cell in cells:
                parse(cell)
        except (ValueError, OverflowError, OSError):
            continue
        return parse
    return _plain


def in_seconds(times: FloatArray, words: set[str]) -> FloatArray:
    """Numbers as seconds: those that count smaller units from 1970, or are called so, are divided."""
    finite = np.abs(times[np.isfinite(times)])
    usual = float(np.median(finite)) if len(finite) else 0.0
    parts = next((parts for least, parts in FINER if usual > least), 1.0)
    return times / (parts if parts > 1.0 or not words & MILLISECONDS else 1e3)


def _plain(cell: str) -> float:
    """A number or a date of ISO 8601, in UTC unless it says otherwise."""
    try:
        return float(cell)
    except ValueError:
        return _since_1970(datetime.fromisoformat(cell.removesuffix(" UTC")))


def _of_format(form: str) -> Parse:
    return lambda cell: _since_1970(
        datetime.strptime(cell.partition(".")[0] if "." not in form else cell, form)
    )


def _since_1970(when: datetime) -> float:
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
