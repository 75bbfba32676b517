"""Tables in text: separated by commas or otherwise, with a header or without, in whatever encoding."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.headers import holds_values, names_without_header
from chronoforest.errors import BadDataset
from chronoforest.modules import optional

SEPARATORS = "\t;|"
"""What parts cells, beside commas and spaces; decimal commas may stand between them."""

FEW_LINES, FEW_TITLES = 20, 8
"""Enough to see what parts cells, and as many as titles above a header have at most."""

FEW_BYTES = 1000
"""Enough to see an encoding with two bytes for every letter."""

LONGEST_CELL = 2**27
"""Letters; a cell may hold all points of a trip."""

MOST_SHARED = 200_000
"""Different cells; ids and flags are fewer, and of times and places hardly any comes again."""

MOST_BROKEN = 0.01
"""Share of rows with too few or too many cells; with more of them something else is wrong."""

PLT_COLUMNS = ("latitude", "longitude", "zero", "altitude_feet", "days", "date", "time")
PLT_HEAD = 6
"""Columns of a GeoLife track, and the lines above them."""

Column = NDArray[Any]


@dataclass(frozen=True)
class Text:
    """Columns of a table in text; guessed: their names, where the file has none and none were told."""

    columns: dict[str, Column]
    guessed: tuple[str, ...] = ()


def read_text(path: Path, header: Sequence[str] = ()) -> Text:
    """A header and rows of equal length.

    header: names instead of those in the first row, or for files without any.
    """
    rows = _rows(path)
    if not rows:
        raise BadDataset(f"{path}: empty")
    rows = _without_titles(rows)
    names = _names(rows)
    has_header = not any(map(holds_values, names))
    guessed = [] if header or has_header else names_without_header(path, rows, len(names))
    if has_header:
        rows = rows[1:]
    names = list(header) or guessed or _told_apart(names)
    if "" in names or len(set(names)) < len(names):
        shown = shortened(", ".join(map(repr, names)))
        raise BadDataset(f"{path}: --header must name every column once, got {shown}")
    return Text(_columns(path, names, rows), tuple(guessed))


def _without_titles(rows: list[list[str]]) -> list[list[str]]:
    """Without the lines that some programs write above the header, which have fewer cells than all others."""
    width = max(map(len, rows[-FEW_LINES:]), default=0)
    first = next((k for k, row in enumerate(rows[:FEW_TITLES]) if len(row) >= width), 0)
    return rows if any(map(holds_values, rows[first])) else rows[first:]


def _told_apart(names: Sequence[str]) -> list[str]:
    """Every name once: columns without one, as those of row numbers, are numbered, and so are those whose
    name was there before."""
    known: list[str] = []
    for number, name in enumerate(names, start=1):
        known.append(f"{name}{number}" if name and name in known else name or f"column{number}")
    return known


def read_plt(path: Path) -> dict[str, Column]:
    """A GeoLife track: six lines about the file, then a row for every fix."""
    rows = [row for row in _rows(path, PLT_HEAD) if row]
    if not rows:
        raise BadDataset(f"{path}: empty")
    return _columns(path, PLT_COLUMNS, rows)


def content_of(path: Path) -> bytes:
    """A file's bytes, unpacked where it is packed."""
    return PACKED.get(path.suffix.lower(), bytes)(path.read_bytes())


def _from_zstandard(content: bytes) -> bytes:
    """Unpacked by the library that reads Parquet."""
    pyarrow = optional("pyarrow", "parquet")
    try:
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(content), "zstd") as stream:
            return bytes(stream.read())
    except pyarrow.ArrowException as error:
        raise OSError(f"not packed by Zstandard: {error}") from error


PACKED = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress, ".zst": _from_zstandard}
"""What unpacks a single file, by the end of its name."""


def shortened(text: str, longest: int = 80) -> str:
    """One line in quotes, cut when it is long."""
    line = " ".join(text.split())
    return repr(line if len(line) <= longest else f"{line[: longest - 1]}…")


def _rows(path: Path, num_skipped: int = 0) -> list[list[str]]:
    """Cells of every line that is not empty, from the header on."""
    content = content_of(path)
    encoding = _encoding(path, content)
    first = list(islice(_lines(content, encoding), num_skipped, num_skipped + FEW_LINES))
    separator, num_comments = _separator(first), _num_comments(first)
    lines = islice(_lines(content, encoding), num_skipped + num_comments, None)
    csv.field_size_limit(LONGEST_CELL)
    try:
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator == " ")
        return list(_shared(row for row in reader if row))
    except csv.Error as error:
        raise BadDataset(f"{path}: not a CSV file ({error})") from error


def _shared(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """The same rows; cells that come again and again are kept once, as long as there are not too many."""
    known: dict[str, str] = {}
    for row in rows:
        share = known.setdefault if len(known) < MOST_SHARED else known.get
        yield [share(cell, cell) for cell in row]


def _lines(content: bytes, encoding: str) -> Iterator[str]:
    return io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline="")


def _encoding(path: Path, content: bytes) -> str:
    """UTF-8, what old programs write instead, or UTF-16 where the file says so or every other byte does."""
    start = content[:FEW_BYTES]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        candidates = ["utf-16"]
    elif start[1::2].count(0) > len(start) / 3:
        candidates = ["utf-16-le"]
    else:
        candidates = ["utf-8-sig", *([] if b"\0" in content else ["cp1252"])]
    for encoding in candidates:
        try:
            content.decode(encoding)
        except UnicodeDecodeError as error:
            reason = f"{error.reason} at byte {error.start}"
        else:
            return encoding
    raise BadDataset(f"{path}: not a text file ({reason})")


def _separator(lines: Sequence[str]) -> str:
    """Tab, semicolon or bar where every line has as many, else comma, or spaces where there is none."""
    told = [line for line in lines if line.strip() and not line.startswith("#")]
    for part in (told, told[FEW_TITLES:]):
        for separator in SEPARATORS:
            counts = {line.count(separator) for line in part}
            if counts and 0 not in counts and (len(counts) == 1 or "," not in part[0]):
                return separator
    has_spaces = bool(told) and all("," not in line and " " in line.strip() for line in told)
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


def _columns(path: Path, names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Column]:
    """Rows as columns; a few broken ones, as at the end of a log that was cut off, become empty."""
    width = len(names)
    odd = [k for k, row in enumerate(rows) if len(row) != width and (len(row) < width or any(row[width:]))]
    if len(odd) > MOST_BROKEN * len(rows):
        raise BadDataset(
            f"{path}: row {odd[0] + 1} has {len(rows[odd[0]])} cells, the header names {width} columns"
        )
    broken = set(odd)
    cells = np.empty((len(rows), width), dtype=object)
    for k, row in enumerate(rows):
        cells[k] = row[:width] if k not in broken else [""] * width
    return {name: cells[:, k] for k, name in enumerate(names)}
