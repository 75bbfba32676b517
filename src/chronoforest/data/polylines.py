"""Tables with a row for every trip, whose places are a list in one cell: a row for every place instead."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.geoparquet import spread
from chronoforest.data.names import is_time
from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray

WELL_KNOWN_TEXT = re.compile(r"\s*(?:POINT|LINESTRING)\s*Z?\s*\(([^()]*)\)\s*", re.IGNORECASE)

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
    if listed is None:
        return dict(columns)
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
    if column.dtype.kind != "O":
        return False
    first = next((cell for cell in column if isinstance(cell, str) and cell.strip() not in ("", "[]")), "")
    return re.match(r"\s*\[\s*\[", first) is not None or WELL_KNOWN_TEXT.fullmatch(first) is not None


def _line(name: str, row: int, cell: str) -> FloatArray:
    """[n, 2] the places of a cell."""
    try:
        known = WELL_KNOWN_TEXT.fullmatch(cell)
        found = [point.split() for point in known[1].split(",")] if known else json.loads(cell or "[]")
        return np.array([place[:2] for place in found], dtype=np.float64).reshape(len(found), 2)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadDataset(
            f"{name} holds {cell!r:.40} in row {row}, expected places such as [[-8.6, 41.1], [-8.7, 41.2]]"
        ) from None


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
