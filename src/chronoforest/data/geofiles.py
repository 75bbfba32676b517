"""Tracks in the formats of maps and watches: GPX, KML, TCX and GeoJSON, read as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from chronoforest.errors import BadDataset

DEGREES, PLANE = ("longitude", "latitude"), ("x", "y")

DEEPEST = 200
"""Elements within elements; no track needs as many."""

TIME_KEYS = ("coordTimes", "times", "timestamps", "time")
"""Properties in which GeoJSON lines keep a time for every point."""


@dataclass
class Points:
    """Points one after the other, as the lists that columns are made of."""

    episode: list[str] = field(default_factory=list)
    places: list[tuple[float, float]] = field(default_factory=list)
    times: list[Any] = field(default_factory=list)

    def add(self, episode: str, places: Sequence[tuple[float, float]], times: Sequence[Any] = ()) -> None:
        """A line; times: one for every place, or none at all."""
        if times and len(times) != len(places):
            raise BadDataset(f"track {episode!r:.40} has {len(places)} places and {len(times)} times")
        self.episode += [episode] * len(places)
        self.places += places
        self.times += times or [None] * len(places)

    def columns(self, axes: tuple[str, str] = DEGREES) -> dict[str, NDArray[Any]]:
        """Coordinates, episode, and time where any point has one."""
        if not self.places:
            raise BadDataset("it has no tracks")
        places = np.array(self.places, dtype=np.float64)
        columns = {axes[0]: places[:, 0], axes[1]: places[:, 1], "episode": cells_of(self.episode)}
        return {**columns, "time": cells_of(self.times)} if any(self.times) else columns


def read_gpx(content: bytes) -> dict[str, NDArray[Any]]:
    """Every segment of every track is a recording; where there are no tracks, every route."""
    root, points = parse_xml(content), Points()
    if root.tag != "gpx":
        raise BadDataset(f"its root is <{root.tag:.40}>, expected <gpx>")
    lines = [("trkpt", segment) for segment in root.iter("trkseg")]
    for number, (kind, line) in enumerate(lines or [("rtept", route) for route in root.iter("rte")]):
        found = line.findall(kind)
        times = [point.findtext("time") for point in found]
        points.add(str(number), [_gpx_place(point) for point in found], times if any(times) else [])
    return points.columns()


def read_kml(content: bytes) -> dict[str, NDArray[Any]]:
    """Every track with times and every line is a recording."""
    root, points = parse_xml(content), Points()
    for number, line in enumerate([*root.iter("Track"), *root.iter("LineString")]):
        if line.tag == "Track":
            places = [_kml_place(coord.text or "", None) for coord in line.findall("coord")]
            points.add(str(number), places, [when.text for when in line.findall("when")])
        else:
            words = (line.findtext("coordinates") or "").split()
            points.add(str(number), [_kml_place(word, ",") for word in words])
    return points.columns()


def read_tcx(content: bytes) -> dict[str, NDArray[Any]]:
    """Every track of every lap is a recording; points without a place are left out."""
    root, points = parse_xml(content), Points()
    for number, track in enumerate(root.iter("Track")):
        found = [point for point in track.findall("Trackpoint") if point.find("Position") is not None]
        places = [_tcx_place(point) for point in found]
        points.add(str(number), places, [point.findtext("Time") for point in found])
    return points.columns()


def geojson_columns(values: Any) -> dict[str, NDArray[Any]]:
    """Every line is a recording; points are rows whose properties are columns."""
    features = list(_features(values))
    rows = [feature for feature in features if _kind(feature) == "Point"]
    points = Points()
    for number, feature in enumerate(features):
        _add_lines(points, str(number), feature)
    if points.places:
        return points.columns(_axes(values, points.places))
    if not rows:
        raise BadDataset("it has neither lines nor points")
    places = [_position(feature["geometry"]["coordinates"]) for feature in rows]
    axes = _axes(values, places)
    properties = [feature.get("properties") or {} for feature in rows]
    names = dict.fromkeys(name for known in properties for name in known if name not in axes)
    columns = {axis: np.array([place[k] for place in places]) for k, axis in enumerate(axes)}
    return {**columns, **{name: cells_of([known.get(name) for known in properties]) for name in names}}


def parse_xml(content: bytes) -> Element:
    """The root of an XML document, names without their namespaces; one that declares its own types or
    entities is refused, since those can unfold to any size."""
    builder, depth = TreeBuilder(), 0
    parser = expat.ParserCreate()

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise BadDataset(f"its elements are nested more than {DEEPEST} deep")
        builder.start(name.rpartition(":")[2], dict(attributes))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name.rpartition(":")[2])

    def refuse(*_: object) -> None:
        raise BadDataset("it declares a document type, which no track needs")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    parser.buffer_text = True
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise BadDataset(f"it is no XML ({error})") from error
    return builder.close()


def _gpx_place(point: Element) -> tuple[float, float]:
    return float(point.attrib["lon"]), float(point.attrib["lat"])


def _tcx_place(point: Element) -> tuple[float, float]:
    longitude, latitude = (point.findtext(f"Position/{axis}Degrees") for axis in ("Longitude", "Latitude"))
    return float(longitude or "nan"), float(latitude or "nan")


def _kml_place(text: str, delimiter: str | None) -> tuple[float, float]:
    longitude, latitude, *_ = text.split(delimiter)
    return float(longitude), float(latitude)


def _features(values: Any) -> Iterator[Mapping[str, Any]]:
    """Every feature with a geometry, of whatever the file holds at its top."""
    if not isinstance(values, Mapping) or "type" not in values:
        raise BadDataset(
            "it is no GeoJSON: no object with a type at its top; known beside it are Records and Timeline of "
            "Google Takeout, and lists of objects with coordinates"
        )
    if values["type"] == "FeatureCollection":
        yield from (feature for feature in values["features"] if feature.get("geometry"))
    elif values["type"] == "Feature":
        yield values
    else:
        yield {"geometry": values}


def _kind(feature: Mapping[str, Any]) -> str:
    return str(feature["geometry"]["type"])


def _add_lines(points: Points, name: str, feature: Mapping[str, Any]) -> None:
    """The lines of a feature, each with its times where the properties have them."""
    kind, properties = _kind(feature), feature.get("properties") or {}
    if kind not in ("LineString", "MultiLineString"):
        return
    coordinates = feature["geometry"]["coordinates"]
    lines = [coordinates] if kind == "LineString" else coordinates
    nested = properties.get("coordinateProperties")
    known = {**properties, **nested} if isinstance(nested, Mapping) else properties
    found: list[Any] = next((known[key] for key in TIME_KEYS if isinstance(known.get(key), list)), [])
    times = [found] if kind == "LineString" else found or [[]] * len(lines)
    for number, (line, when) in enumerate(zip(lines, times, strict=True)):
        points.add(f"{name}.{number}", [_position(place) for place in line], when)


def _position(place: Any) -> tuple[float, float]:
    if not isinstance(place, list) or not all(isinstance(value, (int, float)) for value in place[:2]):
        raise BadDataset(f"a place is {place!r:.40}, expected [longitude, latitude]")
    return float(place[0]), float(place[1])


def _axes(values: Mapping[str, Any], places: Iterable[tuple[float, float]]) -> tuple[str, str]:
    """Longitude and latitude, as the standard wants, unless the file names a metric system or cannot mean
    them."""
    system = str(values.get("crs") or "")
    is_metric = "EPSG" in system.upper() and "4326" not in system
    can_be = all(abs(x) <= 360.0 and abs(y) <= 90.0 for x, y in places)
    return PLANE if is_metric or not can_be else DEGREES


def cells_of(values: Sequence[Any]) -> NDArray[Any]:
    """A column of whatever cells there are."""
    cells = np.empty(len(values), dtype=object)
    cells[:] = ["" if value is None else str(value) for value in values]
    return cells
