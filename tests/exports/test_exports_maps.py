"""Exported worlds, read back by the programs that they are for, or by their schemas."""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest
from scipy.spatial import cKDTree
from town import FRAME, NETWORK, ROUTER, places

from chronoforest.cli.learn import export
from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.exports.maps import segment_speeds, write_network
from chronoforest.exports.network import Network
from chronoforest.exports.streets import streets

HOPS = set(zip(NETWORK.source.tolist(), NETWORK.target.tolist(), strict=True))
LIF = {
    "type": "object",
    "required": ["metaInformation", "layouts"],
    "properties": {
        "metaInformation": {
            "type": "object",
            "required": ["projectIdentification", "creator", "exportTimestamp", "lifVersion"],
        },
        "layouts": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["layoutId", "layoutVersion", "nodes", "edges", "stations"],
                "properties": {
                    "nodes": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["nodeId", "nodePosition", "vehicleTypeNodeProperties"],
                            "properties": {
                                "nodeId": {"type": "string"},
                                "nodePosition": {
                                    "type": "object",
                                    "required": ["x", "y"],
                                    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
                                },
                                "vehicleTypeNodeProperties": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["vehicleTypeId"],
                                        "properties": {
                                            "theta": {"type": "number", "minimum": -3.1416, "maximum": 3.1416}
                                        },
                                    },
                                },
                            },
                        },
                    },
                    "edges": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["edgeId", "startNodeId", "endNodeId", "vehicleTypeEdgeProperties"],
                            "properties": {
                                "vehicleTypeEdgeProperties": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["vehicleTypeId", "vehicleOrientation"],
                                        "properties": {"maxSpeed": {"type": "number", "minimum": 0}},
                                    },
                                }
                            },
                        },
                    },
                },
            },
        },
    },
}
"""What VDMA's Layout Interchange Format 1.0.0 requires, written down from its guideline."""


def read_streets(path):
    """Directed pairs of nodes, forbidden turns and the nodes' places of a file of OpenStreetMap."""
    osmium = pytest.importorskip("osmium")
    ways, forbidden, spots = {}, set(), {}
    for entity in osmium.FileProcessor(str(path)):
        if entity.is_node():
            spots[entity.id - 1] = entity.location.lon, entity.location.lat
        elif entity.is_way():
            nodes = tuple(node.ref - 1 for node in entity.nodes)
            ways[entity.id] = {nodes} | ({nodes[::-1]} if entity.tags["oneway"] == "no" else set())
        else:
            way, via, onto = (member.ref for member in entity.members)
            found = {(a, b, d) for a, b in ways[way] for c, d in ways[onto] if b == c == via - 1}
            assert len(found) == 1
            assert entity.tags["restriction"].startswith("no_")
            forbidden |= found
    return set().union(*ways.values()), forbidden, spots


@pytest.mark.parametrize("name", ["city.osm", "city.osm.pbf"])
def test_ways_of_openstreetmap_allow_the_turns_of_hops_and_no_others(tmp_path, name):
    write_network(NETWORK, tmp_path / name, "town")
    segments, forbidden, spots = read_streets(tmp_path / name)
    assert segments == {(int(a) - 1, int(b) - 1) for a, b, _ in speeds()}
    places = np.array([spots[row] for row in range(len(spots))])
    gap, node = cKDTree(FRAME.to_local(places)).query(NETWORK.position)
    assert gap.max() < 0.05
    assert len(places) < 0.7 * len(NETWORK.position)
    hops = [(int(node[a]), int(node[b])) for a, b in HOPS]
    assert segments == set(hops)
    onward = {}
    for a, b in HOPS:
        onward.setdefault(a, []).append(b)
    turns = {(node[a], node[b], node[c]) for a, b in HOPS for c in onward.get(b, ())}
    both = {(a, b, c) for a, b in segments for d, c in segments if b == d}
    assert both - forbidden == turns


def test_two_directions_a_few_metres_apart_are_one_way():
    along = 10.0 * np.arange(20)
    forth, back = (
        np.stack([along + shift, np.full(20, y)], axis=1) for shift, y in ((0.0, -3.0), (4.0, 3.0))
    )
    hops = [(k, k + 1) for k in range(19)] + [(k + 1, k) for k in range(20, 39)]
    heading = np.repeat([0.0, np.pi], 20)
    network = Network.straight(
        np.concatenate([forth, back]), heading, np.array(hops), np.ones(38), 12.0, FRAME
    )
    found = streets(network)
    pairs = set(found.pairs)
    inner = [pair for pair in pairs if 10.0 < found.nodes[list(pair), 0].min() < 170.0]
    assert all((b, a) in pairs for a, b in inner)
    np.testing.assert_allclose(found.nodes[list({a for a, _ in inner}), 1], 0.0, atol=1e-6)
    is_back = (found.forbidden[:, 0] == found.forbidden[:, 2]).sum()
    assert is_back == len(found.forbidden) > 10


def speeds():
    return [line.split(",") for line in segment_speeds(NETWORK).splitlines()]


def test_segment_speeds_are_those_of_the_hops():
    speed = np.array([float(row[2]) for row in speeds()])
    own = NETWORK.length / NETWORK.seconds * 3.6
    assert (np.abs(speed[:, None] - own) < 0.011).any(axis=1).all()


