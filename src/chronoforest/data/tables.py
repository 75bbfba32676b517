"""Recordings in other people's files: tables, tracks of maps, NumPy and Minari, all read as named columns."""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data import polylines
from chronoforest.data.angles import number_of
from chronoforest.data.arrays import read_minari, read_numpy
from chronoforest.data.clocks import HOURS, Clock, clock_of, few_of, iso_seconds, writing_of
from chronoforest.data.digits import hours_from_digits
from chronoforest.data.foreign import advice
from chronoforest.data.geofiles import read_gpx, read_kml, read_tcx
from chronoforest.data.geoparquet import unlisted, with_places
from chronoforest.data.jsonfiles import read_json
from chronoforest.data.names import DATES, nanoseconds_beside, plain, words_of
from chronoforest.data.receivers import read_igc, read_nmea
from chronoforest.data.textfiles import PACKED, content_of, read_plt, read_text, shortened
from chronoforest.errors import BadDataset
from chronoforest.files import DAMAGE, reading
from chronoforest.modules import optional
from chronoforest.types import FloatArray

MINARI = "minari:"
"""What a source begins with that is a Minari dataset's name and not a file."""

MISSING = {
    *("", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", "\\n", "unknown", "undefined", "nat"),
    *("#n/a", "#na", "<na>", "#null!", "#value!", "#div/0!", "(null)", "missing"),
}
"""What stands in cells without a value, in lower case."""

EIGHT_DIGITS = re.compile(r"\d{8}")
"""A year, a month and a day."""

Column = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """A file as columns of one length, each [N] of numbers or of text; `source` names it in messages;
    guessed: names of its columns that it does not have itself."""

    source: str
    columns: Mapping[str, Column]
    guessed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.columns or len(self) == 0:
            raise BadDataset(f"{self.source}: no rows")
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise BadDataset(f"{self.source}: columns of different lengths ({shown})")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def has(self, name: str) -> bool:
        """Whether there is a column of that name."""
        return name in self.columns

    def numbers(
        self, name: str, parse: Callable[[str], float] = float, expected: str = "a number"
    ) -> FloatArray:
        """[N] a column as numbers; text is parsed, with decimal commas and as degrees with a hemisphere too.
        An empty cell is NaN, and so are a few that hold something else."""
        column = self._column(name)
        if column.dtype.kind in "biuf":
            return np.asarray(column, dtype=np.float64)
        texts = self._texts(name)
        if parse is float:
            with suppress(ValueError):  # the first cell that is none is looked for below
                return np.array([text or "nan" for text in texts], dtype=np.float64)
            parse = number_of
        numbers, odd = np.full(len(texts), np.nan), []
        for row, text in enumerate(texts):
            try:
                numbers[row] = parse(text) if text.lower() not in MISSING else np.nan
            except (ValueError, OverflowError, OSError):
                odd.append(row)
        if len(odd) > few_of(len(texts)):
            raise BadDataset(
                f"{self.source}: {name} holds {shortened(texts[odd[0]])} in row {odd[0] + 1}, expected "
                f"{expected}"
            )
        return numbers

    def times(self, name: str) -> FloatArray:
        """[N] a column as seconds."""
        return self.clock(name).seconds

    def clock(self, name: str) -> Clock:
        """A column as seconds: dates since 1970, numbers as they are or, where they can only be other units,
        in seconds. Hours of a day are joined with the days of another column."""
        column = self._column(name)
        if column.dtype.kind == "M":
            seconds = column.astype("datetime64[us]").astype(np.int64).astype(np.float64) / 1e6
            return Clock(np.where(np.isnat(column), np.nan, seconds))
        beside = nanoseconds_beside(name, self.columns)
        if beside is not None:
            return Clock(self.numbers(name) + self.numbers(beside) / 1e9, f"with {beside}")
        dated = self._dated(name)
        if dated is self and column.dtype.kind in "biuf":
            return clock_of(self.numbers(name), words_of(name))
        texts = dated._texts(name)
        if any(texts) and (plain_dates := iso_seconds(texts)) is not None:
            return Clock(plain_dates)
        cells = dict.fromkeys(texts)
        writing = writing_of([cell for cell in cells if cell.lower() not in MISSING])
        numbers = dated.numbers(name, cache(writing.parse), "seconds or a date such as 2026-05-01T09:30:00")
        return Clock(numbers, writing.told) if writing.told else clock_of(numbers, words_of(name))

    def labels(self, name: str) -> list[str]:
        """[N] a column as text."""
        return [str(cell) for cell in self._column(name).tolist()]

    def sample(self, name: str, num_rows: int) -> list[str]:
        """Some cells of a column as text, from all over it."""
        rows = np.unique(np.linspace(0, len(self) - 1, min(num_rows, len(self))).astype(int))
        return [str(cell).strip() for cell in self._column(name)[rows].tolist()]

    def _texts(self, name: str) -> list[str]:
        return ["" if cell is None else str(cell).strip() for cell in self._column(name)]

    def _dated(self, name: str) -> Table:
        """The same with hours of a day put behind the days of another column, if there is one."""
        dates = next((other for other in self.columns if plain(other) in DATES and other != name), None)
        if dates is None:
            return self
        texts = self._texts(name)
        hours = (
            texts if all(HOURS.fullmatch(text) or not text for text in texts) else hours_from_digits(texts)
        )
        if hours is None:
            return self
        joined = [
            f"{_day(day)} {text}" if text else "" for day, text in zip(self._texts(dates), hours, strict=True)
        ]
        return Table(self.source, {name: np.array(joined, dtype=object)})

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            raise BadDataset(f"{self.source}: no column {name!r}; there are: {', '.join(self.columns)}")
        return self.columns[name]


def _day(text: str) -> str:
    """The day of a date, with or without a time behind it, also of eight digits."""
    day = re.split("[ T]", text)[0]
    return f"{day[:4]}-{day[4:6]}-{day[6:]}" if EIGHT_DIGITS.fullmatch(day) else day


def read_table(source: str | Path, header: Sequence[str] = ()) -> Table:
    """Read one file by its ending, or a Minari dataset by its name after `minari:`.

    header: names of the columns of text files.
    """
    if str(source).startswith(MINARI):
        return Table(str(source), read_minari(str(source).removeprefix(MINARI)))
    path = Path(source)
    reader = READERS.get(ending_of(path))
    if reader is None:
        raise BadDataset(
            f"{path}: cannot read {path.suffix or 'a file without an ending'}; {advice(path) or _known()}"
        )
    if not path.is_file():
        raise BadDataset(f"{path}: no such file")
    try:
        return _text_table(path, header) if reader is _read_rows else Table(str(path), reader(path))
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise BadDataset(f"{path}: cannot be read ({error})") from error


def _known() -> str:
    return (
        f"known are {', '.join(READERS)}, text also with {', '.join(PACKED)}, folders, .zip and .tar of "
        f"them, and {MINARI}NAME for a Minari dataset"
    )


def ending_of(path: Path) -> str:
    """The last part of the name, or the one before .gz and the like where a packed file is read like any
    other."""
    *_, inner, last = ("", "", *map(str.lower, path.suffixes))
    return inner if last in PACKED and inner not in (".parquet", ".npz", ".npy") else last


def _map_reader(read: Callable[[bytes], dict[str, Column]], what: str) -> Callable[[Path], dict[str, Column]]:
    """A reader of a map's format, whatever is wrong with a file in one sentence."""

    def read_file(path: Path) -> dict[str, Column]:
        with reading(path, what, BadDataset):
            return read(content_of(path))

    return read_file


def _read_rows(path: Path) -> dict[str, Column]:
    """A table in text by columns."""
    return dict(_text_table(path).columns)


def _text_table(path: Path, header: Sequence[str] = ()) -> Table:
    """A table in text, a row for every place."""
    text = read_text(path, header)
    try:
        columns = polylines.with_places(text.columns)
    except BadDataset as error:
        raise BadDataset(f"{path}: {error}") from error
    return Table(str(path), columns, text.guessed)


def _read_parquet(path: Path) -> dict[str, Column]:
    pyarrow = optional("pyarrow", "parquet")
    parquet = optional("pyarrow.parquet", "parquet")
    try:
        table = parquet.read_table(path)
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        columns = with_places(columns, table.schema.metadata or {})
        return dict(part for name, column in columns.items() for part in unlisted(name, column))
    except (pyarrow.ArrowException, *DAMAGE) as error:
        raise BadDataset(f"{path}: not a Parquet file that can be read ({shortened(str(error))})") from error


READERS: dict[str, Callable[[Path], dict[str, Column]]] = {
    ".csv": _read_rows,
    ".tsv": _read_rows,
    ".txt": _read_rows,
    ".plt": read_plt,
    ".gpx": _map_reader(read_gpx, "a GPX file"),
    ".kml": _map_reader(read_kml, "a KML file"),
    ".geojson": _map_reader(read_json, "a GeoJSON file"),
    ".json": _map_reader(read_json, "a JSON file with tracks"),
    ".jsonl": _map_reader(read_json, "a JSON file with tracks"),
    ".ndjson": _map_reader(read_json, "a JSON file with tracks"),
    ".geojsonl": _map_reader(read_json, "a GeoJSON file"),
    ".tcx": _map_reader(read_tcx, "a TCX file"),
    ".nmea": _map_reader(read_nmea, "an NMEA log"),
    ".log": _map_reader(read_nmea, "an NMEA log"),
    ".igc": _map_reader(read_igc, "an IGC file"),
    ".parquet": _read_parquet,
    ".npz": read_numpy,
    ".npy": read_numpy,
}
"""How each ending is read."""
