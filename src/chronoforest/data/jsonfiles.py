"""Tracks in JSON: GeoJSON, the location histories of Google Takeout, and plain lists of rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from numpy.typing import NDArray

from chronoforest.data.geofiles import Points, cells_of, geojson_columns
from chronoforest.errors import BadDataset

E7 = 1e7
"""Parts of a degree that Google counts."""

LONGEST_LIST = 16
"""Numbers that a list may have to become columns: places, rotations, matrices."""

PAIR = re.compile(r"(?:geo:)?\s*(-?\d+(?:\.\d+)?)°?\s*,\s*(-?\d+(?:\.\d+)?)°?\s*")
"""Latitude and longitude as its newer files write them."""


def read_json(content: bytes) -> dict[str, NDArray[Any]]:
    """Columns of whichever JSON with tracks it is."""
    values = _values(content.decode("utf-8-sig"))
    if isinstance(values, Mapping) and isinstance(values.get("locations"), list):
        return _rows(values["locations"])
    segments = values.get("semanticSegments") if isinstance(values, Mapping) else values
    if isinstance(segments, list) and any(_path(segment) for segment in segments):
        return _timeline(segments)
    if isinstance(values, list) and values and all(isinstance(row, Mapping) for row in values):
        return _rows(values)
    return geojson_columns(values)


def _values(text: str) -> Any:
    """What a file holds: one value, or one in every line, of which features belong together."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        lines = [line.strip("\x1e \r") for line in text.splitlines()]
        values = [json.loads(line) for line in lines if line]
        if not values or not isinstance(values[0], Mapping):
            raise
    is_map = all(isinstance(value, Mapping) and value.get("type") == "Feature" for value in values)
    return {"type": "FeatureCollection", "features": values} if is_map else values


def _rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """Objects as rows, what they hold by name; of nested values those of objects and the numbers of lists."""
    known = [_flat(row) for row in rows if isinstance(row, Mapping)]
    names = dict.fromkeys(name for row in known for name in row)
    if not names:
        raise BadDataset("its rows hold no values")
    return {name: cells_of([row.get(name) for row in known]) for name in names}


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The plain values of a row, degrees as such; nested ones as NAME.x or NAME.0."""
    flat = dict(_unnested("", row))
    for axis in ("latitude", "longitude"):
        value = flat.pop(f"{axis}E7", None)
        if isinstance(value, (int, float)):
            flat[axis] = value / E7
    return flat


def _unnested(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value with its name; one for each of an object and of a list of a few numbers."""
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list):
        is_place = len(value) <= LONGEST_LIST and all(isinstance(part, (int, float)) for part in value)
        inner = {str(k): part for k, part in enumerate(value)}.items() if is_place else {}.items()
    else:
        yield name, value
        return
    for key, part in inner:
        yield from _unnested(f"{name}.{key}" if name else str(key), part)


def _timeline(segments: Sequence[Any]) -> dict[str, NDArray[Any]]:
    """Every path of a timeline is a recording."""
    points = Points()
    for number, segment in enumerate(segments):
        found = list(_timed(segment))
        points.add(str(number), [place for place, _ in found], [time for _, time in found])
    return points.columns()


def _timed(segment: Any) -> Iterator[tuple[tuple[float, float], str]]:
    """Places, longitude first, and times of a segment's path."""
    for point in _path(segment):
        pair = PAIR.fullmatch(str(point.get("point")))
        if pair is None:
            raise BadDataset(f"a point of a timeline is {point.get('point')!r:.40}, expected degrees")
        yield (float(pair[2]), float(pair[1])), str(point.get("time") or _later(segment, point))


def _later(segment: Mapping[str, Any], point: Mapping[str, Any]) -> str:
    """The time of a point that is told in minutes after its segment began."""
    begin = datetime.fromisoformat(str(segment.get("startTime")))
    return (begin + timedelta(minutes=float(point["durationMinutesOffsetFromStartTime"]))).isoformat()


def _path(segment: Any) -> list[Any]:
    found = segment.get("timelinePath") if isinstance(segment, Mapping) else None
    return found if isinstance(found, list) else []
