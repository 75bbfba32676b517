"""Files without a header: named by what their values can only be, or refused with what they suggest."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chronoforest.data.clocks import DATE, HOURS, are_dates, are_epochs
from chronoforest.data.polylines import can_be_either, lists_places
from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray

MANY_ROWS = 500
"""Enough to see what columns hold."""

MOST_COUNTED = 0.9
"""Share of steps that are the same where something is counted and not timed."""

REGION = 20.0
"""Degrees that recordings of one region span."""


@dataclass(frozen=True)
class Sample:
    """Some cells of a column: texts [n], and as numbers [n], NaN where they are none."""

    texts: Sequence[str]
    numbers: FloatArray

    @classmethod
    def of(cls, texts: Sequence[str]) -> Sample:
        """From cells."""
        return cls(texts, np.array([_number(text) for text in texts]))

    @property
    def are_numbers(self) -> bool:
        """Whether no cell is anything else."""
        return bool(np.isfinite(self.numbers).all())

    @property
    def are_places(self) -> bool:
        """Whether cells can be coordinates: numbers that are not all whole and change."""
        is_whole = self.are_numbers and bool((self.numbers == np.rint(self.numbers)).all())
        return self.are_numbers and not is_whole and float(np.ptp(self.numbers)) > 0

    @property
    def are_whole_places(self) -> bool:
        """Whether cells can be coordinates in pixels or millimetres: whole numbers that go up and down."""
        steps = np.diff(self.numbers)
        is_whole = self.are_numbers and bool((self.numbers == np.rint(self.numbers)).all())
        return is_whole and not self.repeats and bool((steps > 0).any() and (steps < 0).any())

    @property
    def is_constant(self) -> bool:
        """Whether cells are one and the same number."""
        return self.are_numbers and float(np.ptp(self.numbers)) == 0

    @property
    def repeats(self) -> bool:
        """Whether most cells are like others, as those are that tell recordings apart."""
        return len(set(self.texts)) <= max(1, len(self.texts) // 3)

    @property
    def rises(self) -> bool:
        """Whether every cell is a larger number than the one before."""
        return self.are_numbers and len(self.numbers) > 1 and bool((np.diff(self.numbers) > 0).all())

    @property
    def counts(self) -> bool:
        """Whether cells are whole numbers of which each is as much larger than the one before, if at all."""
        steps = np.unique(np.diff(np.unique(self.numbers)))
        return len(steps) == 1 and steps[0] == np.rint(steps[0])

    def rises_for_each(self, bodies: Sequence[str]) -> bool:
        """Whether every cell is a larger number than the one before of the same body [n]."""
        steps = self._steps(bodies)
        return self.are_numbers and len(steps) > 0 and bool((steps > 0).all())

    def counts_for_each(self, bodies: Sequence[str]) -> bool:
        """Whether nearly all cells are whole numbers as much larger than the one before of the same body."""
        steps = self._steps(bodies)
        usual = np.median(steps)
        return bool(usual == np.rint(usual)) and float((steps == usual).mean()) > MOST_COUNTED

    def _steps(self, bodies: Sequence[str]) -> FloatArray:
        """From a cell to the next of the same body."""
        _, codes = np.unique(bodies, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        return np.asarray(np.diff(self.numbers[order])[np.diff(codes[order]) == 0])

    @property
    def is_flag(self) -> bool:
        """Whether cells are a mere yes or no."""
        return set(self.texts) <= {"0", "1"}


def holds_values(cell: str) -> bool:
    """Whether a cell is a number, a date or a list, which no column is called."""
    cell = cell.strip()
    return np.isfinite(_number(cell)) or cell.startswith("[[") or DATE.fullmatch(cell) is not None


def names_without_header(path: Path, rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Names for the columns of a file whose first row names nothing; refused, with what would name them,
    where their values do not tell.

    width: cells of a row that count.
    """
    sample = [row[:width] for row in rows[:MANY_ROWS] if len(row) >= width]
    columns = [Sample.of([cell.strip() for cell in cells]) for cells in zip(*sample, strict=True)]
    names = guessed_names(columns)
    is_either = bool(names) and _is_either(columns, names)
    if "places" in names:
        _refuse_either(path, names, columns[names.index("places")])
    if _is_timed(names) and not is_either:
        return names
    got = ", ".join(map(repr, rows[0]))
    if names:
        doubt = " (both orders of lon and lat would fit)" if is_either else ""
        advice = f"if these are {', '.join(names)}, add --header {','.join(names)}{doubt}"
    else:
        advice = f"name all its {width} columns in their order, such as --header id,time,lon,lat"
    shown = got if len(got) <= 80 else f"{got[:79]}…"
    raise BadDataset(f"{path}: the first row must name every column once, got {shown}; {advice}")


def _refuse_either(path: Path, names: Sequence[str], places: Sample) -> None:
    """Refuse lists of places in which longitude and latitude could be either way round."""
    if can_be_either(places.texts):
        header = ",".join(names)
        ways = [f"--header {header.replace('places', way)}" for way in ("lonlat", "latlon")]
        raise BadDataset(
            f"{path}: longitude or latitude could come first in {places.texts[0]!r:.60}, and no header "
            f"tells; add {ways[0]} or {ways[1]}"
        )


