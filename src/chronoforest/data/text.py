"""Tables in text, in whatever encoding, separated by commas or otherwise; columns of a file without a header
get the names that their values suggest."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence
from itertools import islice, product
from pathlib import Path

import numpy as np

from chronoforest.data.axes import coordinate_axes
from chronoforest.data.clocks import DATE, HOURS, are_dates, are_epochs
from chronoforest.data.columns import Column, Table, number_of, shortened
from chronoforest.data.maps import NAMELESS, lists_places, with_places
from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins as that of UTF-16-LE does, so it is looked for first
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""What files in wide encodings begin with."""

ZEROS = {"x0x0": "utf-16-le", "0x0x": "utf-16-be", "x000": "utf-32-le", "000x": "utf-32-be"}
"""Which of four bytes are zero in text of wide encodings without a mark."""

PLT = ("latitude", "longitude", "zero", "altitude_feet", "days", "date", "time")
"""Columns of a track of GeoLife."""

TIMED = {"time", "seq", "frame"}
"""Names of columns that say when or in which order rows were recorded."""


def read_text(path: Path, content: bytes, header: Sequence[str] = (), num_skipped: int = 0) -> Table:
    """A header and rows of equal length, a row for every place; header: names instead of those of the file;
    num_skipped: lines at the top."""
    rows = _rows(path, content, num_skipped)
    if not rows:
        raise BadDataset(f"{path}: empty")
    # Lines that some programs write above the header have fewer cells than the last rows.
    width = max(map(len, rows[-20:]))
    first = next((k for k, row in enumerate(rows[:8]) if len(row) >= width), 0)
    rows = rows if any(map(_holds_value, rows[first])) else rows[first:]
    names = _names(rows)
    has_header = not any(map(_holds_value, names)) and not num_skipped
    guessed = [] if header or has_header else _suggested(path, rows, len(names))
    names = list(header) or guessed or _numbered(names)
    if "" in names or len(set(names)) < len(names):
        shown = shortened(", ".join(map(repr, names)))
        raise BadDataset(f"{path}: --header must name every column once, got {shown}")
    columns = _columns(path, names, rows[has_header:])
    try:
        return Table(str(path), with_places(columns), tuple(guessed))
    except BadDataset as error:
        raise BadDataset(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error


def _rows(path: Path, content: bytes, num_skipped: int) -> list[list[str]]:
    """Cells of every line that is not empty, from the header on.

    Not by pandas, which fills short rows up in silence and takes nine seconds where 40,000 columns take one.
    """
    encoding = _encoding(path, content)
    head, lines = (io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline="") for _ in range(2))
    first = list(islice(head, num_skipped, num_skipped + 20))
    separator = _separator(first)
    num_comments = next((k for k, line in enumerate(first) if not line.startswith("#")), 0)
    if num_comments:  # the last of them is the header where it has as many words
        comment, line = first[num_comments - 1].lstrip("# "), first[num_comments].strip()
        num_comments -= comment.count(separator) == line.count(separator)
    rest = islice(lines, num_skipped + num_comments, None)
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    known: dict[str, str] = {}
    rows = []
    try:
        for row in csv.reader(rest, delimiter=separator, skipinitialspace=separator == " "):
            # Cells that come again and again are kept once.
            share = known.setdefault if len(known) < 200_000 else known.get
            if row:
                rows.append([share(cell, cell) for cell in row])
    except csv.Error as error:
        raise BadDataset(f"{path}: not a CSV file ({error})") from error
    return rows


def _encoding(path: Path, content: bytes) -> str:
    """UTF-8, what old programs write instead, or UTF-16 or UTF-32 by their mark or their zeros."""
    start = content[:1000]
    zeros = "".join("0" if start[k::4].count(0) > len(start) / 6 else "x" for k in range(4))
    wide = [encoding for mark, encoding in MARKS.items() if content.startswith(mark)]
    wide += [ZEROS[zeros]] if zeros in ZEROS else []
    for encoding in wide[:1] or (["utf-8-sig"] if b"\0" in content else ["utf-8-sig", "cp1252"]):
        try:
            content.decode(encoding)
        except UnicodeDecodeError as error:
            reason = f"{error.reason} at byte {error.start}"
        else:
            return encoding
    raise BadDataset(f"{path}: not a text file ({reason})")


