"""Times as people write them, as seconds: pandas parses; this module decides which way of writing it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from chronoforest.names import optional
from chronoforest.types import FloatArray

DATE = re.compile(
    r"(\d{1,4}[/.-](?:\d{1,2}|[A-Za-z]{3})[/.-]\d{1,4})"
    r"(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d{1,9})?))?\s*([AaPp][Mm])?)?"
)
"""A date with slashes, points or dashes, and the time of day behind it."""

HOURS = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?")
"""A time of day alone."""

HOURS_OF_A_DAY = "hours of a day"
"""What a clock without days is called; it begins anew every midnight."""

ORDERS = {
    "dates with the year first": ("%Y/%m/%d",),
    "dates with the day first": ("%d/%m/%Y", "%d/%m/%y", "%d/%b/%Y", "%d/%b/%y"),
    "dates with the month first": ("%m/%d/%Y", "%m/%d/%y", "%b/%d/%Y"),
}
"""Ways to write a day, and the formats of each."""

UNIT_WORDS = {
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds"), (1e3, "milliseconds")),
    **dict.fromkeys(("us", "usec", "micros", "microseconds"), (1e6, "microseconds")),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanoseconds"), (1e9, "nanoseconds")),
}
"""Words of a column's name: how many of the unit make a second, and what it is called."""


@dataclass(frozen=True)
class Clock:
    """When rows were recorded: seconds: [N]; writing: how the file wrote them, "" where as plain seconds."""

    seconds: FloatArray
    writing: str = ""


def parsed(cells: Sequence[str]) -> Clock:
    """Cells [n] that hold something as seconds, NaN where one holds no time.

    A few may be something else: units below a header, a total at the end. Where days and months could be
    either way round, the way that keeps the recordings together is taken, and the clock says so.
    """
    if (quick := _quickly(cells)) is not None:
        return Clock(quick)
    series = optional("pandas", "geo").Series(list(cells), dtype=object)
    ways: tuple[Callable[[], dict[str, FloatArray]], ...] = (
        lambda: {"": _plain(series)},
        lambda: {HOURS_OF_A_DAY: _of_day(series)},
        lambda: (
            {way: _ordered(series, formats) for way, formats in ORDERS.items()} | {"dates": _worded(series)}
        ),
    )
    for most_odd in (0, few_of(len(cells))):
        for read in ways:
            fitting = {way: time for way, time in read().items() if np.isnan(time).sum() <= most_odd}
            if fitting:  # the way that reads most cells and, of several, takes the least time in all
                spans = {way: float(np.nanmax(time) - np.nanmin(time)) for way, time in fitting.items()}
                best = min(fitting, key=lambda way: (np.isnan(fitting[way]).sum(), spans[way]))
                others = [way for way in fitting if way != best]
                return Clock(fitting[best], best + (f", though {others[0]} would fit too" if others else ""))
    return Clock(_plain(series))


