"""A file as named columns, its cells as numbers, times and labels, and which columns mean what: named by the
user, or found by the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.axes import order_of
from chronoforest.data.clocks import (
    HOURS,
    Clock,
    are_dates,
    are_epochs,
    clock_of,
    few_of,
    hours_from_digits,
    parsed,
)
from chronoforest.data.names import NAMES, holds, listed, nanoseconds_beside, plain, without_unit, words_of
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import FloatArray, IntArray

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

LAST_X = re.compile(r"(.*[\W_])([xX])(\s*[\[(].*)?")
"""An x that stands apart at the end of a name, before its unit."""

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

    def numbers(self, name: str) -> FloatArray:
        """[N] a column as numbers; an empty cell is NaN, and so are a few that hold something else."""
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
        """A column as seconds, since 1970 where it holds dates, whose days may be in another column."""
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
        """A column as text, "" where a cell holds nothing; most: of so many rows from all over it."""
        column = self._column(name)
        if most is not None and len(self) > most:
            column = column[np.unique(np.linspace(0, len(self) - 1, most).astype(int))]
        return ["" if cell is None else str(cell).strip() for cell in column.tolist()]

    def _refuse_many_odd(self, name: str, texts: list[str], numbers: FloatArray, expected: str) -> None:
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
    """A cell as a number, with a decimal comma or as degrees with a hemisphere; NaN where it is none."""
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


@dataclass(frozen=True)
class Columns:
    """Which columns mean what, by their names in the files; what is not named is found by common names.

    Args:
        coordinates: the plane to plan in: x and y, easting and northing, longitude and latitude.
        episode: tells recordings apart, such as trip, track_id or MMSI; vehicle,trip where both do together.
            Without one every file is one recording.
        time: seconds or dates; without one rows are a step apart.
        states: further columns that the tracker may see.
        actions: what the body was asked to do; without them plans can be made but not walked.
        header: names for the columns of text files without a header, in their order: id,time,lon,lat.
    """

    coordinates: tuple[str, str] | None = None
    episode: str | None = None
    time: str | None = None
    states: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    header: str | None = None

    def __post_init__(self) -> None:
        if len(set(self.values)) < len(self.values):
            raise InvalidParameter(f"every column can be chosen once, got {', '.join(self.values)}")

    @property
    def values(self) -> tuple[str, ...]:
        """Coordinates, states, actions."""
        return (*(self.coordinates or ()), *self.states, *self.actions)

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns that tell recordings apart, together."""
        return _split(self.episode)

    @property
    def names(self) -> tuple[str, ...]:
        """Names for the columns of files without a header."""
        return _split(self.header)

    @property
    def are_degrees(self) -> bool:
        """Whether the coordinates are called longitude and latitude."""
        return self.coordinates is not None and order_of(*self.coordinates) == "lonlat"

    @property
    def has_clock(self) -> bool:
        """Whether the time is measured and not a count of rows or pictures."""
        return self.time is not None and not {plain(self.time), without_unit(self.time)} & {*NAMES["count"]}

    def without(self, names: Collection[str]) -> Columns:
        """The same without some states and actions."""
        states, actions = (
            tuple(name for name in known if name not in names) for known in (self.states, self.actions)
        )
        return replace(self, states=states, actions=actions)

    def found_in(self, table: Table) -> Columns:
        """The same with what was not named, as far as the table has it."""
        coordinates = self.coordinates or _coordinates(table)
        if order_of(*coordinates) == "latlon":
            coordinates = coordinates[1], coordinates[0]
        taken = {*coordinates, *self.states, *self.actions}
        # The trip, the vehicle, or both: trips are often counted for each vehicle anew.
        ids = (_first_of(table, NAMES[kind], taken) for kind in ("vehicle", "trip"))
        told = (name for name in ids if name and "," not in name and _repeats(table.labels(name)))
        episode = self.episode or ",".join(told) or None
        time = self.time or _time(table, {*taken, *_split(episode)})
        return replace(self, coordinates=coordinates, episode=episode, time=time)


def _split(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",")) if names else ()


