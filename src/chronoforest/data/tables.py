"""Recordings in other people's files: CSV, Parquet, NumPy and Minari, all read as named columns."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        texts = ["" if cell is None else str(cell).strip() for cell in column]
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
        """[N] a column as seconds: numbers as they are, dates as seconds since 1970."""
        column = self._column(name)
        if column.dtype.kind == "M":
            seconds = column.astype("datetime64[us]").astype(np.int64).astype(np.float64) / 1e6
            return np.where(np.isnat(column), np.nan, seconds)
        return self.numbers(name, _seconds, "seconds or a date such as 2026-05-01T09:30:00")

    def labels(self, name: str) -> list[str]:
        """[N] a column as text."""
        return [str(cell) for cell in self._column(name).tolist()]

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            raise BadDataset(f"{self.source}: no column {name!r}; there are: {', '.join(self.columns)}")
        return self.columns[name]


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text).timestamp()


def read_table(source: str | Path) -> Table:
    """Read one file by its ending, or a Minari dataset by its name after `minari:`."""
    if str(source).startswith(MINARI):
        return _read_minari(str(source).removeprefix(MINARI))
    path = Path(source)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise BadDataset(
            f"{path}: cannot read {path.suffix or 'a file without an ending'}; "
            f"known are {', '.join(READERS)}, and {MINARI}NAME for a Minari dataset"
        )
    if not path.is_file():
        raise BadDataset(f"{path}: no such file")
    try:
        return Table(str(path), reader(path))
    except OSError as error:
        raise BadDataset(f"{path}: cannot be read ({error})") from error


def _read_csv(path: Path) -> dict[str, Column]:
    """A header and rows of equal length; comma, semicolon, tab or bar, whichever the header has most of."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header = file.readline()
            delimiter = max(DELIMITERS, key=header.count)
            file.seek(0)
            rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    except UnicodeDecodeError as error:
        raise BadDataset(f"{path}: not a text file ({error.reason} at byte {error.start})") from error
    except csv.Error as error:
        raise BadDataset(f"{path}: not a CSV file ({error})") from error
    if not rows:
        raise BadDataset(f"{path}: empty")
    names = [name.strip() for name in rows[0]]
    if "" in names or len(set(names)) < len(names):
        shown = ", ".join(map(repr, names))
        raise BadDataset(f"{path}: the first row must name every column once, got {_shortened(shown)}")
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(names):
            raise BadDataset(
                f"{path}: row {number} has {len(row)} cells, the header names {len(names)} columns"
            )
    cells = np.array(rows[1:], dtype=object).reshape(len(rows) - 1, len(names))
    return {name: cells[:, k] for k, name in enumerate(names)}


def _read_parquet(path: Path) -> dict[str, Column]:
    pyarrow = optional("pyarrow", "parquet")
    parquet = optional("pyarrow.parquet", "parquet")
    try:
        table = parquet.read_table(path)
        return {name: table.column(name).to_numpy() for name in table.column_names}
    except (pyarrow.ArrowException, *DAMAGE) as error:
        raise BadDataset(f"{path}: not a Parquet file that can be read ({_shortened(str(error))})") from error


def _read_numpy(path: Path) -> dict[str, Column]:
    """`.npz` arrays by name; a table in a `.npy` by field or by position."""
    with reading(path, "a NumPy file", BadDataset):
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.lib.npyio.NpzFile):
            with loaded:
                arrays = {name: loaded[name] for name in loaded.files}
        else:
            arrays = {"": loaded}
    arrays = {name: array for name, array in arrays.items() if array.ndim > 0}
    if len(arrays) == 1 and next(iter(arrays.values())).ndim == 3:
        return _unstacked(*arrays.items())
    return dict(column for name, array in arrays.items() for column in _named_columns(path, name, array))


def _unstacked(item: tuple[str, Column]) -> dict[str, Column]:
    """Episodes of one length [E, T, D] as columns with an episode and a time."""
    name, array = item
    num_episodes, num_steps, size = array.shape
    return {
        "episode": np.repeat(np.arange(num_episodes), num_steps),
        "time": np.tile(np.arange(num_steps), num_episodes),
        **{_joined(name, k): array[..., k].reshape(-1) for k in range(size)},
    }


def _named_columns(path: Path, name: str, array: Column) -> Iterator[tuple[str, Column]]:
    """[N] is a column; [N, D] gives NAME.0, NAME.1, …; fields of a structured array keep their names."""
    if array.dtype.names:
        for field in array.dtype.names:
            yield _joined(name, field), array[field].reshape(-1)
    elif array.ndim == 1:
        yield name or "0", array
    elif array.ndim == 2:
        for k in range(array.shape[1]):
            yield _joined(name, k), array[:, k]
    else:
        raise BadDataset(f"{path}: array {name!r} has shape {list(array.shape)}, expected [rows, columns]")


def _joined(name: str, part: object) -> str:
    return f"{name}.{part}" if name else str(part)


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
    ".parquet": _read_parquet,
    ".npz": _read_numpy,
    ".npy": _read_numpy,
}
"""How each ending is read."""
