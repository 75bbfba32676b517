"""Exported worlds, read back by the programs that they are for, or by their schemas."""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest
from town import FRAME, NETWORK, ROUTER, places

from chronoforest.cli.learn import export
from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.exports.maps import chains, segment_speeds, write_network
from chronoforest.exports.network import Network

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


def osm_hops(path):
    """Pairs of nodes that follow each other on ways, and the nodes' places."""
    osmium = pytest.importorskip("osmium")
    found, spots = set(), {}
    for entity in osmium.FileProcessor(str(path)):
        if entity.is_node():
            spots[entity.id - 1] = entity.location.lon, entity.location.lat
        elif entity.is_way():
            assert entity.tags["oneway"] == "yes"
            nodes = [node.ref - 1 for node in entity.nodes]
            found |= set(pairwise(nodes))
    return found, spots


@pytest.mark.parametrize("name", ["city.osm", "city.osm.pbf"])
def test_ways_of_openstreetmap_are_the_hops_and_nothing_else(tmp_path, name):
    pytest.importorskip("osmium")
    write_network(NETWORK, tmp_path / name, "town")
    found, spots = osm_hops(tmp_path / name)
    assert found == HOPS
    np.testing.assert_allclose([spots[row] for row in range(len(spots))], NETWORK.places, atol=2e-7)


def test_every_hop_is_in_one_chain():
    found = chains(NETWORK)
    assert sorted(np.concatenate(found).tolist()) == list(range(NETWORK.num_hops))
    assert len(found) < NETWORK.num_hops / 2
    for chain in found:
        assert (NETWORK.target[chain[:-1]] == NETWORK.source[chain[1:]]).all()


def test_a_ring_without_a_choice_is_a_chain():
    ring = np.array([[0.0, 0.0], [9.0, 0.0], [9.0, 9.0]])
    hops = np.array([[0, 1], [1, 2], [2, 0]])
    network = Network.straight(ring, np.zeros(3), hops, np.ones(3), 5.0, FRAME)
    assert [len(chain) for chain in chains(network)] == [3]


def test_segment_speeds_are_those_of_the_hops():
    rows = [line.split(",") for line in segment_speeds(NETWORK).splitlines()]
    assert {(int(a) - 1, int(b) - 1) for a, b, _ in rows} == HOPS
    speed = np.array([float(row[2]) for row in rows])
    np.testing.assert_allclose(speed, NETWORK.length / NETWORK.seconds * 3.6, atol=0.01)


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
        route = ROUTER.hierarchy.leg((np.array([start]), np.zeros(1)), [(np.array([goal]), np.zeros(1))])
        assert route.cost[0] == pytest.approx(seconds[goal])


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
    profile = Path(routed).parents[1] / "share" / "profiles" / "car.lua"
    if not profile.is_file():
        pytest.skip(f"no profile at {profile}")
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
            assert set(pairwise(nodes)) <= HOPS
            ratios.append(answer["routes"][0]["distance"] / NETWORK.length[own.legs[0]].sum())
    assert len(ratios) > 5
    assert np.mean(ratios) < 1.1


def test_an_ending_that_names_no_format_is_refused_before_the_network_is_loaded(tmp_path):
    with pytest.raises(InvalidParameter, match=r"town\.foo"):
        export(tmp_path / "town.foo", preset="point-giant")
