"""What OSRM's HTTP interface, version 1, looks like on the wire: paths and options in, polylines out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import numpy as np
import polyline

from chronoforest.service.requests import LARGEST_COORDINATE
from chronoforest.types import FloatArray

T = TypeVar("T")

SERVICES = ("route", "table", "nearest", "trip", "match")
CLOSED = re.compile(r"polygon(6?)\(([?-~]+)\)")
ENCODED = re.compile(r"polyline(6?)\(([?-~]+)\)")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

MOST_PLACES = {"route": 500, "table": 1000, "nearest": 1, "trip": 100, "match": 1000}
"""Coordinates of one request."""


class Refusal(Exception):
    """An answer that is an error: OSRM's code and a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, eq=False)
class Request:
    """A request as it was understood.

    places: [k, 2] longitude and latitude; radii: [k] metres; bearings: degrees clockwise from north and how
    far off, of each place; closed: polygons [p, 2] that no way may enter; sources, targets: rows of places;
    options: those that one service alone has, as they were written; depart: when a route begins.
    """

    service: str
    profile: str
    places: FloatArray
    options: Mapping[str, str] = field(default_factory=dict)
    radii: FloatArray = field(default_factory=lambda: np.zeros(0))
    bearings: Sequence[tuple[float, float] | None] = ()
    closed: Sequence[FloatArray] = ()
    depart: datetime | None = None

    def choice(self, name: str, *choices: str) -> str:
        """One of some words; the first unless given."""
        value = self.options.get(name, choices[0])
        if value not in choices:
            raise Refusal("InvalidQuery", f"{name} must be one of {', '.join(choices)}")
        return value

    def flag(self, name: str, default: str = "false") -> bool:
        """Whether an option is true."""
        return self.choice(name, default, "true", "false") == "true"

    def number(self, name: str, default: float, least: float) -> float:
        """A number not below the least."""
        value = _number(name, self.options[name]) if name in self.options else default
        if not value >= least:
            raise Refusal("InvalidOptions", f"{name} must be {least:g} or more")
        return value

    def count(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number within bounds."""
        value = self.number(name, default, least)
        if value != int(value) or value > most:
            raise Refusal("TooBig" if value > most else "InvalidOptions", f"{name} must be {least} to {most}")
        return int(value)

    def rows(self, name: str) -> list[int]:
        """Rows of places; all unless given."""
        value = self.options.get(name, "all")
        if value == "all":
            return list(range(len(self.places)))
        rows = [_number(name, part) for part in value.split(";")]
        if any(row != int(row) or not 0 <= row < len(self.places) for row in rows):
            raise Refusal("InvalidOptions", f"{name} must be indices below {len(self.places)}")
        return [int(row) for row in rows]

    def times(self) -> FloatArray | None:
        """[k] timestamps of the places, None where none are given."""
        if "timestamps" not in self.options:
            return None
        return np.array(self._each("timestamps", lambda text: _number("timestamps", text), 0.0))

    def _each(self, name: str, read: Callable[[str], T], default: T) -> list[T]:
        """What an option says of each place, the default where it says nothing."""
        if not self.options.get(name):
            return [default] * len(self.places)
        parts = self.options[name].split(";")
        if len(parts) != len(self.places):
            raise Refusal("InvalidOptions", f"{name} must have as many elements as there are coordinates")
        return [read(part) if part else default for part in parts]


SHARED = (
    "hints generate_hints skip_waypoints snapping bearings radiuses approaches exclude format "
    "steps annotations geometries overview depart"
)
OWN = {
    "route": "alternatives continue_straight waypoints",
    "table": "sources destinations fallback_speed fallback_coordinate scale_factor",
    "nearest": "number",
    "trip": "roundtrip source destination",
    "match": "timestamps gaps tidy waypoints",
}
"""Names of options, of all services and of each."""


def parsed(path: str, query: str) -> Request:
    """The request of a path such as /route/v1/driving/-87.6,41.8;-87.7,41.9 and its query."""
    parts = path.strip("/").split("/", 3)
    if len(parts) < 4 or not parts[3]:
        raise Refusal("InvalidUrl", "a path is /SERVICE/v1/PROFILE/COORDINATES")
    service, number, profile, coordinates = parts
    if service not in SERVICES:
        raise Refusal("InvalidService", f"Service {_plain(service)} not found!")
    if number != "v1":
        raise Refusal("InvalidVersion", f"version {_plain(number)} is not served, v1 is")
    places = _places(coordinates)
    if len(places) > MOST_PLACES[service]:
        raise Refusal("TooBig", f"Number of entries {len(places)} is higher than {MOST_PLACES[service]}")
    if (service == "nearest") != (len(places) == 1):
        raise Refusal("InvalidOptions", "nearest takes one coordinate, the others two or more")
    options = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=None))
    for name in sorted(options.keys() - set(f"{SHARED} {OWN[service]}".split())):
        raise Refusal("InvalidQuery", f"{service} has no option {_plain(name)}")
    bare = Request(service, profile, places, options)
    return replace(
        bare,
        radii=np.array(bare._each("radiuses", _radius, np.nan if service == "match" else np.inf)),
        bearings=bare._each("bearings", _bearing, None),
        closed=_polygons(options.get("exclude", "")),
        depart=_moment(options["depart"]) if options.get("depart") else None,
    )


def _places(text: str) -> FloatArray:
    """[k, 2] of lon,lat;lon,lat, or of polyline(…) or polyline6(…)."""
    text = text.removesuffix(".json")
    if match := ENCODED.fullmatch(text):
        places = decoded(match[2], 6 if match[1] else 5)
    else:
        pairs = [part.split(",") for part in text.split(";")]
        if any(len(pair) != 2 or not all(map(NUMBER.fullmatch, pair)) for pair in pairs):
            raise Refusal("InvalidUrl", "coordinates are longitude,latitude;longitude,latitude")
        places = np.array([[float(value) for value in pair] for pair in pairs])
    if not len(places) or not (np.abs(places) <= LARGEST_COORDINATE).all():
        raise Refusal("InvalidValue", "Invalid coordinate value.")
    return places


def _number(name: str, text: str) -> float:
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise Refusal("InvalidQuery", f"{name}: {_plain(text)} is no number")
    return float(text)


def _radius(text: str) -> float:
    value = math.inf if text == "unlimited" else _number("radiuses", text)
    if value < 0:
        raise Refusal("InvalidOptions", "radiuses must be 0 or more")
    return value


def _bearing(text: str) -> tuple[float, float] | None:
    parts = [_number("bearings", part) for part in text.split(",")]
    if len(parts) != 2 or not (0 <= parts[0] <= 360 and 0 <= parts[1] <= 180):
        raise Refusal("InvalidOptions", "bearings are 0 to 360, and up to 180 degrees off")
    return parts[0], parts[1]


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise Refusal("InvalidQuery", f"depart: {_plain(text)} is no time like 2026-01-31T08:30") from None


def _polygons(text: str) -> list[FloatArray]:
    """Polygons of polygon(…),polygon6(…), encoded as polylines."""
    if not text:
        return []
    found = [CLOSED.fullmatch(part) for part in text.split(",")]
    polygons = [decoded(match[2], 6 if match[1] else 5) for match in found if match]
    if len(polygons) < len(found) or any(len(corners) < 3 for corners in polygons):
        raise Refusal("InvalidValue", "exclude takes polygon(POLYLINE),… with three corners or more each")
    return polygons


def decoded(text: str, digits: int) -> FloatArray:
    """[n, 2] longitude and latitude of Google's polyline format."""
    try:
        return np.array(polyline.decode(text, digits, geojson=True), dtype=np.float64).reshape(-1, 2)
    except (IndexError, OverflowError) as error:
        raise Refusal("InvalidValue", "a polyline is malformed") from error


def geometry(places: FloatArray, kind: str) -> Any:
    """A line as polyline, polyline6 or GeoJSON; one that stands still has its place twice."""
    places = np.repeat(places, 2, axis=0) if len(places) == 1 else places
    if kind == "geojson":
        return {"type": "LineString", "coordinates": np.round(places, 6).tolist()}
    return polyline.encode(places.tolist(), 6 if kind == "polyline6" else 5, geojson=True)


def _plain(text: str) -> str:
    return ascii(text)[1:-1][:60]
