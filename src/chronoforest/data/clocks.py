"""Times as people write them, as seconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import numpy as np

from chronoforest.data.digits import are_digits, from_digits
from chronoforest.types import FloatArray

DATE = re.compile(
    r"(\d{1,4})[/.-](\d{1,2}|[A-Za-z]{3})[/.-](\d{1,4})"
    r"(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([AaPp][Mm])?)?"
)
"""A date with slashes, points or dashes, and the time of day behind it."""

PLAIN_ISO = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z?")
"""A date of ISO 8601 in UTC, as nearly all large files have."""

ORDERS = {"ymd": "year first", "dmy": "day first", "mdy": "month first"}
"""How days, months and years follow each other, in words."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

HOURS = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?")
"""A time of day alone."""

WORDED = re.compile(
    r"(?:(?P<d>\d{1,2})(?:st|nd|rd|th)?[ -](?P<m>[A-Za-z]{3,9})|(?P<n>[A-Za-z]{3,9}) (?P<e>\d{1,2}))\b"
    r"(?P<rest>.*)"
)
YEAR = re.compile(r"(?<![\d:+-])(\d{4})(?!\d)")
TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*([AaPp][Mm])?")
"""A day beside a month's name, what follows it, a year and a time of day in it: Sat Apr 02 23:50:55 2011."""

HOURS_OF_A_DAY, DAY = "hours of a day", 86_400.0
"""What a clock without days is called, and when it begins anew."""

FINER = ((1e17, 1e9, "nanoseconds"), (1e14, 1e6, "microseconds"), (1e11, 1e3, "milliseconds"))
"""Since 1970 so many of them passed, and how many make a second; seconds take until the year 5138 to become
as many."""

CALLED = {
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds"), (1e3, "milliseconds")),
    **dict.fromkeys(("us", "usec", "micros", "microseconds"), (1e6, "microseconds")),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanoseconds"), (1e9, "nanoseconds")),
}
"""Words of a column's name that tell the unit."""

SHEET_DAYS, SHEET_EPOCH = (20_000.0, 80_000.0), 25_569.0
"""Days that spreadsheets count from 1900: those of 1954 to 2119, and the one of 1970."""

SHEET_STEP, SHEET_SPAN = 0.005, 1000.0
"""Days from row to row, seven minutes, and from the first to the last, that such columns stay below."""

EPOCHS = (6e8, 2.3e9)
"""Seconds since 1970 in 1989 and in 2042; numbers between them that run on are hardly anything else."""

MOST_ODD, LEAST_CELLS = 0.01, 20
"""Share of cells that may be something else, and cells from which on one may."""

Parse = Callable[[str], float]


@dataclass(frozen=True)
class Clock:
    """When rows were recorded: seconds: [N]; told: what the file holds where it is not plain seconds."""

    seconds: FloatArray
    told: str = ""


@dataclass(frozen=True)
class Writing:
    """A way to write times: parse: a cell as seconds, ValueError where it is none; told: its name."""

    parse: Parse
    told: str


def writing_of(cells: Sequence[str]) -> Writing:
    """How every cell of a column can be read; as plain numbers, which complain, where nothing fits.

    Where days and months could be either way round, the way that keeps the recordings together is taken, and
    said.
    """
    plain = Writing(_plain, "")
    fitting = _fitting(plain, cells, 0) or _fitting(plain, cells, few_of(len(cells)))
    if not fitting:
        return plain
    best = min(fitting, key=lambda way: _odd_and_span(way, cells)) if len(fitting) > 1 else fitting[0]
    others = [way.told for way in fitting if way is not best]
    doubt = f", though {others[0]} would fit too" if others else ""
    return Writing(best.parse, f"{best.told}{doubt}" if best is not plain else "")


def few_of(num_cells: int) -> int:
    """How many cells of a column may be something else: units below the header, a total at the end."""
    return max(1, int(MOST_ODD * num_cells)) if num_cells >= LEAST_CELLS else 0


def iso_seconds(cells: Sequence[str]) -> FloatArray | None:
    """[n] seconds since 1970 of dates that are all written plainly, "" being none, quicker than one by one;
    None where one is not."""
    if not all(PLAIN_ISO.fullmatch(cell) for cell in cells if cell):
        return None
    try:
        times = np.array([cell.removesuffix("Z") for cell in cells], dtype="datetime64[us]")
    except ValueError:  # a month or an hour that there is not
        return None
    return np.where(np.isnat(times), np.nan, times.astype(np.int64) / 1e6)


def clock_of(numbers: FloatArray, words: set[str]) -> Clock:
    """Numbers as seconds: those that count smaller units from 1970, or are called so, are divided; days of
    spreadsheets are multiplied.

    words: of the column's name.
    """
    if are_digits(numbers):
        return Clock(from_digits(numbers), "dates in digits")
    finite = np.abs(numbers[np.isfinite(numbers)])
    usual = float(np.median(finite)) if len(finite) else 0.0
    for least, parts, told in FINER:
        if usual > least:
            return Clock(numbers / parts, f"{told} since 1970")
    for word in words & CALLED.keys():
        parts, told = CALLED[word]
        return Clock(numbers / parts, told)
    if _are_sheet_days(finite):
        return Clock((numbers - SHEET_EPOCH) * 86_400.0, "days of a spreadsheet")
    return Clock(numbers)


