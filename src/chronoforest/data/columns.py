"""Which columns mean what: told by name, or found by the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chronoforest.data.tables import Table
from chronoforest.errors import BadDataset, InvalidParameter
from chronoforest.types import FloatArray, IntArray

LONGITUDES = {"lon", "lng", "long", "longitude"}
LATITUDES = {"lat", "latitude"}
"""Words, one of which a column's name holds."""

PLANES = (
    ("x", "y"),
    ("easting", "northing"),
    ("east", "north"),
    ("utmx", "utmy"),
    ("xutm", "yutm"),
    ("utmeasting", "utmnorthing"),
    ("posx", "posy"),
    ("positionx", "positiony"),
    ("px", "py"),
    ("xm", "ym"),
    ("xcoord", "ycoord"),
    ("coordx", "coordy"),
    ("localx", "localy"),
    ("xcenter", "ycenter"),
    ("observationstate0", "observationstate1"),
    ("observations0", "observations1"),
)
TRIPS = (
    *("episode", "episodeid", "episodeindex", "trip", "tripid", "track", "trackid", "trajectory"),
    *("trajectoryid", "trajid", "journey", "journeyid", "ride", "rideid", "run", "runid", "recording"),
    *("recordingid", "session", "sessionid", "segment", "segmentid", "flightid", "voyage", "voyageid"),
)
VEHICLES = (
    *("mmsi", "vehicle", "vehicleid", "vid", "device", "deviceid", "taxi", "taxiid", "bus", "busid"),
    *("icao24", "imo", "vessel", "vesselid", "ship", "shipid", "individuallocalidentifier"),
    *("taglocalidentifier", "animalid", "agent", "agentid", "object", "objectid", "user", "userid"),
    *("driver", "driverid", "id"),
)
TIMES = (
    *("time", "timestamp", "basedatetime", "datetime", "dateandtime", "t", "seconds", "utc", "utctime"),
    *("timeutc", "datetimeutc", "epoch", "epochtime", "unixtime", "gpstime", "eventtime", "recordedat"),
    *("fixtime", "globaltime", "ts", "when", "sec", "secs", "timems", "timestampms", "millis"),
    *("milliseconds", "date"),
)
"""Names in lower case, letters and digits alone; of several that are there the first is taken."""

FRAMES = ("frame", "frameid", "frameindex", "framenumber")
"""What pictures are counted by: an order, but no clock."""

LEAST_ROWS_EACH = 3
"""Rows that an id has on average; a column of which hardly any value repeats is no id."""

MANY_ROWS = 20_000
"""Enough to tell whether rows of several bodies are interleaved."""

