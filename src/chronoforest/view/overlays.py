"""Overlays: any GeoJSON in the user's coordinates, as lines and points of the plane that the page draws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import BadOverlay
from chronoforest.files import reading
from chronoforest.types import FloatArray, Support
from chronoforest.view.rounds import decimals_for

MOST_BYTES = 200_000_000
MOST_POINTS = 3_000_000

LINES = {"LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}
"""Geometries with lines, and how deep places lie in their lists."""

POINTS = ("Point", "MultiPoint")


@dataclass(frozen=True, eq=False)
class Overlay:
    """Lines [n, 2] each, outlines of areas among them, and points [m, 2]; in whatever coordinates."""

    lines: tuple[FloatArray, ...]
    points: FloatArray

    @property
    def places(self) -> FloatArray:
        """[n, 2] all of them."""
        return np.concatenate([*self.lines, self.points])

    def placed(self, frame: Frame, support: Support, path: Path) -> Overlay:
        """The same in the plane; refused where it is in other coordinates than the recordings, or elsewhere
        altogether."""
        places = self.places
        if not frame.is_known(places).all():
            odd = frame.show(places[~frame.is_known(places)][0])
            raise BadOverlay(f"{path}: {odd} is no longitude and latitude, and the recordings are in degrees")
        decimals = decimals_for(support.cell)
        lines = tuple(np.round(frame.to_local(line), decimals) for line in self.lines)
        local = Overlay(lines, np.round(frame.to_local(self.points), decimals))
        left, right, bottom, top = support.extent
        is_near = ((local.places >= (left, bottom)) & (local.places <= (right, top))).all(axis=1)
        if not is_near.any():
            here = frame.show_local(np.array([(left + right) / 2, (bottom + top) / 2]))
            raise BadOverlay(
                f"{path}: nothing of it lies where the recordings do: it is around "
                f"{frame.show(np.median(places, axis=0))}, they are around {here}; "
                "it must be in their coordinates"
            )
        return local

    def to_dict(self) -> dict[str, Any]:
        """Numbers x, y, x, y, … for JSON."""
        return {
            "lines": [line.ravel().tolist() for line in self.lines],
            "points": self.points.ravel().tolist(),
        }


def read_overlay(path: Path) -> Overlay:
    """What a GeoJSON file holds; whatever is wrong with it is one sentence."""
    if not path.is_file():
        raise BadOverlay(f"{path}: no such file")
    if path.stat().st_size > MOST_BYTES:
        raise BadOverlay(
            f"{path} has {path.stat().st_size / 1e6:.0f} MB, an overlay may have {MOST_BYTES / 1e6:.0f}"
        )
    with reading(path, "GeoJSON", BadOverlay):
        try:
            return _collected(_geometries(json.loads(path.read_text(encoding="utf-8-sig"))))
        except RecursionError as error:
            raise ValueError("its parts are nested too deep") from error


def _collected(geometries: Iterable[Mapping[str, Any]]) -> Overlay:
    """Lines and points of geometries of any type."""
    lines: list[FloatArray] = []
    points: list[FloatArray] = []
    for geometry in geometries:
        kind, coordinates = geometry.get("type"), geometry.get("coordinates")
        if kind in LINES:
            lines += [line for line in _unnested(coordinates, LINES[kind]) if len(line) > 1]
        elif kind in POINTS:
            points += _unnested([coordinates] if kind == "Point" else coordinates, 1)
        else:
            raise ValueError(f"a geometry is of type {kind!r:.40}")
    if sum(map(len, [*lines, *points])) > MOST_POINTS:
        raise ValueError(f"it has more than {MOST_POINTS} points")
    if not lines and not points:
        raise ValueError("it has neither lines, areas nor points")
    return Overlay(tuple(lines), np.concatenate([np.zeros((0, 2)), *points]))


def _geometries(values: Any) -> Iterator[Mapping[str, Any]]:
    """All geometries of a document, a feature, a collection or a geometry."""
    if not isinstance(values, Mapping) or not isinstance(values.get("type"), str):
        raise ValueError("it has no object with a type at its top")
    parts = {"FeatureCollection": "features", "GeometryCollection": "geometries"}.get(values["type"])
    if parts is not None:
        if not isinstance(values.get(parts), list):
            raise ValueError(f"its {values['type']} has no list of {parts}")
        for part in values[parts]:
            yield from _geometries(part)
    elif values["type"] == "Feature":
        if values.get("geometry") is not None:
            yield from _geometries(values["geometry"])
    else:
        yield values


def _unnested(coordinates: Any, depth: int) -> list[FloatArray]:
    """The lines [n, 2] of coordinates in which they lie so deep."""
    if not isinstance(coordinates, list):
        raise ValueError(f"coordinates are {coordinates!r:.40}")
    if depth > 1:
        return [line for part in coordinates for line in _unnested(part, depth - 1)]
    if not coordinates:
        return []
    line = np.array([place[:2] for place in coordinates], dtype=np.float64)
    if line.ndim != 2 or line.shape[1] != 2 or not np.isfinite(line).all():
        raise ValueError(f"a place is not two finite numbers: {coordinates!r:.60}")
    return [line]