def past_midnight(seconds: FloatArray) -> FloatArray:
    """[n] hours of a day, one after the other, as a time that runs on: back by half a day or more is the next
    day."""
    known = np.flatnonzero(np.isfinite(seconds))
    nights = np.zeros(len(seconds))
    nights[known[1:]] = np.diff(seconds[known]) < -DAY / 2
    return np.asarray(seconds + DAY * np.cumsum(nights))


def are_epochs(numbers: FloatArray) -> bool:
    """Whether numbers can hardly be anything but times since 1970, in seconds or parts of them."""
    finite = numbers[np.isfinite(numbers)]
    if len(finite) == 0:
        return False
    seconds = clock_of(finite, set()).seconds
    is_recent = bool((seconds > EPOCHS[0]).all() and (seconds < EPOCHS[1]).all())
    return is_recent and len(np.unique(finite)) > len(finite) / 2


def are_dates(cells: Sequence[str]) -> bool:
    """Whether cells are dates with hours, written in whichever way."""
    known = [cell for cell in cells if cell]
    if not known or not all(":" in cell and HOURS.fullmatch(cell) is None for cell in known):
        return False
    return _fits(writing_of(known), known)


def _fitting(plain: Writing, cells: Sequence[str], most_odd: int) -> list[Writing]:
    """Ways in which all cells but so many can be read: plainly, as hours, or all that have the days."""
    for way in (plain, Writing(_of_day, HOURS_OF_A_DAY)):
        if _fits(way, cells, most_odd):
            return [way]
    return [way for way in (*_ordered(), Writing(_worded, "dates")) if _fits(way, cells, most_odd)]


def _fits(way: Writing, cells: Sequence[str], most_odd: int = 0) -> bool:
    is_odd = (_read(way, cell) is None for cell in cells)
    return next(islice((odd for odd in is_odd if odd), most_odd, None), None) is None


def _read(way: Writing, cell: str) -> float | None:
    try:
        return way.parse(cell)
    except (ValueError, OverflowError, OSError):
        return None


def _odd_and_span(way: Writing, cells: Sequence[str]) -> tuple[int, float]:
    """How many cells cannot be read, and seconds from the first to the last of the others."""
    times = [time for cell in cells if (time := _read(way, cell)) is not None]
    return len(cells) - len(times), max(times) - min(times)


def _plain(cell: str) -> float:
    """A number or a date of ISO 8601, in UTC unless it says otherwise."""
    with suppress(ValueError):
        return float(cell)
    when = datetime.fromisoformat(cell.removesuffix(" UTC").removesuffix(" GMT"))
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()


def _of_day(cell: str) -> float:
    """Seconds since midnight."""
    found = HOURS.fullmatch(cell)
    if found is None:
        raise ValueError(cell)
    hours, minutes, seconds = found.groups()
    return 3600.0 * int(hours) + 60.0 * int(minutes) + float((seconds or "0").replace(",", "."))


def _worded(cell: str) -> float:
    """A date with the month's name; zones are left out, which are the same for all rows."""
    found = WORDED.search(cell)
    year, time = YEAR.search(found["rest"] if found else ""), TIME_OF_DAY.search(cell)
    if found is None or year is None:
        raise ValueError(cell)
    month, day = _month((found["m"] or found["n"])[:3]), int(found["d"] or found["e"])
    midnight = datetime(int(year[1]), month, day, tzinfo=UTC).timestamp()
    if time is None:
        return midnight
    return midnight + 3600.0 * _hour(time[1], time[4]) + 60.0 * int(time[2]) + float(time[3] or 0)


def _ordered() -> list[Writing]:
    return [Writing(_in_order(order), f"dates with the {told}") for order, told in ORDERS.items()]


def _in_order(order: str) -> Parse:
    def parse(cell: str) -> float:
        found = DATE.fullmatch(cell.removesuffix(" UTC").removesuffix("Z"))
        if found is None:
            raise ValueError(cell)
        part = dict(zip(order, found.groups()[:3], strict=True))
        if len(part["y"]) not in ((4,) if order == "ymd" else (2, 4)) or len(part["d"]) > 2:
            raise ValueError(cell)
        hours, minutes, seconds, fraction, half = found.groups()[3:]
        when = datetime(
            *(_year(part["y"]), _month(part["m"]), int(part["d"]), _hour(hours, half)),
            *(int(minutes or 0), int(seconds or 0)),
            tzinfo=UTC,
        )
        return when.timestamp() + float(f"0.{fraction or 0}")

    return parse


def _year(text: str) -> int:
    """Of two digits those from 70 on are of the last century."""
    year = int(text)
    return year if len(text) == 4 else year + (1900 if year >= 70 else 2000)


def _month(text: str) -> int:
    return int(text) if text.isdigit() else MONTHS.index(text.lower()) + 1


def _hour(text: str | None, half: str | None) -> int:
    """Of the day; half: AM or PM, where the clock has twelve hours."""
    hour = int(text or 0)
    return hour if half is None else hour % 12 + (12 if half.lower() == "pm" else 0)


def _are_sheet_days(numbers: FloatArray) -> bool:
    """Whether numbers are days with fractions, a few seconds or minutes apart; seconds have no more than
    three digits behind the point."""
    if len(numbers) < 2 or numbers.min() < SHEET_DAYS[0] or numbers.max() > SHEET_DAYS[1]:
        return False
    thousandths = 1000.0 * numbers
    is_fine = float((np.abs(thousandths - np.rint(thousandths)) > 1e-4).mean()) > 0.5
    steps = np.abs(np.diff(numbers))
    steps = steps[steps > 0]
    return is_fine and bool(np.ptp(numbers) < SHEET_SPAN) and float(np.median(steps)) < SHEET_STEP