def guessed_names(columns: Sequence[Sample]) -> list[str]:
    """A name for every column, from what it holds; none where nothing looks like coordinates."""
    places = _places(columns)
    if not places:
        return []
    names = {**_times(columns), **places}
    free = [k for k in range(len(columns)) if k not in names]
    ids = [k for k in free if columns[k].repeats and (k == 0 or not columns[k].is_flag)]
    if not _is_timed(names.values()):
        names |= _order(columns, free, ids)
    names |= dict.fromkeys([k for k in ids if k not in names][:1], "id") if "id" not in names.values() else {}
    return [names.get(k, f"column{k + 1}") for k in range(len(columns))]


def _places(columns: Sequence[Sample]) -> dict[int, str]:
    """Which two columns are coordinates, or which one holds places."""
    taken = _times(columns)
    for k, column in enumerate(columns):
        if lists_places(np.array(column.texts, dtype=object)):
            return {k: "places"}
    free = {k: column for k, column in enumerate(columns) if k not in taken}
    ids = [k for k, column in free.items() if column.repeats]
    fine = {k for k, column in free.items() if column.are_places}
    whole = {k for k, column in free.items() if column.are_whole_places and not _is_order(columns, k, ids)}
    pairs = [pair for pair in _neighbours(columns) if fine.issuperset(pair) or whole.issuperset(pair)]
    # A time in seconds lies beside the coordinates and looks like one, but for rising all the way.
    best = min(sorted(pairs), key=lambda pair: sum(free[k].rises for k in pair), default=None)
    return dict(zip(best, _axes(*(free[k] for k in best)), strict=True)) if best is not None else {}


def _neighbours(columns: Sequence[Sample]) -> list[tuple[int, int]]:
    """Columns beside each other; one that never changes, such as a height, may stand between."""
    pairs = [(k, k + 1) for k in range(len(columns) - 1)]
    return pairs + [(k, k + 2) for k in range(len(columns) - 2) if columns[k + 1].is_constant]


def _is_order(columns: Sequence[Sample], k: int, ids: Sequence[int]) -> bool:
    """Whether a column rises from row to row of each body that another one names."""
    return any(columns[k].rises_for_each(columns[body].texts) for body in ids if body != k)


def _times(columns: Sequence[Sample]) -> dict[int, str]:
    """Which column is the time, or which two are the date and the time."""
    for k, column in enumerate(columns):
        if are_dates(column.texts) or are_epochs(column.numbers):
            return {k: "time"}
    hours = [k for k, column in enumerate(columns) if _all_match(column, HOURS)]
    dates = [k for k, column in enumerate(columns) if _all_match(column, DATE)]
    return {**dict.fromkeys(hours[:1], "time"), **dict.fromkeys(dates[:1], "date")}


def _order(columns: Sequence[Sample], free: Sequence[int], ids: Sequence[int]) -> dict[int, str]:
    """The column that rises from row to row, or from row to row of each body that another one names: a count
    of rows or pictures where its numbers are whole, else a time in seconds."""
    for k in free:
        if columns[k].rises:
            return {k: "seq" if columns[k].counts else "time"}
    pairs = ((k, body) for k in free for body in ids if body != k)
    for k, body in pairs:
        if columns[k].rises_for_each(columns[body].texts):
            is_count = columns[k].counts or columns[k].counts_for_each(columns[body].texts)
            return {k: "frame" if is_count else "time", body: "id"}
    return {}


def _is_timed(names: Collection[str]) -> bool:
    """Whether columns of these names tell when or in which order rows were recorded."""
    return bool({"time", "seq", "frame"} & set(names))


def _all_match(column: Sample, pattern: re.Pattern[str]) -> bool:
    return all(pattern.fullmatch(text) for text in column.texts)


def _axes(first: Sample, second: Sample) -> tuple[str, str]:
    """Degrees, in the order that their sizes allow, longitude first where both would; else x and y."""
    largest = [float(np.abs(column.numbers).max()) for column in (first, second)]
    is_region = all(float(np.ptp(column.numbers)) < REGION for column in (first, second))
    is_far = min(largest) > 1.0
    if not (is_region and is_far and max(largest) <= 180.0 and min(largest) <= 90.0):
        return "x", "y"
    return ("lat", "lon") if largest[1] > 90.0 else ("lon", "lat")


def _is_either(columns: Sequence[Sample], names: Sequence[str]) -> bool:
    """Whether neither coordinate is too large to be a latitude."""
    degrees = [column for column, name in zip(columns, names, strict=True) if name in ("lon", "lat")]
    return bool(degrees) and all(float(np.abs(column.numbers).max()) <= 90.0 for column in degrees)


def _number(text: str) -> float:
    """A cell as a number, with a point or a comma; NaN where it is none."""
    for written in (text, text.replace(",", ".")):
        with suppress(ValueError):
            return float(written) if written[-1:].isdigit() or written.endswith(".") else np.nan
    return float("nan")
