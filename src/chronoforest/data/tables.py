"""Recordings in other people's files: tables, tracks of maps, NumPy and Minari, all read as named columns."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.arrays import read_numpy
from chronoforest.data.clocks import in_seconds, parser_for
from chronoforest.data.geofiles import read_geojson, read_gpx, read_kml
from chronoforest.data.geoparquet import unlisted, with_places
from chronoforest.errors import BadDataset
from chronoforest.files import DAMAGE, reading
from chronoforest.modules import optional
from chronoforest.types import FloatArray

MINARI = "minari:"
"""What a source begins with that is a Minari dataset's name and not a file."""

DELIMITERS = ",;\t|"

Column = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """A file as columns of one length, each [N] of numbers or of text; `source` names it in messages."""

    source: str
    columns: Mapping[str, Column]

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
        """[N] a column as numbers; text is parsed, and an empty cell is NaN."""
        column = self._column(name)
        if column.dtype.kind in "biuf":
            return np.asarray(column, dtype=np.float64)
        texts = self._texts(name)
        if parse is float:
            with suppress(ValueError):  # the first cell that is none is looked for below
                return np.array([text or "nan" for text in texts], dtype=np.float64)
        numbers = np.full(len(texts), np.nan)
        for row, text in enumerate(texts):
            try:
                numbers[row] = parse(text) if text else np.nan
            except (ValueError, OverflowError, OSError):
                raise BadDataset(
                    f"{self.source}: {name} holds {_shortened(text)} in row {row + 1}, expected {expected}"
                ) from None
        return numbers

    def times(self, name: str) -> FloatArray:
        """[N] a column as seconds: dates since 1970, numbers as they are or, where they can only be parts of
        seconds, in seconds. Hours of a day are joined with a column `date`."""
        column = self._column(name)
        if column.dtype.kind == "M":
            seconds = column.astype("datetime64[us]").astype(np.int64).astype(np.float64) / 1e6
            return np.where(np.isnat(column), np.nan, seconds)
        if column.dtype.kind in "biuf":
            times = self.numbers(name)
        else:
            dated = self._dated(name)
            parse = parser_for([cell for cell in dict.fromkeys(dated._texts(name)) if cell])
            times = dated.numbers(name, cache(parse), "seconds or a date such as 2026-05-01T09:30:00")
        return in_seconds(times, set(re.findall(r"[a-z]+", name.lower())))

    def labels(self, name: str) -> list[str]:
        """[N] a column as text."""
        return [str(cell) for cell in self._column(name).tolist()]

    def _texts(self, name: str) -> list[str]:
        return ["" if cell is None else str(cell).strip() for cell in self._column(name)]

    def _dated(self, name: str) -> Table:
        """The same with hours of a day put behind the dates of the column of that name, if there is one."""
        dates = next((other for other in self.columns if other.strip().lower() == "date"), None)
        texts = self._texts(name)
        if dates in (None, name) or not all(
            re.fullmatch(r"\d{1,2}:\d{2}(:[\d.]+)?|", text) for text in texts
        ):
            return self
        days = self._texts(str(dates))
        joined = [f"{day} {text}" if text else "" for day, text in zip(days, texts, strict=True)]
        return Table(self.source, {name: np.array(joined, dtype=object)})

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            raise BadDataset(f"{self.source}: no column {name!r}; there are: {', '.join(self.columns)}")
        return self.columns[name]


def read_table(source: str | Path) -> Table:
    """Read one file by its ending, or a Minari dataset by its name after `minari:`."""
    if str(source).startswith(MINARI):
        return _read_minari(str(source).removeprefix(MINARI))
    path = Path(source)
    reader = READERS.get(_ending(path))
    if reader is None:
        raise BadDataset(
            f"{path}: cannot read {path.suffix or 'a file without an ending'}; "
            f"known are {', '.join(READERS)}, text also with .gz, and {MINARI}NAME for a Minari dataset"
        )
    if not path.is_file():
        raise BadDataset(f"{path}: no such file")
    try:
        return Table(str(path), reader(path))
    except (OSError, EOFError, zlib.error) as error:
        raise BadDataset(f"{path}: cannot be read ({error})") from error


def _ending(path: Path) -> str:
    """The last part of the name, or the one before .gz where a packed file is read like any other."""
    *_, inner, last = ("", "", *map(str.lower, path.suffixes))
    return inner if last == ".gz" and inner not in (".parquet", ".npz", ".npy") else last


def _content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()