CLEARLY_SHORTER = 0.3
"""What the way through all rows shrinks to when bodies that were interleaved are told apart."""


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
    """

    coordinates: tuple[str, str] | None = None
    episode: str | None = None
    time: str | None = None
    states: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()

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
        return tuple(name.strip() for name in self.episode.split(",")) if self.episode else ()

    @property
    def are_degrees(self) -> bool:
        """Whether the coordinates are called longitude and latitude."""
        if self.coordinates is None:
            return False
        first, second = map(_words, self.coordinates)
        return bool(first & LONGITUDES and second & LATITUDES)

    @property
    def has_clock(self) -> bool:
        """Whether times are told in seconds or dates."""
        return self.time is not None and _plain(self.time) not in FRAMES

    def without(self, names: Collection[str]) -> Columns:
        """The same without some states and actions."""
        states, actions = (
            tuple(name for name in known if name not in names) for known in (self.states, self.actions)
        )
        return replace(self, states=states, actions=actions)

    def found_in(self, table: Table) -> Columns:
        """The same with what was not told, as far as the table has it."""
        coordinates = self.coordinates or _coordinates(table)
        if _words(coordinates[0]) & LATITUDES and _words(coordinates[1]) & LONGITUDES:
            coordinates = coordinates[1], coordinates[0]
        taken = {*coordinates, *self.states, *self.actions}
        return replace(
            self,
            coordinates=coordinates,
            episode=self.episode or ",".join(_episode(table, taken)) or None,
            time=self.time or _first_of(table, (*TIMES, *FRAMES), taken),
        )


def interleaved(table: Table, columns: Columns, places: FloatArray, time: FloatArray | None) -> str:
    """What speaks for rows of several bodies in one recording; refused where a column tells them apart.

    places: [N, 2]; time: [N] or None. Empty where nothing does.
    """
    order = np.arange(len(places)) if time is None else np.argsort(time, kind="stable")
    rows = order[np.isfinite(places[order]).all(axis=1)][:MANY_ROWS]
    way = _way(places, rows, np.zeros(len(rows), dtype=np.int64))
    names = [name for name in table.columns if name not in (*columns.values, columns.time)]
    ways = {
        name: _way(places, rows, codes) for name in names if (codes := _codes(table, name, rows)) is not None
    }
    best = min(ways, key=lambda name: ways[name], default="")
    if best and ways[best] < CLEARLY_SHORTER * way:
        raise BadDataset(
            f"{table.source}: rows of several bodies seem to be interleaved, and no column was named that "
            f"tells them apart; {best!r} does: --episode {best}"
        )
    return "" if best or not _alternates(places[rows]) else "rows of several bodies seem to be interleaved"


def _way(places: FloatArray, rows: IntArray, codes: IntArray) -> float:
    """Length of the way through rows, each code on its own."""
    order = np.argsort(codes, kind="stable")
    hops = np.linalg.norm(np.diff(places[rows[order]], axis=0), axis=1)
    return float(hops[np.diff(codes[order]) == 0].sum())


def _codes(table: Table, name: str, rows: IntArray) -> IntArray | None:
    """[n] a number for each different value of a column; None where it cannot be an id."""
    column = table.columns[name][rows]
    if column.dtype.kind == "f" and not (np.isfinite(column).all() and (column == np.rint(column)).all()):
        return None
    values, codes = np.unique([str(cell) for cell in column.tolist()], return_inverse=True)
    return codes if 2 <= len(values) <= len(rows) / LEAST_ROWS_EACH else None


def _alternates(places: FloatArray) -> bool:
    """Whether a row's next of kin is rarely the next row."""
    if len(places) < 10:
        return False
    hops = np.stack(
        [np.linalg.norm(places[k:-5] - places[: -5 - k], axis=1)[: len(places) - 10] for k in range(1, 6)]
    )
    usual = np.median(hops, axis=1)
    return bool(usual[0] > 5 * usual[1:].min() > 0)


def _coordinates(table: Table) -> tuple[str, str]:
    east, north = (_shortest(table, words) for words in (LONGITUDES, LATITUDES))
    if east and north:
        return east, north
    plain = {_plain(name): name for name in reversed(list(table.columns))}
    for x, y in PLANES:
        if x in plain and y in plain:
            return plain[x], plain[y]
    raise BadDataset(
        f"{table.source}: no columns that are called like coordinates; name two with --coordinates; "
        f"there are: {', '.join(table.columns)}"
    )


def _episode(table: Table, taken: Collection[str]) -> tuple[str, ...]:
    """The trip, the vehicle, or both: trips are often counted for each vehicle anew."""
    found = (_first_of(table, names, taken) for names in (VEHICLES, TRIPS))
    return tuple(name for name in found if name is not None and "," not in name and _repeats(table, name))


def _repeats(table: Table, name: str) -> bool:
    return len(set(table.labels(name))) <= max(1, len(table) / LEAST_ROWS_EACH)


def _first_of(table: Table, names: Sequence[str], taken: Collection[str]) -> str | None:
    plain = {_plain(name): name for name in reversed(list(table.columns)) if name not in taken}
    return next((plain[name] for name in names if name in plain), None)


def _shortest(table: Table, words: Collection[str]) -> str | None:
    """The column with the shortest name that holds one of the words."""
    held: Iterable[str] = (name for name in table.columns if _words(name) & set(words))
    return min(held, key=len, default=None)


def _plain(name: str) -> str:
    """Lower case, letters and digits alone."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _words(name: str) -> set[str]:
    """The words of a name, however they are joined, in lower case."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return {word.lower() for word in re.findall(r"[A-Za-z]+", apart)}
