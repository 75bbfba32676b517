"""Nested columns of Parquet: lists become columns, points of GeoParquet coordinates, lines a row for every
point."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.errors import BadDataset
from chronoforest.types import FloatArray

POINT, LINE, LINES = 1, 2, 5

Column = NDArray[Any]


def with_places(columns: Mapping[str, Column], metadata: Mapping[bytes, bytes]) -> dict[str, Column]:
    """Columns of a Parquet file with its geometry as coordinates; as they are where it has none."""
    if b"geo" not in metadata:
        return dict(columns)
    about = json.loads(metadata[b"geo"])
    primary = about["primary_column"]
    geometry = about["columns"][primary]
    if geometry.get("encoding", "WKB") != "WKB":
        raise BadDataset(f"its geometry is encoded as {geometry['encoding']!r:.40}, expected WKB")
    parts = [_lines(bytes(cell)) if cell is not None else [] for cell in columns[primary]]
    num_parts = np.array([len(part) for part in parts])
    lines = [line for part in parts for line in part]
    if not lines:
        raise BadDataset("its geometry is empty")
    rest = {name: _repeated(column, num_parts) for name, column in columns.items() if name != primary}
    counts = np.array([len(line) for line in lines])
    places = np.concatenate(lines)
    axes = ("longitude", "latitude") if _is_geographic(geometry.get("crs")) else ("x", "y")
    found = {axis: places[:, k] for k, axis in enumerate(axes)}
    is_line = bool((counts > 1).any())
    found |= (
        {"episode": np.repeat(np.arange(len(lines)), counts)} if is_line and "episode" not in rest else {}
    )
    return {**found, **{name: spread(column, counts) for name, column in rest.items() if name not in axes}}


def unlisted(name: str, column: Column) -> Iterator[tuple[str, Column]]:
    """A column whose cells are lists of one length as NAME.0, NAME.1, …, as an array [N, D] would be."""
    lists = (
        column.dtype.kind == "O" and len(column) > 0 and all(isinstance(cell, np.ndarray) for cell in column)
    )
    if not lists or len({len(cell) for cell in column}) > 1:
        yield name, column
        return
    for k, values in enumerate(np.stack(list(column)).T):
        yield f"{name}.{k}", values


def _is_geographic(system: Any) -> bool:
    """Whether a reference system is longitude and latitude, which it is when the file does not say."""
    return not isinstance(system, Mapping) or str(system.get("type", "")).startswith("Geo")


def spread(column: Column, counts: Column) -> Column:
    """A value for every point: of a list as long as its line the point's own, otherwise the line's."""
    if column.dtype.kind == "O" and all(
        isinstance(cell, (np.ndarray, list)) and len(cell) == count
        for cell, count in zip(column, counts, strict=True)
    ):
        return np.concatenate([np.asarray(cell) for cell in column])
    return np.repeat(column, counts)


def _repeated(column: Column, num_parts: Column) -> Column:
    """Cells of geometries for each of their lines."""
    return column if (num_parts == 1).all() else np.repeat(column, num_parts)


def _lines(geometry: bytes) -> list[FloatArray]:
    """The places [n, 2] of a point, a line or each of several lines in well-known binary, without heights."""
    try:
        lines, _ = _read(geometry, 0)
    except (struct.error, IndexError, ValueError) as error:
        raise BadDataset(f"its geometry is no well-known binary ({error})") from error
    return lines


def _read(geometry: bytes, at: int) -> tuple[list[FloatArray], int]:
    """Lines of the geometry that begins at a byte, and the byte behind it."""
    order = "<" if geometry[at] == 1 else ">"
    (code,) = struct.unpack_from(f"{order}I", geometry, at + 1)
    start = at + (9 if code & 0x20000000 else 5)
    kind, size, count = (code & 0x0FFFFFFF) % 1000, 2 + _num_extra(code), 1
    if kind not in (POINT, LINE, LINES):
        raise BadDataset(f"its geometry has kind {kind}, expected points or lines")
    if kind != POINT:
        (count,) = struct.unpack_from(f"{order}I", geometry, start)
        start += 4
    if kind == LINES:
        lines: list[FloatArray] = []
        for _ in range(count):
            part, start = _read(geometry, start)
            lines += part
        return lines, start
    numbers = np.frombuffer(geometry, dtype=f"{order}f8", count=count * size, offset=start)
    return [numbers.reshape(count, size)[:, :2].astype(np.float64)], start + 8 * count * size


def _num_extra(code: int) -> int:
    """Z and M, as the standard counts thousands or as PostGIS sets bits."""
    thousands = (code & 0x0FFFFFFF) // 1000
    return {0: 0, 1: 1, 2: 1, 3: 2}.get(thousands, 0) + bool(code & 0x80000000) + bool(code & 0x40000000)