def _map_reader(read: Callable[[bytes], dict[str, Column]], what: str) -> Callable[[Path], dict[str, Column]]:
    """A reader of a map's format, whatever is wrong with a file in one sentence."""

    def read_file(path: Path) -> dict[str, Column]:
        with reading(path, what, BadDataset):
            return read(_content(path))

    return read_file


def _read_csv(path: Path) -> dict[str, Column]:
    """A header and rows of equal length; comma, semicolon, tab or bar, whichever the header has most of."""
    try:
        file = io.StringIO(_content(path).decode("utf-8-sig"), newline="")
        delimiter = max(DELIMITERS, key=file.readline().count)
        file.seek(0)
        known: dict[str, str] = {}  # of cells that repeat one is kept: large files hold few different ones
        rows = [
            [known.setdefault(cell, cell) for cell in row]
            for row in csv.reader(file, delimiter=delimiter)
            if row
        ]
    except UnicodeDecodeError as error:
        raise BadDataset(f"{path}: not a text file ({error.reason} at byte {error.start})") from error
    except csv.Error as error:
        raise BadDataset(f"{path}: not a CSV file ({error})") from error
    if not rows:
        raise BadDataset(f"{path}: empty")
    names = [name.strip() for name in rows[0]]
    if "" in names or len(set(names)) < len(names) or any(map(_is_number, names)):
        shown = ", ".join(map(repr, names))
        raise BadDataset(f"{path}: the first row must name every column once, got {_shortened(shown)}")
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(names):
            raise BadDataset(
                f"{path}: row {number} has {len(row)} cells, the header names {len(names)} columns"
            )
    cells = np.array(rows[1:], dtype=object).reshape(len(rows) - 1, len(names))
    return {name: cells[:, k] for k, name in enumerate(names)}


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return text.lower() not in ("nan", "inf", "infinity")
    return False


def _read_parquet(path: Path) -> dict[str, Column]:
    pyarrow = optional("pyarrow", "parquet")
    parquet = optional("pyarrow.parquet", "parquet")
    try:
        table = parquet.read_table(path)
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        columns = with_places(columns, table.schema.metadata or {})
        return dict(part for name, column in columns.items() for part in unlisted(name, column))
    except (pyarrow.ArrowException, *DAMAGE) as error:
        raise BadDataset(f"{path}: not a Parquet file that can be read ({_shortened(str(error))})") from error


def _read_minari(name: str) -> Table:
    """All episodes of a local Minari dataset: observations.0, …, actions.0, …, episode and time."""
    minari = optional("minari", "minari")
    try:
        dataset = minari.load_dataset(name)
        parts = [_minari_columns(episode) for episode in dataset.iterate_episodes()]
    except (ImportError, *DAMAGE) as error:
        raise BadDataset(
            f"{MINARI}{name}: cannot be read ({_shortened(str(error))}); "
            f"`minari download {name}` fetches it, `minari list local` shows what is there"
        ) from error
    if not parts:
        raise BadDataset(f"{MINARI}{name}: no episodes")
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    return Table(f"{MINARI}{name}", columns)


def _minari_columns(episode: Any) -> dict[str, Column]:
    """One episode; its last observation, after which nothing was done, repeats the last action."""
    columns = dict(_flattened("observations", episode.observations))
    num_rows = len(next(iter(columns.values())))
    for key, values in _flattened("actions", episode.actions):
        columns[key] = values[np.minimum(np.arange(num_rows), len(values) - 1)]
    return {**columns, "episode": np.full(num_rows, episode.id), "time": np.arange(num_rows)}


def _flattened(name: str, values: Any) -> Iterator[tuple[str, Column]]:
    """Nested dictionaries and arrays [N, …] as columns with dotted names."""
    if isinstance(values, Mapping):
        for key, inner in values.items():
            yield from _flattened(f"{name}.{key}", inner)
        return
    array = np.asarray(values)
    flat = array.reshape(len(array), -1)
    for k in range(flat.shape[1]):
        yield f"{name}.{k}", flat[:, k]


def _shortened(text: str, longest: int = 80) -> str:
    """One line in quotes, cut when it is long."""
    line = " ".join(text.split())
    return repr(line if len(line) <= longest else f"{line[: longest - 1]}…")


READERS: dict[str, Callable[[Path], dict[str, Column]]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".txt": _read_csv,
    ".gpx": _map_reader(read_gpx, "a GPX file"),
    ".kml": _map_reader(read_kml, "a KML file"),
    ".geojson": _map_reader(read_geojson, "a GeoJSON file"),
    ".json": _map_reader(read_geojson, "a GeoJSON file"),
    ".parquet": _read_parquet,
    ".npz": read_numpy,
    ".npy": read_numpy,
}
"""How each ending is read."""
