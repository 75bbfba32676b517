"""Tables with a row for every trip, whose places are a list in one cell: a row for every place instead."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.geoparquet import spread
from chronoforest.data.names import LATITUDES, LONGITUDES, holds, is_time, plain
from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray

WELL_KNOWN_TEXT = re.compile(r"\s*(?:POINT|LINESTRING)\s*Z?\s*\(([^()]*)\)\s*", re.IGNORECASE)

LIST = re.compile(r"\s*\[\s*\[.*", re.DOTALL)
PAIR = re.compile(r"\s*[\[(]?\s*(-?\d{1,3}\.\d+)\s*[,; ]\s*(-?\d{1,3}\.\d+)\s*[\])]?\s*")
"""Two degrees in one cell: (41.88, -87.63)."""

LONGITUDE_FIRST = re.compile(r"(?:lon|lng)[a-z]*[\W_]*lat", re.IGNORECASE)
LATITUDE_FIRST = re.compile(r"lat[a-z]*[\W_]*(?:lon|lng)", re.IGNORECASE)
"""In the name of a column of places: latlon, lat_lng, Latitude/Longitude."""

LARGEST_LATITUDE = 90.0

Column = NDArray[Any]


def with_places(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns with the places that one of them lists as coordinates; as they are where none does. Longitude
    comes first, unless the column is called latlon or the like.

    When a trip began is the time of none of its places, so such columns are left out.
    """
    listed = next((name for name, column in columns.items() if lists_places(column)), None)
    if listed is None and not _have_axes(columns):
        listed = next((name for name, column in columns.items() if _matches(column, PAIR)), None)
    if listed is None:
        return dict(columns)
    _refuse_either(listed, columns)
    lines = [_line(listed, row, str(cell)) for row, cell in enumerate(columns[listed], start=1)]
    counts = np.array([len(line) for line in lines])
    places = np.concatenate(lines)
    if LATITUDE_FIRST.search(listed):
        places = places[:, ::-1]
    axes = ("longitude", "latitude") if (np.abs(places) <= 360.0).all() else ("x", "y")
    found: dict[str, Column] = {axis: places[:, k] for k, axis in enumerate(axes)}
    is_line = bool((counts > 1).any())
    if is_line:
        found["episode"] = np.repeat(np.arange(len(lines)), counts)
    rest = {
        name: spread(_unlisted(column), counts)
        for name, column in columns.items()
        if name not in (listed, *found) and not (is_line and _is_start(name, column))
    }
    return {**found, **rest}


def _refuse_either(listed: str, columns: Mapping[str, Column]) -> None:
    """Refuse two numbers in a cell that could be either way round; lists and well-known text tell."""
    cells = [str(cell) for cell in columns[listed] if str(cell).strip()]
    if not PAIR.fullmatch(cells[0]) or LATITUDE_FIRST.search(listed) or LONGITUDE_FIRST.search(listed):
        return
    if can_be_either(cells):
        ways = [",".join(way if name == listed else name for name in columns) for way in ("latlon", "lonlat")]
        raise BadDataset(
            f"longitude or latitude could come first in {listed}, {cells[0]!r:.40}; add --header {ways[0]} "
            f"or --header {ways[1]}"
        )


def can_be_either(cells: Sequence[str]) -> bool:
    """Whether either coordinate of places that are no larger than degrees could be the latitude; cells that
    hold none are refused elsewhere."""
    try:
        sizes = np.abs(np.concatenate([_line("places", 0, cell) for cell in cells]))
    except BadDataset:
        return False
    return bool((sizes > 1.0).any() and (sizes <= LARGEST_LATITUDE).all())


def lists_places(column: Column) -> bool:
    """Whether the first cell that holds anything begins as a list of places does."""
    return _matches(column, LIST) or _matches(column, WELL_KNOWN_TEXT)


def _matches(column: Column, pattern: re.Pattern[str]) -> bool:
    """Whether the first cell that holds anything is text of a kind."""
    if column.dtype.kind != "O":
        return False
    first = next((cell for cell in column if isinstance(cell, str) and cell.strip() not in ("", "[]")), "")
    return pattern.fullmatch(first) is not None


def _have_axes(columns: Mapping[str, Column]) -> bool:
    """Whether coordinates have columns of their own."""
    east, north = ([name for name in columns if holds(name, words)] for words in (LONGITUDES, LATITUDES))
    return (bool(east) and bool(north) and east != north) or {"x", "y"} <= {plain(name) for name in columns}


def _line(name: str, row: int, cell: str) -> FloatArray:
    """[n, 2] the places of a cell."""
    try:
        found = _written(cell)
        return np.array([place[:2] for place in found], dtype=np.float64).reshape(len(found), 2)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadDataset(
            f"{name} holds {cell!r:.40} in row {row}, expected places such as [[-8.6, 41.1], [-8.7, 41.2]]"
        ) from None


def _written(cell: str) -> Any:
    """The places of a cell, in whichever way they are written."""
    if known := WELL_KNOWN_TEXT.fullmatch(cell):
        return [point.split() for point in known[1].split(",")]
    if pair := PAIR.fullmatch(cell):
        return [pair.groups()]
    return json.loads(cell or "[]")


def _unlisted(column: Column) -> Column:
    """Cells that are lists of numbers as arrays; others as they are."""
    if column.dtype.kind != "O" or not all(str(cell).startswith("[") for cell in column):
        return column
    cells = np.empty(len(column), dtype=object)
    try:
        cells[:] = [np.array(json.loads(cell)) for cell in column]
    except (ValueError, TypeError, RecursionError):
        return column
    return cells


def _is_start(name: str, column: Column) -> bool:
    """Whether a column is the time at which a trip began."""
    return is_time(name) and not str(column[0]).startswith("[")
