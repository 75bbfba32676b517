"""Recordings with geography, from a file to a plan by the commands a person would type: ships in a strait,
hikes, carts on a yard in UTM metres."""

import csv
import io
import json
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from generated_worlds import SIDE, WORLDS, made_world, point

from chronoforest import load_planner, load_result
from chronoforest.cli import main
from chronoforest.data.episodes import load

pytestmark = pytest.mark.filterwarnings("ignore::chronoforest.presets.quality.WeakModels")
"""After twenty steps of training they are."""


@pytest.fixture(scope="module", params=WORLDS, ids=lambda world: world.name)
def world(request, tmp_path_factory):
    """A world that was made of its recordings, in the folder it lies in."""
    with made_world(request.param, tmp_path_factory.mktemp("geography")) as world:
        yield world


def plan(world, *options):
    start, goal = point(world, -SIDE, 0.0), point(world, SIDE, 0.0)
    return main(
        ["plan", "--preset", world.name, f"--starts={start}", f"--goals={goal}", "--overwrite", *options]
    )


def test_the_recordings_are_whole_and_their_frame_is_known(world):
    episodes = load(f"{world.name}.npz")
    assert (episodes.frame.kind, episodes.frame.step_seconds) == (world.frame.kind, world.seconds)
    assert (len(episodes), episodes.num_steps) == (40, 45)
    places = episodes.frame.to_user(episodes.xy.reshape(-1, 2).astype(float))
    metres = world.frame.to_local(places) / world.scale
    assert np.abs(metres).max(axis=0) == pytest.approx([1.02 * SIDE, 0.52 * SIDE], rel=0.05)


def test_the_preset_and_the_weights_know_the_frame(world):
    planner = load_planner(world.name)
    assert planner.frame == planner.models.frame == load(f"{world.name}.npz").frame


def test_a_plan_starts_and_ends_where_it_was_asked_to_within_half_a_metre(world, capsys):
    assert plan(world, "--out", "plan.json") in (0, 3)
    result = load_result("plan.json")
    typed = np.array([float(number) for number in point(world, -SIDE, 0.0).split(",")])
    here = world.frame.to_local(result.routes[0].path[0])
    assert np.linalg.norm(here - world.frame.to_local(typed)) < 0.5
    assert result.frame.kind == world.frame.kind


def test_plans_are_written_as_the_ending_says(world, capsys):
    typed = np.array([float(number) for number in point(world, -SIDE, 0.0).split(",")])
    for ending in ("geojson", "csv", *(["gpx"] if world.frame.is_degrees else [])):
        assert plan(world, "--out", f"plan.{ending}") in (0, 3)
        assert f"plan.{ending}" in capsys.readouterr().out
    with open("plan.geojson") as file:
        line = json.load(file)["features"][0]
    np.testing.assert_allclose(line["geometry"]["coordinates"][0], typed, atol=1e-3)
    with open("plan.csv") as file:
        _, first, *_ = csv.reader(io.StringIO(file.read()))
    assert first[7] == "S1"
    if world.frame.is_degrees:
        with open("plan.gpx", "rb") as file:
            assert float(fromstring(file.read()).find(".//{*}trkpt").attrib["lat"]) == pytest.approx(typed[1])


def test_gpx_of_metres_is_refused_in_one_line(world, capsys):
    if not world.frame.is_degrees:
        assert plan(world, "--out", "plan.gpx") == 2
        assert "GPX needs longitude and latitude" in capsys.readouterr().err


def test_a_place_where_nothing_was_recorded_is_refused_or_moved(world, capsys):
    nowhere = f"--waypoints={point(world, 0.5 * SIDE, 0.1 * SIDE)}"
    assert plan(world, nowhere, "--out", "plan.json") == 2
    error = capsys.readouterr().err
    assert f"W1 at ({point(world, 0.5 * SIDE, 0.1 * SIDE)[:6]}" in error
    assert plan(world, nowhere, "--snap", "--out", "plan.json") in (0, 3)
    assert "W1 moved from" in capsys.readouterr().out


def test_what_is_there_is_not_overwritten(world, capsys):
    assert main(["data", "import", world.file, "--out", f"{world.name}.npz"]) == 2
    assert "--overwrite replaces it" in capsys.readouterr().err


def test_ships_without_an_id_are_noticed(world, capsys):
    if world.name == "strait":
        with open("ais.csv") as file:
            renamed = file.read().replace("MMSI", "hull")
        with open("hulls.csv", "w") as file:
            file.write(renamed)
        assert main(["data", "import", "hulls.csv", "--out", "hulls.npz"]) == 2
        assert "'hull' does: --episode hull" in capsys.readouterr().err
        assert main(["data", "import", "hulls.csv", "--out", "hulls.npz", "--episode", "hull"]) == 0