def _coordinates(table: Table) -> tuple[str, str]:
    """The two columns that are called like coordinates; refused where there are none or several."""
    names = list(table.columns)
    # The shortest name that is neither the end of a trip nor something else with a direction.
    sound = [name for name in names if {*NAMES["end"], *NAMES["no place"]}.isdisjoint(words_of(name))]
    east, north = (
        min((name for name in sound if holds(name, kind)), key=len, default="")
        for kind in ("longitude", "latitude")
    )
    if east and north:
        return east, north
    known = {plain(name): name for name in reversed(names)}
    both = zip(NAMES["x"], NAMES["y"], strict=True)
    pairs = [(known[x], known[y]) for x, y in both if x in known and y in known][:1] or _pairs(names)
    if len(pairs) == 1:
        return pairs[0]
    ends = [name for name in names if holds(name, "longitude", "latitude") and holds(name, "end")]
    if pairs:
        shown = listed((", ".join(pair) for pair in pairs), between="; ")
        reason = f"several columns could be coordinates ({shown}); name two with --coordinates"
    elif ends:
        reason = (
            f"{listed(ends)} are the two ends of a trip and not a track; recordings need the places between"
        )
        reason += " them, a row for each"
    else:
        reason = "no columns that are called like coordinates; name two with --coordinates; there are: "
        reason += listed(names)
    raise BadDataset(f"{table.source}: {reason}")


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Columns that can only be coordinates: names that differ in an x and a y at their end, pose.x and
    pose.y, or the two columns of an array; where some are called positions, only those."""
    there, known = set(names), []
    for name in names:
        if {*words_of(name)} & {*NAMES["no place"]}:
            continue
        if found := LAST_X.fullmatch(name):
            known.append((name, f"{found[1]}{'y' if found[2] == 'x' else 'Y'}{found[3] or ''}", True))
        elif re.search(r"(^|\.)0$", name):
            known.append((name, f"{name[:-1]}1", f"{name[:-1]}2" not in there))
    pairs = [(x, y, is_sure) for x, y, is_sure in known if y in there]
    positions = [(x, y) for x, y, _ in pairs if {*words_of(x)} & {*NAMES["place"]}]
    return positions or [(x, y) for x, y, is_sure in pairs if is_sure]


def _repeats(labels: Sequence[str]) -> bool:
    """Whether an id has three rows on average; a column of which hardly any value repeats is none."""
    return len(set(labels)) <= max(1, len(labels) / 3)


def _time(table: Table, taken: Collection[str]) -> str | None:
    """The column that is called like a time, or the first that holds what can be nothing else."""
    if named := _first_of(table, (*NAMES["time"], *NAMES["count"]), taken):
        return named
    for name in (name for name in table.columns if name not in taken):
        texts, is_date = table.texts(name, 500), table.columns[name].dtype.kind == "M"
        if is_date or are_dates(texts) or are_epochs(np.array([number_of(text) for text in texts])):
            return name
    return None


def _first_of(table: Table, names: Sequence[str], taken: Collection[str]) -> str | None:
    """The column that is called like the first of some names, with or without its unit."""
    free = [name for name in reversed(list(table.columns)) if name not in taken]
    known = {**{without_unit(name): name for name in free}, **{plain(name): name for name in free}}
    return next((known[name] for name in names if name in known), None)


def interleaved(table: Table, columns: Columns, places: FloatArray, time: FloatArray | None) -> str:
    """What speaks for rows [N, 2] of several bodies in one recording, "" where nothing does; refused where a
    column tells them apart, since the way then shrinks to a third. time: [N] or None."""
    order = np.arange(len(places)) if time is None else np.argsort(time, kind="stable")
    rows = order[np.isfinite(places[order]).all(axis=1)][:20_000]
    places = places[rows]

    def length(codes: IntArray) -> float:
        """Of the ways of each code on its own."""
        order = np.argsort(codes, kind="stable")
        hops = np.linalg.norm(np.diff(places[order], axis=0), axis=1)
        return float(hops[np.diff(codes[order]) == 0].sum())

    ways: dict[str, float] = {}
    for name in (name for name in table.columns if name not in (*columns.values, columns.time)):
        column = table.columns[name][rows]
        if column.dtype.kind == "f" and not (np.isfinite(column) & (column == np.rint(column))).all():
            continue
        labels = [str(cell) for cell in column.tolist()]
        codes = np.unique(labels, return_inverse=True)[1]
        if _repeats(labels) and codes.any():
            ways[name] = length(codes)
    best = min(ways, key=lambda name: ways[name], default="")
    if best and ways[best] < 0.3 * length(np.zeros(len(rows), dtype=np.int64)):
        raise BadDataset(
            f"{table.source}: rows of several bodies seem to be interleaved, and no column was named that "
            f"tells them apart; {best!r} does: --episode {best}"
        )
    if best or len(places) <= 10:
        return ""
    # The nearest of the next rows is rarely the next one, or rows lie a fifth of their extent apart; those
    # drawn by chance lie at a third.
    lags = (np.linalg.norm(places[lag:] - places[:-lag], axis=1) for lag in range(1, 6))
    next_row, *later = (float(np.median(hops)) for hops in lags)
    extent = float(np.linalg.norm(np.ptp(places, axis=0)))
    alternates = next_row > 0.2 * extent or next_row > 5 * min(later) > 0
    return "rows of several bodies seem to be interleaved" if alternates else ""
