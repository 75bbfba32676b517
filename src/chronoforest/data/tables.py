"""A file as named columns of one length, and its cells as numbers, times and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.clocks import HOURS, Clock, clock_of, few_of, hours_from_digits, parsed
from chronoforest.data.names import NAMES, listed, nanoseconds_beside, plain, words_of
from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray

MISSING = {
    *("", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", "\\n", "unknown", "undefined", "nat"),
    *("#n/a", "#na", "<na>", "#null!", "#value!", "#div/0!", "(null)", "missing"),
}
"""What stands in cells without a value, in lower case."""

ANGLE = re.compile(
    r"([NSEW]?)\s*(\d+(?:\.\d+)?)\s*°?\s*(?:(\d+(?:\.\d+)?)\s*['′’]\s*)?"
    r"(?:(\d+(?:\.\d+)?)\s*(?:[\"″”]|''))?\s*([NSEW]?)",
    re.IGNORECASE,
)
"""41.87 N, W 87°38'58.66\", 41°52.3'N."""

Column = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """Columns of one length, each [N] of numbers or of text; source: names the file in messages; guessed:
    names of its columns that it does not have itself."""

    source: str
    columns: Mapping[str, Column]
    guessed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.columns or len(self) == 0:
            raise BadDataset(f"{self.source}: no rows")
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            shown = listed(f"{name} {length}" for name, length in lengths.items())
            raise BadDataset(f"{self.source}: columns of different lengths ({shown})")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def has(self, name: str) -> bool:
        """Whether there is a column of that name."""
        return name in self.columns

    def numbers(self, name: str) -> FloatArray:
        """[N] a column as numbers; text is parsed, with decimal commas and as degrees with a hemisphere too.
        An empty cell is NaN, and so are a few that hold something else."""
        column = self._column(name)
        if column.dtype.kind in "biuf":
            return np.asarray(column, dtype=np.float64)
        texts = self.texts(name)
        with suppress(ValueError):  # the first cell that is none is looked for below
            return np.array([text or "nan" for text in texts], dtype=np.float64)
        numbers = np.array([number_of(text) for text in texts])
        self._refuse_many_odd(name, texts, numbers, "a number")
        return numbers

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
        if dated is None and column.dtype.kind in "biuf":
            return clock_of(self.numbers(name), words_of(name))
        texts = dated or self.texts(name)
        known = ["" if text.lower() in MISSING else text for text in texts]
        cells, rows = np.unique(np.array(known, dtype=object), return_inverse=True)
        is_empty = int(cells[0] == "")
        found = parsed(cells[is_empty:].tolist())
        seconds = np.concatenate([np.full(is_empty, np.nan), found.seconds])[rows]
        self._refuse_many_odd(name, texts, seconds, "seconds or a date such as 2026-05-01T09:30:00")
        return Clock(seconds, found.writing) if found.writing else clock_of(seconds, words_of(name))

    def labels(self, name: str) -> list[str]:
        """[N] a column as text."""
        return [str(cell) for cell in self._column(name).tolist()]

    def texts(self, name: str, most: int | None = None) -> list[str]:
        """A column as text without spaces around it, "" where a cell holds nothing; most: of so many rows
        from all over it."""
        column = self._column(name)
        if most is not None and len(self) > most:
            column = column[np.unique(np.linspace(0, len(self) - 1, most).astype(int))]
        return ["" if cell is None else str(cell).strip() for cell in column.tolist()]

    def _refuse_many_odd(self, name: str, texts: list[str], numbers: FloatArray, expected: str) -> None:
        """Refuse a column of which more than a few cells hold something that is none."""
        odd = [row for row in np.flatnonzero(np.isnan(numbers)) if texts[row].lower() not in MISSING]
        if len(odd) > few_of(len(texts)):
            found = f"{shortened(texts[odd[0]])} in row {odd[0] + 1}"
            raise BadDataset(f"{self.source}: {name} holds {found}, expected {expected}")

    def _dated(self, name: str) -> list[str] | None:
        """Hours of a day behind the days of another column; None where there are none."""
        days = (other for other in self.columns if plain(other) in NAMES["day"] and other != name)
        if (date := next(days, None)) is None:
            return None
        texts = self.texts(name)
        is_hours = all(HOURS.fullmatch(text) or not text for text in texts)
        hours = texts if is_hours else hours_from_digits(texts)
        days = (re.split("[ T]", text)[0] for text in self.texts(date))
        wide = (re.sub(r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3", day) for day in days)
        return hours and [f"{day} {hour}" if hour else "" for day, hour in zip(wide, hours, strict=True)]

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            raise BadDataset(f"{self.source}: no column {name!r}; there are: {listed(self.columns)}")
        return self.columns[name]


def number_of(text: str) -> float:
    """A cell as a number, with a decimal comma or as degrees, minutes and seconds, south and west negative;
    NaN where it is none."""
    written = text.replace(",", ".", 1) if "." not in text else text
    with suppress(ValueError):
        return float(written)
    found = ANGLE.fullmatch(written)
    if found is None or not (found[1] or found[5] or "°" in written):
        return float("nan")
    degrees = sum(float(part or 0) / 60**k for k, part in enumerate(found.groups()[1:4]))
    return -degrees if (found[1] or found[5]).upper() in ("S", "W") else degrees


def shortened(text: str, longest: int = 80) -> str:
    """One line in quotes, cut when it is long."""
    line = " ".join(text.split())
    return repr(line if len(line) <= longest else f"{line[: longest - 1]}…")
