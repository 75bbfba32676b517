"""Tracks as maps hold them: files of GPX, KML, GeoJSON and whatever else GDAL reads, GeoParquet, location
histories, and tables with a place or a whole line in a cell. A line is a recording, a point a row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from chronoforest.data.axes import coordinate_axes, order_of
from chronoforest.data.columns import Column
from chronoforest.data.names import has_axes, is_time
from chronoforest.errors import BadDataset
from chronoforest.names import optional
from chronoforest.types import FloatArray, IntArray

PAIR = re.compile(r"\s*(?:geo:)?\s*[\[(]?\s*(-?\d{1,3}\.\d+)°?\s*[,; ]\s*(-?\d{1,3}\.\d+)°?\s*[\])]?\s*")
"""Two degrees in one cell: (41.88, -87.63), geo:41.88,-87.63."""

TIMES = ("coordTimes", "times", "timestamps", "time")
"""Properties in which lines keep a time for every point."""

NAMELESS = "places"
"""What a column of places is called that has no name in its file."""


def read_layers(content: bytes | Path) -> dict[str, Column]:
    """Columns of whatever GDAL reads, content or a file: of GPX the points of tracks, or else of routes, of
    others the layer with most places."""
    pyogrio = optional("pyogrio", "geo")
    if isinstance(content, bytes):
        refuse_document_type(content)
    try:
        # Layers that are named after the file are so after another one every time that it is opened.
        layers = {str(name): number for number, (name, _) in enumerate(pyogrio.list_layers(content))}
        gpx = [layer for layer in ("track_points", "route_points") if layer in layers]
        tables = [_layer(pyogrio, content, layers[name]) for name in gpx or layers]
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError) as error:
        raise BadDataset(str(error)) from error
    known = [table for table in tables if table]
    if not known:
        raise BadDataset("it has neither lines nor points")
    return known[0] if gpx else max(known, key=lambda table: len(next(iter(table.values()))))


def _layer(pyogrio: Any, content: bytes | Path, layer: int) -> dict[str, Column]:
    """A layer's columns but for empty ones; none where it has no geometry."""
    about, _, shapes, cells = pyogrio.raw.read(content, layer=layer, datetime_as_string=True)
    if shapes is None or len(shapes) == 0:
        return {}
    columns = {str(name): column for name, column in zip(about["fields"], cells, strict=True)}
    ids = [columns[name] for name in ("track_fid", "track_seg_id", "route_fid") if name in columns]
    if ids:  # a segment of GPX
        labels = np.unique(np.stack(ids, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        columns = {"episode": labels, "time": columns["time"]}
    full = {name: column for name, column in columns.items() if any(cell is not None for cell in column)}
    is_geographic = re.match(r"EPSG:(?!4\d{3}$)|PROJ", str(about["crs"] or "")) is None
    return _of_shapes(shapes, full, is_geographic)


def _of_shapes(shapes: Column, rest: Mapping[str, Column], is_geographic: bool) -> dict[str, Column]:
    """A row for every point of geometries [n] in well-known binary, of lines alone where there are any."""
    shapely = optional("shapely", "geo")
    with np.errstate(invalid="ignore"):
        found = shapely.from_wkb(shapes, on_invalid="ignore")  # such as a line of one place
    kinds = shapely.get_type_id(found)
    of_lines, of_points = np.isin(kinds, (1, 5)), np.isin(kinds, (0, 4))
    wanted = of_lines if of_lines.any() else of_points
    parts, owner = shapely.get_parts(found[wanted], return_index=True)
    places, line = shapely.get_coordinates(parts, return_index=True)
    if len(places) == 0:
        raise BadDataset("its geometry is empty")
    known = {name: column[wanted] for name, column in rest.items()}
    lines = line if of_lines.any() else None
    return _of_places(places, owner[line], lines, known, None if is_geographic else False)


def _of_places(
    places: FloatArray,
    owner: IntArray,
    line: IntArray | None,
    rest: Mapping[str, Column],
    is_degrees: bool | None = None,
) -> dict[str, Column]:
    """A row for every place [N, 2], with what is known of its owner [N]; line: [N] the recording, None for
    points; is_degrees: where the file says."""
    is_degrees = coordinate_axes(places, is_degrees).is_degrees
    names = ("longitude", "latitude") if is_degrees else ("x", "y")
    found: dict[str, Column] = {name: places[:, k] for k, name in enumerate(names)}
    if line is not None and "episode" not in rest:
        found["episode"] = line
    for name, column in rest.items():
        if name not in names:
            found["time" if name in TIMES else name] = _of_owners(name, column, owner)
    return found


def _of_owners(name: str, column: Column, owner: IntArray) -> Column:
    """[N] a value for every place of an owner: from a list as long as its line, otherwise the owner's own."""
    lists = [_listed(cell) for cell in column] if column.dtype.kind == "O" else [None]
    if all(found is None for found in lists):
        return column[owner]
    counts = np.bincount(owner, minlength=len(column))
    odd = [k for k, found in enumerate(lists) if found is not None and len(found) != counts[k]]
    if odd and name not in TIMES:
        return column[owner]
    if odd:
        raise BadDataset(f"track {odd[0]} has {counts[odd[0]]} places and {len(lists[odd[0]] or ())} times")
    values = np.empty(len(owner), dtype=object)
    values[:] = [cell for found, count in zip(lists, counts, strict=True) for cell in found or [None] * count]
    return values


def _listed(cell: Any) -> list[Any] | None:
    """The values of a list, also of lists in a list or of text in brackets; None where a cell is no list."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    if not isinstance(cell, (list, np.ndarray)):
        return None
    return [value for part in cell for value in (part if isinstance(part, list) else [part])]


def refuse_document_type(content: bytes) -> None:
    """Refuse XML that declares its own types or entities, since those can unfold to any size."""
    if b"<!DOCTYPE" in content.replace(b"\0", b""):
        raise BadDataset("it declares a document type, which no track needs")


def read_kml(content: bytes) -> dict[str, Column]:
    """Every track with times and every line is a recording; GDAL gives tracks without their times."""
    refuse_document_type(content)
    try:
        # Prefixes are left out, since not all that programs write are declared.
        root = ElementTree.fromstring(re.sub(rb"(</?)[\w-]+:", rb"\1", content))
    except ElementTree.ParseError as error:
        raise BadDataset(f"it is no XML ({error})") from error
    lines: list[list[Sequence[str]]] = []
    times: list[list[str]] = []
    for track in root.iter():
        coord, when, coordinates = (
            [part.text or "" for part in track.iterfind(f"{{*}}{tag}")]
            for tag in ("coord", "when", "coordinates")
        )
        if track.tag.endswith("Track"):
            lines.append([place.split()[:2] for place in coord])
            times.append(when)
        elif track.tag.endswith("LineString"):
            lines.append([word.split(",")[:2] for word in " ".join(coordinates).split()])
            times.append([])
    if not any(lines):
        raise BadDataset("it has no tracks")
    places = np.array([place for line in lines for place in line], dtype=np.float64)
    owner = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    whens = np.empty(len(lines), dtype=object)
    whens[:] = [found or None for found in times]
    return _of_places(places, owner, owner, {"time": whens} if any(times) else {})


def read_json(content: bytes) -> dict[str, Column]:
    """Columns of whichever JSON with tracks it is: GeoJSON, location histories of Google, lists of rows."""
    text = content.decode("utf-8-sig")
    try:
        values = json.loads(text)
    except json.JSONDecodeError:  # a value in every line
        lines = [line.strip("\x1e \r") for line in text.splitlines()]
        values = [json.loads(line) for line in lines if line]
        if not values or not isinstance(values[0], Mapping):
            raise
    about = values if isinstance(values, Mapping) else {}
    rows = about.get("locations", about.get("semanticSegments", values))
    known = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    if "type" in about or (known and known[0].get("type") == "Feature"):
        return read_layers(content)
    if any("timelinePath" in row for row in known):
        return with_places(_rows(_points(known)))
    if "locations" in about or (known and len(known) == len(rows) and "semanticSegments" not in about):
        return _rows(known)
    raise BadDataset(
        "it is no GeoJSON: no object with a type at its top; known beside it are Records and Timeline of "
        "Google Takeout, and lists of objects with coordinates"
    )


def _points(segments: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Points of a timeline of Google, some of which count minutes from the beginning of their segment."""
    for episode, segment in enumerate(segments):
        for point in segment.get("timelinePath", ()):
            time = point.get("time")
            if not time:
                later = timedelta(minutes=float(point["durationMinutesOffsetFromStartTime"]))
                time = (datetime.fromisoformat(segment["startTime"]) + later).isoformat()
            yield {"episode": episode, "latlon": str(point.get("point")), "time": time}


def _rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, Column]:
    """Objects as rows, what they hold by name; nested ones as NAME.x or NAME.0, 1e7ths of degrees as such."""
    frame = optional("pandas", "geo").json_normalize(list(rows))
    columns = {str(name): frame[name].to_numpy(dtype=object) for name in frame}
    if not columns:
        raise BadDataset("its rows hold no values")
    for name in ("latitude", "longitude"):
        if (cells := columns.pop(f"{name}E7", None)) is not None:
            columns[name] = cells.astype(np.float64) / 1e7
    return _spread(columns)


def _spread(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns, and instead of those of lists of one length, as an array [N, D] has, NAME.0, NAME.1, …."""
    found: dict[str, Column] = {}
    for name, column in columns.items():
        is_list = column.dtype.kind == "O" and all(isinstance(cell, (list, np.ndarray)) for cell in column)
        if is_list and len(column) and len({len(cell) for cell in column}) == 1:
            found |= {f"{name}.{k}": values for k, values in enumerate(np.array(list(column)).T)}
        else:
            found[name] = column
    return found


def read_arrow(path: Path) -> dict[str, Column]:
    """Columns of a Parquet or an Arrow file, with its geometry as coordinates."""
    kind = "parquet" if path.suffix.lower() == ".parquet" else "feather"
    table = optional(f"pyarrow.{kind}", "parquet").read_table(path)
    known = {name: table.column(name).to_numpy() for name in table.column_names}
    metadata = table.schema.metadata or {}
    if b"geo" in metadata:
        about = json.loads(metadata[b"geo"])
        primary = about["primary_column"]
        geometry = about["columns"][primary]
        if geometry.get("encoding", "WKB") != "WKB":
            raise BadDataset(f"its geometry is encoded as {geometry['encoding']!r:.40}, expected WKB")
        system = geometry.get("crs")
        is_geographic = not isinstance(system, Mapping) or str(system.get("type", "")).startswith("Geo")
        known = _of_shapes(known.pop(primary), known, is_geographic)
    return _spread(known)


def with_places(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns of text with the places in the cells of one of them as coordinates; as they are where none has
    any. Longitude comes first, unless the column is called latlon or the like; refused where either could be
    the latitude and no name says which is.

    When a trip began is the time of none of its places, so such columns are left out.
    """
    name = next((name for name, column in columns.items() if lists_places(column)), None)
    if name is None and not has_axes(columns):
        name = next((name for name, column in columns.items() if PAIR.fullmatch(_first(column))), None)
    if name is None:
        return dict(columns)
    order, first = order_of(name), _first(columns[name])
    lines = [_written(name, row, str(cell)) for row, cell in enumerate(columns[name], start=1)]
    places = np.concatenate(lines)
    if not order and (name == NAMELESS or PAIR.fullmatch(first)):
        axes = coordinate_axes(places)
        if axes.is_degrees and not axes.is_certain:
            ways = [",".join(way if one == name else one for one in columns) for way in ("latlon", "lonlat")]
            raise BadDataset(
                f"longitude or latitude could come first in {name}, {first!r:.40}; add --header "
                + " or --header ".join(ways)
            )
    if order == "latlon":
        places = places[:, ::-1]
    counts = [len(line) for line in lines]
    owner, is_line = np.repeat(np.arange(len(lines)), counts), max(counts) > 1
    rest = {
        other: column
        for other, column in columns.items()
        if other != name and not (is_line and is_time(other) and not str(column[0]).startswith("["))
    }
    return _of_places(places, owner, owner if is_line else None, rest)


def lists_places(column: Column) -> bool:
    """Whether the first cell that holds anything begins as a list of places or well-known text does."""
    return re.match(r"\s*(\[\s*\[|(POINT|LINESTRING)\s*Z?\s*\()", _first(column), re.IGNORECASE) is not None


def _first(column: Column) -> str:
    """The first cell that holds anything, "" where it is no text."""
    cells = column if column.dtype.kind == "O" else ()
    return next((cell for cell in cells if isinstance(cell, str) and cell.strip() not in ("", "[]")), "")


def _written(name: str, row: int, cell: str) -> FloatArray:
    """[n, 2] the places of a cell, in whichever way they are written."""
    shapely = optional("shapely", "geo")
    try:
        if pair := PAIR.fullmatch(cell):
            found: Any = [pair.groups()]
        elif cell.strip()[:1].isalpha():
            found = shapely.get_coordinates(shapely.from_wkt(cell))
        else:
            found = json.loads(cell or "[]")
        return np.array([place[:2] for place in found], dtype=np.float64).reshape(len(found), 2)
    except (ValueError, TypeError, KeyError, RecursionError, shapely.errors.GEOSException):
        raise BadDataset(
            f"{name} holds {cell!r:.40} in row {row}, expected places such as [[-8.6, 41.1], [-8.7, 41.2]]"
        ) from None
