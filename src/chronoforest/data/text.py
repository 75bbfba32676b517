"""Tables in text, in whatever encoding, separated by commas or otherwise."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from chronoforest.data.headers import holds_value, names_without_header
from chronoforest.data.maps import with_places
from chronoforest.data.tables import Column, Table, shortened
from chronoforest.errors import BadDataset

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins as that of UTF-16-LE does, so it is looked for first
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""What files in wide encodings begin with."""

PLT = ("latitude", "longitude", "zero", "altitude_feet", "days", "date", "time")
"""Columns of a track of GeoLife."""


def read_text(path: Path, content: bytes, header: Sequence[str] = (), num_skipped: int = 0) -> Table:
    """A header and rows of equal length, a row for every place.

    header: names instead of those in the first row, or for files without any; num_skipped: lines at the top.
    """
    rows = _rows(path, content, num_skipped)
    if not rows:
        raise BadDataset(f"{path}: empty")
    # Lines that some programs write above the header have fewer cells than the last rows.
    width = max(map(len, rows[-20:]))
    first = next((k for k, row in enumerate(rows[:8]) if len(row) >= width), 0)
    rows = rows if any(map(holds_value, rows[first])) else rows[first:]
    names = _names(rows)
    has_header = not any(map(holds_value, names)) and not num_skipped
    guessed = [] if header or has_header else names_without_header(path, rows, len(names))
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
    head = list(islice(_lines(content, encoding), num_skipped, num_skipped + 20))
    separator, num_comments = _separator(head), _num_comments(head)
    lines = islice(_lines(content, encoding), num_skipped + num_comments, None)
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    try:
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator == " ")
        return list(_shared(row for row in reader if row))
    except csv.Error as error:
        raise BadDataset(f"{path}: not a CSV file ({error})") from error


def _shared(rows: Iterable[list[str]], most: int = 200_000) -> Iterator[list[str]]:
    """The same rows; cells that come again and again are kept once, of as many different ones as most."""
    known: dict[str, str] = {}
    for row in rows:
        share = known.setdefault if len(known) < most else known.get
        yield [share(cell, cell) for cell in row]


def _lines(content: bytes, encoding: str) -> Iterator[str]:
    return io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline="")


def _encoding(path: Path, content: bytes) -> str:
    """UTF-8, what old programs write instead, or UTF-16 or UTF-32 where the file begins with their mark or
    has zeros where they do."""
    start = content[:1000]
    zeros = "".join("0" if start[k::4].count(0) > len(start) / 6 else "x" for k in range(4))
    wide = {"x0x0": "utf-16-le", "0x0x": "utf-16-be", "x000": "utf-32-le", "000x": "utf-32-be"}
    told = [encoding for mark, encoding in MARKS.items() if content.startswith(mark)]
    told += [wide[zeros]] if zeros in wide else []
    for encoding in told[:1] or (["utf-8-sig"] if b"\0" in content else ["utf-8-sig", "cp1252"]):
        try:
            content.decode(encoding)
        except UnicodeDecodeError as error:
            reason = f"{error.reason} at byte {error.start}"
        else:
            return encoding
    raise BadDataset(f"{path}: not a text file ({reason})")


def _separator(lines: Sequence[str]) -> str:
    """Tab, semicolon or bar where every line has as many, else comma, or spaces where there is none; decimal
    commas may stand between the others."""
    known = [line for line in lines if line.strip() and not line.startswith("#")]
    for part in (known, known[8:]):
        for separator in "\t;|":
            counts = {line.count(separator) for line in part}
            if counts and 0 not in counts and (len(counts) == 1 or "," not in part[0]):
                return separator
    has_spaces = bool(known) and all("," not in line and " " in line.strip() for line in known)
    return " " if has_spaces else ","


def _num_comments(lines: Sequence[str]) -> int:
    """Lines with a hash before the header; the last of them is the header where it has as many words."""
    count = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if 0 < count < len(lines):
        separator = _separator(lines)
        is_header = lines[count - 1].lstrip("# ").count(separator) == lines[count].strip().count(separator)
        return count - is_header
    return 0


def _names(rows: Sequence[Sequence[str]]) -> list[str]:
    """The cells of the first row without the hash that may stand before them, and without an empty one at the
    end where every line ends with a comma."""
    names = [cell.strip() for cell in rows[0]]
    names = names[1:] if names[0] == "#" else [names[0].lstrip("# "), *names[1:]]
    ends_with_comma = names[-1:] == [""] and not any("".join(row[len(names) - 1 :]) for row in rows[1:3])
    return names[:-1] if ends_with_comma else names


def _numbered(names: Sequence[str]) -> list[str]:
    """Every name once: columns without one, and those whose name was there before, are numbered."""
    known: dict[str, None] = {}
    for number, name in enumerate(names, start=1):
        known[f"{name}{number}" if name and name in known else name or f"column{number}"] = None
    return [*known, *[""] * (len(names) - len(known))]


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