def few_of(num_cells: int) -> int:
    """How many cells of a column may be something else: one in a hundred, none of fewer than twenty."""
    return max(1, num_cells // 100) if num_cells >= 20 else 0


def clock_of(numbers: FloatArray, words: Sequence[str]) -> Clock:
    """Numbers as seconds: those that count smaller units since 1970, or are called so, are divided; days of
    spreadsheets are multiplied.

    words: of the column's name.
    """
    known = np.abs(numbers[np.isfinite(numbers)])
    usual = float(np.median(known)) if len(known) else 0.0
    if len(known) and known.min() > 1.9e13 and known.max() < 2.2e13:  # 20260501093000
        whole = optional("pandas", "geo").Series(numbers).astype("Int64").astype("string")
        dates = _dates(whole, format="%Y%m%d%H%M%S")
        if np.isfinite(dates).sum() == len(known):
            return Clock(dates, "dates in digits")
    # Seconds since 1970 reach 1e11 in the year 5138.
    for least, parts, name in ((1e17, 1e9, "nano"), (1e14, 1e6, "micro"), (1e11, 1e3, "milli")):
        if usual > least:
            return Clock(numbers / parts, f"{name}seconds since 1970")
    for word in UNIT_WORDS.keys() & words:
        parts, name = UNIT_WORDS[word]
        return Clock(numbers / parts, name)
    # Days of a spreadsheet: since 1900, with fractions, of 1954 to 2119 and less than seven minutes apart.
    # Seconds have no more than three digits behind the point.
    if len(known) > 1 and known.min() >= 20_000 and known.max() <= 80_000 and np.ptp(known) < 1000:
        is_fine = np.abs(1000.0 * known - np.rint(1000.0 * known)) > 1e-4
        steps = np.abs(np.diff(known))
        if is_fine.mean() > 0.5 and np.median(steps[steps > 0]) < 0.005:
            return Clock((numbers - 25_569.0) * 86_400.0, "days of a spreadsheet")  # 1970 since 1900
    return Clock(numbers)


def past_midnight(seconds: FloatArray) -> FloatArray:
    """[n] hours of a day as a time that runs on: back by half a day or more is the next day."""
    known = np.flatnonzero(np.isfinite(seconds))
    nights = np.zeros(len(seconds))
    nights[known[1:]] = np.diff(seconds[known]) < -43_200.0
    return np.asarray(seconds + 86_400.0 * np.cumsum(nights))


def are_epochs(numbers: FloatArray) -> bool:
    """Whether numbers can hardly be anything but times since 1970 (of 1989 to 2042), in seconds or parts."""
    known = numbers[np.isfinite(numbers)]
    if len(known) == 0:
        return False
    seconds = clock_of(known, ()).seconds
    return bool(((seconds > 6e8) & (seconds < 2.3e9)).all()) and len(np.unique(known)) > len(known) / 2


def are_dates(cells: Sequence[str]) -> bool:
    """Whether all cells that hold something are dates with hours, written in whichever way."""
    known = [cell for cell in cells if cell]
    if not known or not all(":" in cell and HOURS.fullmatch(cell) is None for cell in known):
        return False
    return bool(np.isfinite(parsed(known).seconds).all())


def hours_from_digits(texts: Sequence[str], fewest: int = 20) -> list[str] | None:
    """Times of a day that are written as one number, 93000, with colons, "" being none; None where they are
    something else: of several such numbers none ends with 60 to 99.

    fewest: different numbers that can hardly be so by chance.
    """
    known = {text.split(".")[0] for text in texts if text}
    if len(known) < fewest or not all(text.isdigit() and len(text) <= 6 for text in known):
        return None
    numbers = np.array([int(text) for text in known])
    is_time = (numbers % 100 < 60) & (numbers // 100 % 100 < 60)
    if not 10_000 <= numbers.max() <= 235_959 or not is_time.all():
        return None
    wide = [text.zfill(6 + len(text) - len(text.split(".")[0])) if text else "" for text in texts]
    return [f"{text[:2]}:{text[2:4]}:{text[4:]}" if text else "" for text in wide]


def _dates(cells: Any, **how: Any) -> FloatArray:
    """[n] seconds since 1970 of cells that pandas parses, NaN of others."""
    when = optional("pandas", "geo").to_datetime(cells, errors="coerce", utc=True, **how)
    times = np.asarray(when.dt.tz_localize(None).to_numpy(dtype="datetime64[us]"))
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 1e6)


def _quickly(cells: Sequence[str]) -> FloatArray | None:
    """[n] seconds of cells that are all numbers or all plain dates, without pandas; None where one is not."""
    with suppress(ValueError):
        return np.array(cells, dtype=np.float64)
    pattern = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z?")
    with suppress(ValueError):  # a month or an hour that there is not
        if all(map(pattern.fullmatch, cells)):
            times = np.array([cell.removesuffix("Z") for cell in cells], dtype="datetime64[us]")
            return np.asarray(times.astype(np.int64) / 1e6)
    return None


def _plain(cells: Any) -> FloatArray:
    """A number, or a date of ISO 8601 in UTC unless it says otherwise."""
    numbers = optional("pandas", "geo").to_numeric(cells, errors="coerce").to_numpy(dtype=float, copy=True)
    rest = cells[np.isnan(numbers)].str.replace(r" (?:UTC|GMT)$", "", regex=True)
    # A date has a dash or a colon: 2026 alone is a number, and May alone is nothing.
    numbers[np.isnan(numbers)] = _dates(rest.where(rest.str.contains("[-:]"), None), format="ISO8601")
    return numbers


def _of_day(cells: Any) -> FloatArray:
    """Seconds since midnight."""
    parts = cells.str.extract(f"^{HOURS.pattern}$").fillna({2: "0"})
    return np.asarray(parts.replace(",", ".", regex=True).astype(float) @ np.array([3600.0, 60.0, 1.0]))


def _ordered(cells: Any, formats: Sequence[str]) -> FloatArray:
    """Dates in some formats, with hours behind them."""
    found = cells.str.replace(r"(?: UTC|Z)$", "", regex=True).str.extract(f"^{DATE.pattern}$")
    days = found[0].str.replace("[.-]", "/", regex=True)
    midnight = np.fmin.reduce([_dates(days, format=format) for format in formats])
    parts = found[[1, 2, 3]].fillna("0").replace(",", ".", regex=True).astype(float).to_numpy()
    half = found[4].str.lower()
    hour = np.where(half.isna(), parts[:, 0], parts[:, 0] % 12 + 12 * (half == "pm"))
    is_time = (hour < 24) & (parts[:, 1] < 60) & (parts[:, 2] < 60)
    return np.asarray(midnight + np.where(is_time, 3600 * hour + parts[:, 1:] @ [60.0, 1.0], np.nan))


def _worded(cells: Any) -> FloatArray:
    """Dates with the month's name and a year; zones are left out, which are the same for all rows."""
    is_date = cells.str.contains(r"[A-Za-z]{3}") & cells.str.contains(r"(?<![\d:+-])\d{4}(?!\d)")
    # A zone stands behind the time of day: CDT, -0500.
    zone = r"(?<=:\d\d) (?![AP]M)(?:[A-Z]{2,5}|[+-]\d{4})"
    return _dates(cells.where(is_date, None).str.replace(zone, "", regex=True), format="mixed")
