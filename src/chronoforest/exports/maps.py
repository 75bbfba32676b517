"""A road network as the files that routing engines, robots and map programs read.

Two states at one place are two nodes, so a turn that was never made is not in any of these files and none of
them needs a turn restriction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import shapely

from chronoforest.errors import InvalidParameter
from chronoforest.exports.network import Network
from chronoforest.exports.plans import feature
from chronoforest.exports.streets import streets
from chronoforest.files import drafted, write_text
from chronoforest.names import optional
from chronoforest.types import FloatArray

KMH = 3.6
"""Kilometres an hour of one metre a second."""


def check_ending(path: Path) -> None:
    """Refuse a path whose ending names no format."""
    endings = (*WRITERS, ".csv")
    if not path.name.lower().endswith(endings):
        raise InvalidParameter(f"{path}: write one of {', '.join(endings)}")


def write_network(network: Network, path: Path, preset: str, hour: int | None = None) -> None:
    """Write a network in the format that the path's ending names."""
    check_ending(path)
    name = path.name.lower()
    if name.endswith(".csv"):
        return write_text(path, segment_speeds(network, hour))
    return next(write for ending, write in WRITERS.items() if name.endswith(ending))(network, path, preset)


def _write_osm(network: Network, path: Path, _: str) -> None:
    """OpenStreetMap's XML, or its PBF: every segment of a street a way, and the turns that nobody makes as
    restrictions."""
    _refuse_units(network, path)
    osmium = optional("osmium", "osm")
    mutable, found = osmium.osm.mutable, streets(network)
    both = {pair: row for row, pair in enumerate(found.pairs)}
    speed = np.maximum(np.rint(found.speed * KMH), 1).astype(int).tolist()
    ways: dict[tuple[int, int], int] = {}
    with drafted(path) as draft:
        target = draft.with_name(f"{draft.name}.{'osm.pbf' if path.suffix == '.pbf' else 'osm'}")
        writer = osmium.SimpleWriter(str(target))
        try:
            for row, place in enumerate(network.frame.to_user(found.nodes).tolist(), start=1):
                writer.add_node(mutable.Node(id=row, location=tuple(place)))
            for (a, b), row in both.items():
                if (b, a) in ways:
                    continue
                tags = {
                    "highway": "tertiary",
                    "recordings": str(found.count[row]),
                    "oneway": "yes",
                    "maxspeed": str(speed[row]),
                }
                if (b, a) in both:
                    tags |= {
                        "oneway": "no",
                        "maxspeed:forward": str(speed[row]),
                        "maxspeed:backward": str(speed[both[b, a]]),
                    }
                ways[a, b] = len(ways) + 1
                writer.add_way(mutable.Way(id=ways[a, b], nodes=[a + 1, b + 1], tags=tags))
            for number, (a, via, b) in enumerate(found.forbidden.tolist(), start=1):
                way, onto = (ways.get(pair) or ways[pair[::-1]] for pair in ((a, via), (via, b)))
                tags = {"type": "restriction", "restriction": "no_u_turn" if a == b else "no_straight_on"}
                members = [("w", way, "from"), ("n", via + 1, "via"), ("w", onto, "to")]
                writer.add_relation(mutable.Relation(id=number, members=members, tags=tags))
        finally:
            writer.close()
        target.replace(draft)


def segment_speeds(network: Network, hour: int | None = None) -> str:
    """OSRM's --segment-speed-file for the .osm of the same network: nodes and km/h of every segment, at an
    hour of the day."""
    found, pace = streets(network), 1.0 if hour is None else float(network.pace[hour])
    speed = np.maximum(found.speed / pace * KMH, 0.1).tolist()
    return "".join(f"{a + 1},{b + 1},{kmh:.2f}\n" for (a, b), kmh in zip(found.pairs, speed, strict=True))


