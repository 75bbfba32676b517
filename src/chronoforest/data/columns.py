"""Which columns mean what: named by the user, or found by the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.data.axes import order_of
from chronoforest.data.clocks import are_dates, are_epochs
from chronoforest.data.names import NAMES, holds, listed, plain, without_unit, words_of
from chronoforest.data.tables import Table, number_of
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import FloatArray, IntArray

LAST_X = re.compile(r"(.*[\W_])([xX])(\s*[\[(].*)?")
"""An x that stands apart at the end of a name, before its unit."""


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
        episode = self.episode or ",".join(_episode(table, taken)) or None
        time = self.time or _time(table, {*taken, *_split(episode)})
        return replace(self, coordinates=coordinates, episode=episode, time=time)


def _split(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",")) if names else ()


def _coordinates(table: Table) -> tuple[str, str]:
    """The two columns that are called like coordinates; refused where there are none or several."""
    names = list(table.columns)
    known = {plain(name): name for name in reversed(names)}
    called = [
        (known[x], known[y]) for x, y in zip(NAMES["x"], NAMES["y"], strict=True) if x in known and y in known
    ]
    east, north = (_shortest(names, kind) for kind in ("longitude", "latitude"))
    if east and north:
        return east, north
    pairs = called[:1] or _pairs(names)
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
    """Columns that can only be coordinates: names that differ in nothing but an x and a y at their end, which
    stand apart, pose.x and pose.y, or the two columns of an array. Where some are called positions, only
    those: position.x, translation.0."""
    there, known = set(names), []
    for name in names:
        if words_of(name) & {*NAMES["no place"]}:
            continue
        if found := LAST_X.fullmatch(name):
            known.append((name, f"{found[1]}{'y' if found[2] == 'x' else 'Y'}{found[3] or ''}", True))
        elif re.search(r"(^|\.)0$", name):
            known.append((name, f"{name[:-1]}1", f"{name[:-1]}2" not in there))
    pairs = [(x, y, is_sure) for x, y, is_sure in known if y in there]
    positions = [(x, y) for x, y, _ in pairs if words_of(x) & {*NAMES["place"]}]
    return positions or [(x, y) for x, y, is_sure in pairs if is_sure]


def _episode(table: Table, taken: Collection[str]) -> tuple[str, ...]:
    """The trip, the vehicle, or both: trips are often counted for each vehicle anew."""
    found = (_first_of(table, NAMES[kind], taken) for kind in ("vehicle", "trip"))
    return tuple(name for name in found if name and "," not in name and _repeats(table.labels(name)))


def _repeats(labels: Sequence[str]) -> bool:
    """Whether an id has three rows on average; a column of which hardly any value repeats is none."""
    return len(set(labels)) <= max(1, len(labels) / 3)


def _time(table: Table, taken: Collection[str]) -> str | None:
    """The column that is called like a time, or the first that holds what can be nothing else."""
    free = (name for name in table.columns if name not in taken and _holds_times(table, name))
    return _first_of(table, (*NAMES["time"], *NAMES["count"]), taken) or next(free, None)


def _holds_times(table: Table, name: str) -> bool:
    if table.columns[name].dtype.kind == "M":
        return True
    texts = table.texts(name, 500)
    return are_dates(texts) or are_epochs(np.array([number_of(text) for text in texts]))


def _first_of(table: Table, names: Sequence[str], taken: Collection[str]) -> str | None:
    """The column that is called like the first of some names, with or without its unit."""
    free = [name for name in reversed(list(table.columns)) if name not in taken]
    known = {**{without_unit(name): name for name in free}, **{plain(name): name for name in free}}
    return next((known[name] for name in names if name in known), None)


def _shortest(names: Sequence[str], kind: str) -> str | None:
    """The column with the shortest name that holds a word of a kind and is neither the end of a trip nor
    something else with a direction."""
    others = {*NAMES["end"], *NAMES["no place"]}
    found = (name for name in names if holds(name, kind) and not words_of(name) & others)
    return min(found, key=len, default=None)


def interleaved(table: Table, columns: Columns, places: FloatArray, time: FloatArray | None) -> str:
    """What speaks for rows of several bodies in one recording, "" where nothing does; refused where a column
    tells them apart, since the way then shrinks to a third.

    places: [N, 2]; time: [N] or None.
    """
    order = np.arange(len(places)) if time is None else np.argsort(time, kind="stable")
    rows = order[np.isfinite(places[order]).all(axis=1)][:20_000]
    others = (name for name in table.columns if name not in (*columns.values, columns.time))
    ids = {name: codes for name in others if (codes := _codes(table, name, rows)) is not None}
    ways = {name: _way(places[rows], codes) for name, codes in ids.items()}
    best = min(ways, key=lambda name: ways[name], default="")
    if best and ways[best] < 0.3 * _way(places[rows], np.zeros(len(rows), dtype=np.int64)):
        raise BadDataset(
            f"{table.source}: rows of several bodies seem to be interleaved, and no column was named that "
            f"tells them apart; {best!r} does: --episode {best}"
        )
    return "" if best or not _alternates(places[rows]) else "rows of several bodies seem to be interleaved"


def _way(places: FloatArray, codes: IntArray) -> float:
    """Length of the way through places [n, 2], those of each code on their own."""
    order = np.argsort(codes, kind="stable")
    hops = np.linalg.norm(np.diff(places[order], axis=0), axis=1)
    return float(hops[np.diff(codes[order]) == 0].sum())


def _codes(table: Table, name: str, rows: IntArray) -> IntArray | None:
    """[n] a number for each different value of a column; None where it cannot be an id."""
    column = table.columns[name][rows]
    if column.dtype.kind == "f" and not (np.isfinite(column) & (column == np.rint(column))).all():
        return None
    labels = [str(cell) for cell in column.tolist()]
    codes = np.unique(labels, return_inverse=True)[1]
    return codes if _repeats(labels) and codes.any() else None


def _alternates(places: FloatArray) -> bool:
    """Whether the nearest of the next rows is rarely the next one, or rows lie a fifth of their extent apart;
    those drawn by chance lie at a third."""
    if len(places) <= 10:
        return False
    lags = (np.linalg.norm(places[lag:] - places[:-lag], axis=1) for lag in range(1, 6))
    next_row, *later = (float(np.median(hops)) for hops in lags)
    extent = float(np.linalg.norm(np.ptp(places, axis=0)))
    return next_row > 0.2 * extent or next_row > 5 * min(later) > 0
