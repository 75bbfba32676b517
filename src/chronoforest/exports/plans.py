"""Plans as files: JSON that loads back, and the formats of maps and tables, GeoJSON, GPX, CSV and a
DataFrame, with a time and a speed at every point."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.names import optional
from chronoforest.types import FloatArray, Leg, Plan

if TYPE_CHECKING:
    from chronoforest.planning.result import PlanResult

FORMAT = "chronoforest-plan/2"
"""Of JSON that loads back."""

EARLIER = "chronoforest-plan/1"
"""It called legs verified of which the ends alone were checked, or nothing; it still loads."""

SPEED_EXTENSION = "http://www.garmin.com/xmlschemas/TrackPointExtension/v2"


def plan_json(result: PlanResult) -> str:
    """Strict JSON that loads back, without NaN or infinity."""
    as_they_are = [
        "preset",
        "variant",
        "complete",
        "length",
        "raw_length",
        "num_expanded",
        "seconds",
        "unmet",
        "left_out",
    ]
    as_they_are += ["shortfalls", "depart", "notices"]
    values = {
        "format": FORMAT,
        **{name: getattr(result, name) for name in as_they_are},
        "seed": int(result.seed),
        "problem": result.problem.to_dict(),
        "frame": result.frame.to_dict(),
        "routes": [_route_dict(route, result.frame) for route in result.routes],
        "gaps": [
            {**asdict(gap), "reached": gap.reached.tolist(), "wanted": gap.wanted.tolist()}
            for gap in result.gaps
        ],
        "rounds": [_finite(asdict(stats)) for stats in result.rounds],
        "certificate": _finite(asdict(result.certificate)),
        "trees": [{"anchor": t.anchor, "segments": np.round(t.segments, 2).tolist()} for t in result.trees],
        "meetings": result.meetings.tolist(),
        "support": result.support.to_dict(),
    }
    return json.dumps(values, allow_nan=False)


def geojson(result: PlanResult) -> str:
    """A FeatureCollection: a line for every route with its `times`, `speeds` and `along`, and a point for
    every anchor with its time, and `clock_times` where the departure is known. Places are in the user's
    coordinates. Where these are no degrees, `crs` is null, so that no map places them on Earth."""
    features = [_line(result, agent, route) for agent, route in enumerate(result.routes)]
    features += [_point(result, row) for row in range(result.problem.num_anchors)]
    about: dict[str, Any] = {"preset": result.preset, "variant": result.variant, "seed": int(result.seed)}
    facts = {"complete": result.complete, "length": result.length, "frame": result.frame.to_dict()}
    facts |= {} if result.complete else {"shortfalls": result.shortfalls}
    if not result.frame.is_degrees:
        about |= {"crs": None, "geography": "none: coordinates of a plane, not longitude and latitude"}
    return json.dumps({"type": "FeatureCollection", **about, **facts, "features": features}, allow_nan=False)


def gpx(result: PlanResult) -> str:
    """GPX 1.1: a waypoint for every anchor, a track for every route. Points have a time where the departure
    is known, in UTC if it names no other zone; the format knows no times after a departure."""
    check_degrees(result.frame)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<gpx version="1.1" creator="chronoforest" xmlns="http://www.topografix.com/GPX/1/1" '
        f'xmlns:gpxtpx="{SPEED_EXTENSION}">',
    ]
    if not result.complete:
        told = ". ".join([f"incomplete, {result.missing}", *result.shortfalls])
        lines.append(f"<metadata><desc>{escape(told)}</desc></metadata>")
    for label, place in zip(result.problem.labels, result.problem.anchors, strict=True):
        lines.append(f"<wpt {_attributes(place)}><name>{escape(label)}</name></wpt>")
    for agent, route in enumerate(result.routes):
        name = f"agent {agent + 1}: {result.shown_order(route)}"
        lines += [f"<trk><name>{escape(name)}</name><trkseg>", *_track(result, route), "</trkseg></trk>"]
    return "\n".join([*lines, "</gpx>", ""])


def check_degrees(frame: Frame) -> None:
    """Refuse GPX for places that are no degrees."""
    if not frame.is_degrees:
        raise InvalidParameter(
            "GPX needs longitude and latitude, these recordings are in other coordinates; "
            "write .geojson, .csv or .json"
        )


def csv_text(result: PlanResult) -> str:
    """A header and a row for every point of every route."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_header(result))
    writer.writerows(_rows(result))
    return text.getvalue()


def dataframe(result: PlanResult) -> Any:
    """The same as a pandas DataFrame."""
    pandas = optional("pandas", "geo")
    return pandas.DataFrame(list(_rows(result)), columns=_header(result))


def _header(result: PlanResult) -> list[str]:
    clock = ["clock"] if result.depart else []
    return ["agent", "point", *result.frame.axes, "along", "time", "speed", "stop", *clock]