def _separator(lines: Sequence[str]) -> str:
    """Tab, semicolon or bar where every line has as many, else comma, or spaces where there is none."""
    known = [line for line in lines if line.strip() and not line.startswith("#")]
    for part in (known, known[8:]):
        for separator in "\t;|":
            counts = {line.count(separator) for line in part}
            if counts and 0 not in counts and (len(counts) == 1 or "," not in part[0]):
                return separator
    has_spaces = bool(known) and all("," not in line and " " in line.strip() for line in known)
    return " " if has_spaces else ","


def _names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells of the first row without a hash before them and without one that is empty at the end of all."""
    names = [cell.strip() for cell in rows[0]]
    names = names[1:] if names[0] == "#" else [names[0].lstrip("# "), *names[1:]]
    ends_with_comma = names[-1:] == [""] and not any("".join(row[len(names) - 1 :]) for row in rows[1:3])
    return names[:-1] if ends_with_comma else names


def _numbered(names: Sequence[str]) -> list[str]:
    """Columns without a name, and those whose name was there before, are numbered."""
    known: list[str] = []
    seen: set[str] = set()
    for number, name in enumerate(names, start=1):
        known.append(f"{name}{number}" if name and name in seen else name or f"column{number}")
        seen.add(known[-1])
    return known


def _columns(
    path: Path, names: Sequence[str], rows: Sequence[Sequence[str]], most_broken: float = 0.01
) -> dict[str, Column]:
    """Rows as columns; a few broken ones, as at the end of a log that was cut off, become empty."""
    width = len(names)
    odd = {k for k, row in enumerate(rows) if len(row) < width or any(row[width:])}
    if len(odd) > most_broken * len(rows):
        first = min(odd)
        found = f"row {first + 1} has {len(rows[first])} cells"
        raise BadDataset(f"{path}: {found}, the header names {width} columns")
    cells = np.empty((len(rows), width), dtype=object)
    for k, row in enumerate(rows):
        cells[k] = row[:width] if k not in odd else ""
    return {name: cells[:, k] for k, name in enumerate(names)}


def _number(text: str) -> float:
    """A cell as a number, with a point or a comma; NaN where it is none."""
    return number_of(text) if text[-1:].isdigit() or text.endswith(".") else float("nan")


def _holds_value(cell: str) -> bool:
    """Whether a cell is a number, a date or a list, which no column is called."""
    cell = cell.strip()
    return np.isfinite(_number(cell)) or cell.startswith("[[") or DATE.fullmatch(cell) is not None


def _suggested(path: Path, rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Names for columns, of which `width` cells count; refused with a proposal if values do not show them."""
    sample = [[cell.strip() for cell in row[:width]] for row in rows[:500] if len(row) >= width]
    names, is_certain = Sample(list(zip(*sample, strict=True))).names()
    if TIMED & {*names} and is_certain:
        return names
    if 0 < len(names) <= 20:  # nobody types more
        doubt = "" if is_certain else " (both orders of lon and lat would fit)"
        advice = f"if these are {', '.join(names)}, add --header {','.join(names)}{doubt}"
    else:
        advice = f"name all its {width} columns in their order, such as --header id,time,lon,lat"
    got = shortened(", ".join(map(repr, rows[0])))
    raise BadDataset(f"{path}: the first row must name every column once, got {got}; {advice}")


