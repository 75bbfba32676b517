"""The city's example draws and exports plans, here over made-up streets; its problem lies where real trips
went, if these are at hand."""

import base64
import csv
import gzip
import importlib.util
import json
import os
import shlex
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from fakes import make_planner, scattered_problem

from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.types.problem_files import read_stops

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "city"
DATA = Path(os.environ.get("CHRONOFOREST_CITY", ROOT.parent / "shared" / "data" / "chicago"))


def loaded(name):
    """A module of the example; both examples have a `run`, so none is imported by its bare name."""
    spec = importlib.util.spec_from_file_location(f"city_example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(FOLDER))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


city, run, archives = loaded("city"), loaded("run"), loaded("unpack")


@pytest.fixture
def result():
    return make_planner().plan(scattered_problem(2, 3), variant="online")


def write_streets(path):
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w", newline="") as file:
        rows = [("edge", "x1", "y1", "x2", "y2"), (1, 0, 0, 30, 0), (2, 30, 0, 30, 20)]
        csv.writer(file).writerows(rows)
    return path


@pytest.mark.parametrize("name", ["streets.csv", "streets.csv.gz"])
def test_streets_are_read_packed_or_not(tmp_path, name):
    streets = city.read_streets(write_streets(tmp_path / name))
    assert streets.tolist() == [[[0, 0], [30, 0]], [[30, 0], [30, 20]]]


def test_the_published_archives_become_the_two_tables(tmp_path):
    tracks, maps = tmp_path / "tracks_chicago.zip", tmp_path / "maps_chicago.zip"
    with ZipFile(tracks, "w") as files:
        fixes = "446097.65 4636565.41 1301806255.0\n446077.07 4636565.12 1301806259.0\n"
        files.writestr("chicago/trips/trip_7.txt", fixes)
        files.writestr("chicago/readme.txt", "no trip")
    with ZipFile(maps, "w") as files:
        files.writestr("chicago_vertices_osm.txt", "11,0,0\n12,30,0\n")
        files.writestr("chicago_edges_osm.txt", "1,11,12,1\n")
    archives.unpack(tracks, maps, tmp_path)
    assert (tmp_path / "trips.csv").read_text().splitlines()[:2] == [
        "trip,time,x,y",
        "7,1301806255.0,446097.65,4636565.41",
    ]
    assert city.read_streets(tmp_path / "streets.csv").tolist() == [[[0, 0], [30, 0]]]


def test_an_archive_without_streets_is_told(tmp_path):
    with ZipFile(tmp_path / "maps.zip", "w") as files:
        files.writestr("other.txt", "")
    with pytest.raises(SystemExit, match="should end with vertices_osm"):
        list(archives.streets(tmp_path / "maps.zip"))


def test_a_place_of_utm_has_the_degrees_that_maps_have():
    """The zone lies on its meridian, and a corner of the campus where another series has it."""
    np.testing.assert_allclose(city.to_degrees(np.array([500_000.0, 0.0])), [-87.0, 0.0], atol=1e-9)
    place = city.to_degrees(np.array([446_300.0, 4_635_700.0]))
    np.testing.assert_allclose(place, [-87.64710987, 41.87139562], atol=1e-8)  # Snyder, 1987, p. 63


def test_the_plan_for_maps_is_the_plan_in_degrees(result):
    collection = json.loads(city.for_maps(result))
    lines = [f for f in collection["features"] if f["geometry"]["type"] == "LineString"]
    assert len(lines) == len(result.routes)
    for feature, route in zip(lines, result.routes, strict=True):
        expected = city.to_degrees(route.path)
        np.testing.assert_allclose(feature["geometry"]["coordinates"], expected, atol=1e-7)
        assert len(feature["properties"]["times"]) == len(route.path)


def test_the_link_of_the_viewer_holds_the_problem(result):
    address, _, text = city.viewer_link(result.problem, 8000).partition("#plan=")
    assert address == "http://127.0.0.1:8000/"
    asked = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    assert asked["waypoints"] == result.problem.waypoints.tolist()


def test_routes_are_drawn_to_the_right_of_their_way():
    east = np.array([[0.0, 0.0], [10.0, 0.0], [20.0, 0.0]])
    np.testing.assert_allclose(city.beside(east, 2.0), east - [0.0, 2.0])


def test_a_folder_with_a_plan_gets_a_picture_and_a_file_for_maps(result, tmp_path, capsys):
    result.save(tmp_path / "plan.json")
    run.show(write_streets(tmp_path / "streets.csv"), tmp_path)
    assert (tmp_path / "city.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "plan.geojson").read_text())["complete"] is True
    said = capsys.readouterr().out
    assert "chronoforest view --preset city" in said
    assert "#plan=" in said


def points(option):
    words = shlex.split(run.PLAN)
    return read_stops(option, words[words.index(f"--{option}") + 1])[0]


def test_the_problem_is_two_vehicles_and_eight_stops():
    assert [len(points(option)) for option in ("starts", "goals", "waypoints")] == [2, 2, 8]


@pytest.mark.skipif(
    not (DATA / "trips.csv.gz").is_file(),
    reason=f"no trips.csv.gz in {DATA}; CHRONOFOREST_CITY names the folder that has it",
)
def test_every_place_of_the_problem_was_driven():
    """Within the width of a street of some fix, in the real trips as they are imported."""
    episodes = import_files([DATA / "trips.csv.gz"], Columns(), ImportParams()).episodes
    driven = episodes.frame.to_user(episodes.xy.reshape(-1, 2).astype(float))
    for place in np.concatenate([points(option) for option in ("starts", "goals", "waypoints")]):
        assert np.linalg.norm(driven - place, axis=1).min() < 20.0