def _rows(result: PlanResult) -> Iterator[list[Any]]:
    """agent, point, the two coordinates, along, time, speed, the label of a stop that is reached, and a date
    where the departure is known."""
    for agent, route in enumerate(result.routes):
        stops = dict(zip(route.stops, map(result.shown, route.order), strict=False))
        times, speeds = _times_and_speeds(route)
        for row, (x, y) in enumerate(np.round(route.path, result.frame.decimals).tolist()):
            measures = [round(float(value), 4) for value in (route.along[row], times[row], speeds[row])]
            yield [
                agent + 1,
                row,
                x,
                y,
                *measures,
                stops.get(row, ""),
                *_clock_times(result, times[row : row + 1]),
            ]


def _clock_times(result: PlanResult, times: FloatArray) -> list[str]:
    """Dates of times, none where the departure is unknown."""
    dates = (result.clock(float(time)) for time in times)
    return [date.isoformat(timespec="milliseconds") for date in dates if date is not None]


def _times_and_speeds(route: Plan) -> tuple[FloatArray, FloatArray]:
    """[T] each; 0 where a plan was saved before it had times."""
    if len(route.times) == len(route.path):
        return route.times, route.speeds
    return np.zeros(len(route.path)), np.zeros(len(route.path))


def _line(result: PlanResult, agent: int, route: Plan) -> dict[str, Any]:
    frame = result.frame
    times, speeds = _times_and_speeds(route)
    path = np.round(_unbroken(route.path) if frame.is_degrees else route.path, frame.decimals)
    # A LineString has two points at least: a route that never leaves stands still at its start.
    rows = np.arange(len(path)) if len(path) != 1 else np.zeros(2, dtype=int)
    return feature(
        "LineString",
        path[rows].tolist(),
        agent=agent + 1,
        order=list(route.order),
        labels=[result.shown(name) for name in route.order],
        length=route.length,
        length_unit=frame.unit,
        duration=route.duration,
        time_unit=frame.time_unit,
        times=np.round(times[rows], 3).tolist(),
        speeds=np.round(speeds[rows], 4).tolist(),
        along=np.round(route.along[rows], 3).tolist(),
        **({"clock_times": _clock_times(result, times[rows])} if result.depart else {}),
    )


def _point(result: PlanResult, row: int) -> dict[str, Any]:
    """An anchor, who visits it and when; null where nobody does."""
    name = result.problem.names[row]
    visit: dict[str, Any] = {"label": result.problem.labels[row], "agent": None, "time": None}
    for agent, route in enumerate(result.routes):
        reached = dict(zip(route.order, route.stops, strict=False))
        if name in reached:
            time = _times_and_speeds(route)[0][[reached[name]]]
            visit |= {"agent": agent + 1, "time": round(float(time[0]), 3)}
            visit |= {"clock_time": _clock_times(result, time)[0]} if result.depart else {}
    return feature("Point", result.problem.anchors[row].tolist(), name=name, **visit)


def feature(kind: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    """A feature of GeoJSON."""
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def _unbroken(path: FloatArray) -> FloatArray:
    """Longitudes that run on across the antimeridian, as maps draw them without a line around the globe."""
    return np.stack([np.unwrap(path[:, 0], period=360.0), path[:, 1]], axis=1)


def _track(result: PlanResult, route: Plan) -> Iterator[str]:
    times, speeds = _times_and_speeds(route)
    for place, time, speed in zip(route.path, times.tolist(), speeds.tolist(), strict=True):
        date = result.clock(time)
        stamp = "" if date is None else f"<time>{_utc(date)}</time>"
        pace = f"<gpxtpx:speed>{speed:.3f}</gpxtpx:speed>" if result.frame.has_clock else ""
        extension = f"<gpxtpx:TrackPointExtension>{pace}</gpxtpx:TrackPointExtension>"
        yield f"<trkpt {_attributes(place)}>{stamp}<extensions>{extension}</extensions></trkpt>"


def _utc(date: datetime) -> str:
    """A date as GPX has it; one that names no zone is in UTC."""
    known = date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    return known.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _attributes(place: FloatArray) -> str:
    """Latitude and longitude as GPX has them, the longitude within −180 and 180."""
    longitude = (float(place[0]) + 180.0) % 360.0 - 180.0
    return f'lat="{float(place[1]):.8f}" lon="{longitude:.8f}"'


def _route_dict(route: Plan, frame: Frame) -> dict[str, Any]:
    known = asdict(route)
    del known["along"]  # follows from the path and the frame
    path, times = np.round(route.path, frame.decimals).tolist(), np.round(route.times, 5).tolist()
    return {**known, "path": path, "times": times, "legs": [_leg_dict(leg, frame) for leg in route.legs]}


def _leg_dict(leg: Leg, frame: Frame) -> dict[str, Any]:
    way = None if leg.proposed is None else np.round(leg.proposed, frame.decimals).tolist()
    return {**_finite(asdict(replace(leg, proposed=None))), "proposed": way}


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON knows no infinity: what is unbounded or unknown is written as null."""
    is_odd = {name: isinstance(value, float) and not np.isfinite(value) for name, value in values.items()}
    return {name: None if is_odd[name] else value for name, value in values.items()}