class Sample:
    """Some rows of a file without a header.

    texts, numbers: [columns][n] cells, NaN where they are none; times: which column is the time, or which two
    are the date and the time; bodies: columns in which most cells are like others, as those are that tell
    recordings apart; past the first, a mere yes or no names no body.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.texts = texts
        self.numbers = [np.array([_number(text) for text in column]) for column in texts]
        cells = zip(texts, self.numbers, strict=True)
        clocks = [k for k, (column, numbers) in enumerate(cells) if are_dates(column) or are_epochs(numbers)]
        self.times = dict.fromkeys(clocks[:1], "time")
        for name, pattern in (("time", HOURS), ("date", DATE)) if not clocks else ():
            known = [k for k, column in enumerate(texts) if all(map(pattern.fullmatch, column))]
            self.times |= dict.fromkeys(known[:1], name)
        few = [k for k, column in enumerate(texts) if len(set(column)) <= max(1, len(column) // 3)]
        self.bodies = [k for k in few if k not in self.times and (k == 0 or not set(texts[k]) <= {"0", "1"})]

    def steps(self, k: int, body: int | None = None) -> FloatArray:
        """From a cell to the next, of the same body where its column is given."""
        codes = np.unique(self.texts[body or 0], return_inverse=True)[1] * (body is not None)
        order = np.argsort(codes, kind="stable")
        return np.asarray(np.diff(self.numbers[k][order])[np.diff(codes[order]) == 0])

    def rises(self, k: int, body: int | None = None) -> bool:
        """Whether every cell is a larger number than the one before."""
        steps = self.steps(k, body)
        return len(steps) > 0 and bool((steps > 0).all())

    def names(self) -> tuple[list[str], bool]:
        """A name for every column, none without places, and whether the order of degrees is certain."""
        places, is_certain = self._places()
        if not places:
            return [], True
        names = {**self.times, **places}
        if not TIMED & {*names.values()}:
            names |= self._order([k for k in range(len(self.texts)) if k not in names])
        if "id" not in names.values():
            names |= dict.fromkeys([k for k in self.bodies if k not in names][:1], "id")
        return [names.get(k, f"column{k + 1}") for k in range(len(self.texts))], is_certain

    def _places(self) -> tuple[dict[int, str], bool]:
        """Which two columns are coordinates, or which one holds places, and whether the order is certain."""
        for k, texts in enumerate(self.texts):
            if lists_places(np.array(texts, dtype=object)):
                return {k: NAMELESS}, True
        spans = [float(np.ptp(numbers)) for numbers in self.numbers]
        free = [k for k, span in enumerate(spans) if k not in self.times and span > 0]
        fine = {k for k in free if (self.numbers[k] != np.rint(self.numbers[k])).any()}
        # Whole numbers that rise here and fall there are coordinates in pixels, no count of a body's rows.
        # Ids come first in files, so of thousands of columns not all pairs are looked at.
        whole = {
            k
            for k in free
            if k not in {*fine, *self.bodies}
            and {-1.0, 1.0} <= set(np.sign(self.steps(k)))
            and not any(self.rises(k, body) for body in self.bodies[:20])
        }
        # Columns beside each other; one that never changes, such as a height, may stand between.
        pairs = [(k, k + 1) for k in range(len(spans) - 1)]
        pairs += [(k - 1, k + 1) for k in range(1, len(spans) - 1) if spans[k] == 0]
        known = sorted(pair for pair in pairs if fine.issuperset(pair) or whole.issuperset(pair))
        # A time in seconds lies beside the coordinates and looks like one, but for rising all the way.
        best = min(known, key=lambda pair: sum(map(self.rises, pair)), default=None)
        if best is None:
            return {}, True
        values = np.stack([self.numbers[k] for k in best], axis=1)
        axes = coordinate_axes(values, steps=np.diff(values, axis=0), is_named=False)
        names = (("lat", "lon") if axes.is_swapped else ("lon", "lat")) if axes.is_degrees else ("x", "y")
        return dict(zip(best, names, strict=True)), axes.is_certain

    def _order(self, free: Sequence[int]) -> dict[int, str]:
        """The column that rises from row to row, or within each body that another one names: a count where
        nearly every step is the same whole number, else a time in seconds."""
        ids = [k for k in self.bodies if k in free][:20]
        for body, k in [*product([None], free), *((body, k) for k, body in product(free, ids) if body != k)]:
            if self.rises(k, body):
                steps = np.diff(np.unique(self.numbers[k])) if body is None else self.steps(k, body)
                usual, least = np.median(steps), 0.9 if body is not None else 0.999999
                counts = usual == np.rint(usual) and (steps == usual).mean() > least
                name = ("seq" if body is None else "frame") if counts else "time"
                return {k: name} if body is None else {k: name, body: "id"}
        return {}
