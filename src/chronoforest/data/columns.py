"""Which columns mean what: told by name, or found by the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from chronoforest.data.clocks import are_dates, are_epochs
from chronoforest.data.headers import Sample
from chronoforest.data.names import (
    ENDS,
    FRAMES,
    LATITUDES,
    LONGITUDES,
    NO_PLACES,
    PLANES,
    POSITIONS,
    TIMES,
    TRIPS,
    VEHICLES,
    holds,
    plain,
    without_unit,
    words_of,
)
from chronoforest.data.tables import Table
from chronoforest.errors import BadDataset, InvalidParameter

LEAST_ROWS_EACH = 3
"""Rows that an id has on average; a column of which hardly any value repeats is no id."""

LAST_X, LAST_0 = re.compile(r"(.*[\W_])([xX])(\s*[\[(].*)?"), re.compile(r"(^|\.)0$")
"""An x that stands apart at the end of a name, before its unit, and the first of numbered columns."""

MANY_CELLS = 500
"""Enough to see what a column holds."""


@dataclass(frozen=True)
class Columns:
    """Which columns mean what, by their names in the files; what is not told is found by common names.

    Args:
        coordinates: the plane to plan in: x and y, easting and northing, longitude and latitude.
        episode: tells recordings apart, such as trip, track_id or MMSI; vehicle,trip where both do together.
            Without one every file is one recording.
        time: seconds or dates; without one rows are a step apart.
        states: further columns that the tracker may see.
        actions: what the body was told to do; without them plans can be made but not walked.
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
        return _listed(self.episode)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of text files are called, where that was told."""
        return _listed(self.header)

    @property
    def are_degrees(self) -> bool:
        """Whether the coordinates are called longitude and latitude."""
        if self.coordinates is None:
            return False
        east, north = self.coordinates
        return holds(east, LONGITUDES) and holds(north, LATITUDES)

    @property
    def has_clock(self) -> bool:
        """Whether times are told in seconds or dates."""
        return self.time is not None and plain(self.time) not in FRAMES

    def without(self, names: Collection[str]) -> Columns:
        """The same without some states and actions."""
        states, actions = (
            tuple(name for name in known if name not in names) for known in (self.states, self.actions)
        )
        return replace(self, states=states, actions=actions)

    def found_in(self, table: Table) -> Columns:
        """The same with what was not told, as far as the table has it."""
        coordinates = self.coordinates or _coordinates(table)
        if holds(coordinates[0], LATITUDES) and holds(coordinates[1], LONGITUDES):
            coordinates = coordinates[1], coordinates[0]
        taken = {*coordinates, *self.states, *self.actions}
        found = replace(
            self,
            coordinates=coordinates,
            episode=self.episode or ",".join(_episode(table, taken)) or None,
        )
        return replace(found, time=self.time or _time(table, {*taken, *found.ids}))


def _listed(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",")) if names else ()


def _coordinates(table: Table) -> tuple[str, str]:
    east, north = (_shortest(table, words) for words in (LONGITUDES, LATITUDES))
    if east and north:
        return east, north
    known = {plain(name): name for name in reversed(list(table.columns))}
    for x, y in PLANES:
        if x in known and y in known:
            return known[x], known[y]
    pairs = _pairs(list(table.columns))
    if len(pairs) == 1:
        return pairs[0]
    if pairs:
        shown = "; ".join(", ".join(pair) for pair in pairs)
        raise BadDataset(
            f"{table.source}: several columns could be coordinates ({shown}); name two with --coordinates"
        )
    ends = [name for name in table.columns if holds(name, LONGITUDES | LATITUDES) and words_of(name) & ENDS]
    if ends:
        raise BadDataset(
            f"{table.source}: {', '.join(ends)} are the two ends of a trip and not a track; recordings need "
            "the places between them, a row for each"
        )
    raise BadDataset(
        f"{table.source}: no columns that are called like coordinates; name two with --coordinates; "
        f"there are: {', '.join(table.columns)}"
    )


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Columns that can only be coordinates: names that differ in nothing but an x and a y at their end, which
    stand apart, pose.x and pose.y, or the two columns of an array. Where some are called positions, only
    those: position.x, translation.0."""
    free = [name for name in names if not words_of(name) & NO_PLACES]
    lettered = [(name, _with_y(found)) for name in free if (found := LAST_X.fullmatch(name))]
    numbered = [(name, f"{name[:-1]}1") for name in free if LAST_0.search(name)]
    known = [pair for pair in [*lettered, *numbered] if pair[1] in names]
    positions = [pair for pair in known if words_of(pair[0]) & POSITIONS]
    of_two = [pair for pair in known if pair in lettered or f"{pair[0][:-1]}2" not in names]
    return positions or of_two


def _with_y(name: re.Match[str]) -> str:
    """The name that belongs to one with an x."""
    stem, letter, unit = name.groups()
    return f"{stem}{'y' if letter == 'x' else 'Y'}{unit or ''}"


def _episode(table: Table, taken: Collection[str]) -> tuple[str, ...]:
    """The trip, the vehicle, or both: trips are often counted for each vehicle anew."""
    found = (_first_of(table, names, taken) for names in (VEHICLES, TRIPS))
    return tuple(name for name in found if name is not None and "," not in name and _repeats(table, name))


def _repeats(table: Table, name: str) -> bool:
    return len(set(table.labels(name))) <= max(1, len(table) / LEAST_ROWS_EACH)


def _time(table: Table, taken: Collection[str]) -> str | None:
    """The column that is called like a time, or the first that holds what can be nothing else."""
    named = _first_of(table, (*TIMES, *FRAMES), taken)
    if named is not None:
        return named
    return next((name for name in table.columns if name not in taken and _holds_times(table, name)), None)


def _holds_times(table: Table, name: str) -> bool:
    if table.columns[name].dtype.kind == "M":
        return True
    cells = Sample.of(table.sample(name, MANY_CELLS))
    return are_dates(cells.texts) or are_epochs(cells.numbers)


def _first_of(table: Table, names: Sequence[str], taken: Collection[str]) -> str | None:
    """The column that is called like the first of some names, with or without its unit."""
    free = [name for name in reversed(list(table.columns)) if name not in taken]
    known = {**{without_unit(name): name for name in free}, **{plain(name): name for name in free}}
    return next((known[name] for name in names if name in known), None)


def _shortest(table: Table, words: set[str]) -> str | None:
    """The column with the shortest name that holds one of the words and is neither the end of a trip nor
    something else with a direction."""
    others = ENDS | NO_PLACES
    held = (name for name in table.columns if holds(name, words) and not words_of(name) & others)
    return min(held, key=len, default=None)
