"""Dates and times that are written as one number: 20260501093000, or 93000 beside a day."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chronoforest.types import FloatArray, IntArray

DIGITS = (19_000_101_000_000, 21_001_231_235_959)
"""Dates that are written as one number, years first and seconds last."""

FEW_TIMES = 20
"""Different numbers of hours, minutes and seconds that can hardly be so by chance."""


def hours_from_digits(texts: Sequence[str]) -> list[str] | None:
    """Times of a day that are written as one number as hours, minutes and seconds with colons, "" being none;
    None where they are something else: such numbers never end with 60 to 99."""
    known = {text.split(".")[0] for text in texts if text}
    if len(known) < FEW_TIMES or not all(text.isdigit() and len(text) <= 6 for text in known):
        return None
    numbers = np.array([int(text) for text in known])
    if numbers.max() < 10_000 or numbers.max() > 235_959 or not _are_sixtieths(numbers):
        return None
    wide = [text.zfill(6 + len(text) - len(text.split(".")[0])) if text else "" for text in texts]
    return [f"{text[:2]}:{text[2:4]}:{text[4:]}" if text else "" for text in wide]


def _are_sixtieths(numbers: IntArray) -> bool:
    """Whether the last four digits can be minutes and seconds."""
    return bool((numbers % 100 < 60).all() and (numbers // 100 % 100 < 60).all())


def are_digits(numbers: FloatArray) -> bool:
    """Whether numbers are dates without anything between years, months, days, hours, minutes and seconds."""
    finite = numbers[np.isfinite(numbers)]
    if len(finite) == 0 or not ((finite >= DIGITS[0]) & (finite <= DIGITS[1])).all():
        return False
    whole = finite.astype(np.int64)
    month, day, hour = (whole // scale % 100 for scale in (10**8, 10**6, 10**4))
    is_day = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (hour < 24)
    return bool(is_day.all()) and _are_sixtieths(whole)


def from_digits(numbers: FloatArray) -> FloatArray:
    """[n] seconds since 1970 of dates in digits."""
    known = np.isfinite(numbers)
    whole = np.where(known, numbers, DIGITS[0]).astype(np.int64)
    year, month, day, hour, minute, second = (
        whole // scale % span
        for scale, span in ((10**10, 10**4), (10**8, 100), (10**6, 100), (10**4, 100), (100, 100), (1, 100))
    )
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.int64) + day - 1
    seconds = 86_400 * days + 3600 * hour + 60 * minute + second
    return np.where(known, seconds + numbers % 1, np.nan)