def test_nav2s_edges_join_its_nodes(tmp_path):
    write_network(NETWORK, tmp_path / "nav2.geojson", "town")
    features = json.loads((tmp_path / "nav2.geojson").read_text())["features"]
    nodes = {one["properties"]["id"]: one for one in features if one["geometry"]["type"] == "Point"}
    edges = [one for one in features if one["geometry"]["type"] == "MultiLineString"]
    ids = [one["properties"]["id"] for one in features]
    assert len(set(ids)) == len(ids)
    assert {(one["properties"]["startid"], one["properties"]["endid"]) for one in edges} == HOPS
    for one in edges:
        (line,) = one["geometry"]["coordinates"]
        ends = [nodes[one["properties"][name]]["geometry"]["coordinates"] for name in ("startid", "endid")]
        assert [line[0], line[-1]] == ends
        assert one["properties"]["cost"] >= 0


def test_layouts_are_what_their_format_requires(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    write_network(NETWORK, tmp_path / "lif.json", "town")
    values = json.loads((tmp_path / "lif.json").read_text())
    jsonschema.validate(values, LIF)
    (layout,) = values["layouts"]
    names = {node["nodeId"] for node in layout["nodes"]}
    assert {edge[end] for edge in layout["edges"] for end in ("startNodeId", "endNodeId")} <= names


def test_a_geopackage_is_read_back(tmp_path):
    pyogrio = pytest.importorskip("pyogrio")
    path = tmp_path / "graph.gpkg"
    write_network(NETWORK, path, "town")
    about, _, shapes, (source, target) = pyogrio.raw.read(path, layer="hops", columns=["source", "target"])
    assert set(zip(source.tolist(), target.tolist(), strict=True)) == HOPS
    assert (about["crs"], about["geometry_type"]) == ("EPSG:4326", "LineString")
    first = np.frombuffer(shapes[0][9:], dtype="<f8").reshape(-1, 2)
    np.testing.assert_allclose(first[0], NETWORK.places[source[0]])
    assert len(pyogrio.raw.read(path, layer="states")[2]) == len(NETWORK.position)


def test_arrays_are_a_graph_of_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    ends = NETWORK.source.tolist(), NETWORK.target.tolist()
    graph.add_weighted_edges_from(zip(*ends, NETWORK.seconds.tolist(), strict=True))
    start = int(NETWORK.source[0])
    seconds = networkx.single_source_dijkstra_path_length(graph, start)
    for goal in list(seconds)[::40]:
        route = ROUTER.search.leg((np.array([start]), np.zeros(1)), [(np.array([goal]), np.zeros(1))])
        assert route.cost[0] == pytest.approx(seconds[goal], abs=2e-3)


def test_unknown_endings_and_plain_coordinates_are_refused(tmp_path):
    with pytest.raises(InvalidParameter, match=r"town\.shp"):
        write_network(NETWORK, tmp_path / "town.shp", "town")
    plain = Network.straight(np.zeros((1, 2)), np.zeros(1), np.zeros((0, 2), int), np.zeros(0), 5.0, Frame())
    with pytest.raises(InvalidParameter, match="degrees"):
        write_network(plain, tmp_path / "town.osm", "town")


def osrm(name):
    """A program of OSRM: on the path, or in the folder OSRM_PROGRAMS, as the wheel osrm-bindings has them."""
    folder = os.environ.get("OSRM_PROGRAMS")
    path = str(Path(folder) / name) if folder else shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed; OSRM_PROGRAMS names the folder of OSRM's programs")
    return path


@contextmanager
def serving(folder):
    """osrm-routed over the town, exported to a folder."""
    pytest.importorskip("osmium")
    routed, extract, contract = (osrm(name) for name in ("osrm-routed", "osrm-extract", "osrm-contract"))
    profile = Path(__file__).parents[2] / "examples" / "recorded.lua"
    for name in ("town.osm.pbf", "speeds.csv"):
        write_network(NETWORK, folder / name, "town")
    quiet = {"cwd": folder, "check": True, "capture_output": True}
    subprocess.run([extract, "-p", profile, "town.osm.pbf"], **quiet)
    subprocess.run([contract, "--segment-speed-file", "speeds.csv", "town.osrm"], **quiet)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([routed, "-p", str(port), "-t", "1", "town.osrm"], cwd=folder)
    try:
        for _ in range(100):
            with suppress(URLError):
                urlopen(f"http://127.0.0.1:{port}/nearest/v1/driving/-87.65,41.87")
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def test_osrm_on_the_exported_file_answers_as_we_do(tmp_path):
    path = Path(__file__).parents[2] / "examples" / "osrm_front.py"
    spec = importlib.util.spec_from_file_location("osrm_front", path)
    front = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(front)
    ratios = []
    with serving(tmp_path) as server:
        for start, goal in places(60).reshape(-1, 2, 2):
            stops = [ROUTER.snap(FRAME.to_local(place)) for place in (start, goal)]
            own = ROUTER.route(stops)
            if own is None or len(own.legs[0]) < 10:
                continue
            answer = front.route(server, ROUTER, tuple(start), tuple(goal))
            assert answer["code"] == "Ok"
            nodes = [node - 1 for node in answer["routes"][0]["legs"][0]["annotation"]["nodes"]]
            turns = set(zip(nodes, nodes[1:], nodes[2:], strict=False))
            assert not turns & set(map(tuple, streets(NETWORK).forbidden.tolist()))
            ratios.append(answer["routes"][0]["distance"] / NETWORK.length[own.legs[0]].sum())
    assert len(ratios) > 5
    assert np.mean(ratios) < 1.1


def test_an_ending_that_names_no_format_is_refused_before_the_network_is_loaded(tmp_path):
    with pytest.raises(InvalidParameter, match=r"town\.foo"):
        export(tmp_path / "town.foo", preset="point-giant")