def _write_nav2(network: Network, path: Path, _: str) -> None:
    """The graph of Nav2's route server, in the plane's coordinates; costs are seconds."""
    count = len(network.position)
    nodes = [
        feature("Point", place, id=row, frame="map") for row, place in enumerate(_rounded(network.position))
    ]
    edges = [
        feature(
            "MultiLineString",
            [_rounded(network.line(np.array([hop])))],
            id=count + hop,
            startid=int(network.source[hop]),
            endid=int(network.target[hop]),
            cost=round(float(network.seconds[hop]), 3),
            overridable=False,
            metadata={"recordings": int(network.count[hop])},
        )
        for hop in range(network.num_hops)
    ]
    write_text(path, json.dumps({"type": "FeatureCollection", "name": "graph", "features": nodes + edges}))


def _write_lif(network: Network, path: Path, preset: str) -> None:
    """VDMA's Layout Interchange Format, version 1.0.0: nodes with the heading in which they are passed."""
    vehicle = "any"
    nodes = [
        {
            "nodeId": f"n{row}",
            "mapId": preset,
            "nodePosition": {"x": x, "y": y},
            "vehicleTypeNodeProperties": [{"vehicleTypeId": vehicle, "theta": round(float(theta), 4)}],
        }
        for row, ((x, y), theta) in enumerate(zip(_rounded(network.position), network.heading, strict=True))
    ]
    speed = network.length / network.seconds
    edges = [
        {
            "edgeId": f"e{hop}",
            "startNodeId": f"n{network.source[hop]}",
            "endNodeId": f"n{network.target[hop]}",
            "vehicleTypeEdgeProperties": [
                {
                    "vehicleTypeId": vehicle,
                    "vehicleOrientation": 0.0,
                    "maxSpeed": round(float(speed[hop]), 3),
                    "rotationAllowed": False,
                }
            ],
        }
        for hop in range(network.num_hops)
    ]
    layout = {"layoutId": preset, "layoutName": preset, "layoutVersion": "1", "layoutLevelId": "0"}
    meta = {
        "projectIdentification": preset,
        "creator": "chronoforest",
        "exportTimestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "lifVersion": "1.0.0",
    }
    layouts = [{**layout, "nodes": nodes, "edges": edges, "stations": []}]
    write_text(path, json.dumps({"metaInformation": meta, "layouts": layouts}))


def _write_gpkg(network: Network, path: Path, _: str) -> None:
    """A GeoPackage with a layer of hops and one of states."""
    pyogrio = optional("pyogrio", "geo")
    system = "EPSG:4326" if network.frame.is_degrees else None
    lines = shapely.to_wkb(shapely.transform(network.lines, network.frame.to_user))
    points = shapely.to_wkb(shapely.points(network.places))
    hops = {
        "source": network.source,
        "target": network.target,
        "seconds": network.seconds,
        "length": network.length,
        "recordings": network.count,
    }
    states = {"state": np.arange(len(points)), "heading": network.heading}
    with drafted(path) as draft:
        target = draft.with_suffix(".gpkg")
        for layer, kind, shapes, columns in (
            ("hops", "LineString", lines, hops),
            ("states", "Point", points, states),
        ):
            pyogrio.raw.write(
                target,
                shapes,
                list(columns.values()),
                list(columns),
                layer=layer,
                driver="GPKG",
                geometry_type=kind,
                crs=system,
                append=target.is_file(),
            )
        target.replace(draft)


def _rounded(places: FloatArray) -> list[list[float]]:
    return np.round(places, 4).tolist()


def _refuse_units(network: Network, path: Path) -> None:
    if not network.frame.is_degrees:
        raise InvalidParameter(f"{path}: OpenStreetMap is in degrees, these recordings are not; write .gpkg")


WRITERS: dict[str, Callable[[Network, Path, str], None]] = {
    ".osm": _write_osm,
    ".osm.pbf": _write_osm,
    "nav2.geojson": _write_nav2,
    "lif.json": _write_lif,
    ".gpkg": _write_gpkg,
}
