import base64
import json
import subprocess
import sys

import numpy as np
import pytest
from fakes import make_planner
from viewer_service import PROBLEM, running

from chronoforest.errors import InvalidParameter
from chronoforest.names import PRESETS
from chronoforest.presets.loading import load_planner
from chronoforest.types import Problem
from chronoforest.view.scenes import read_scene, stored_example
from chronoforest.view.world import ServedPreset
from chronoforest.view.worlds import MOST_LOADED, WEIGHTS, Worlds, trained

GIANT = "pointmaze-giant-stitch-v0"


def make_world(name):
    planner = make_planner()
    planner.name = name
    return ServedPreset({"default": planner})


@pytest.fixture
def loads():
    return []


@pytest.fixture
def worlds(loads):
    def load(name):
        loads.append(name)
        return make_world(name)

    return Worlds("yard", load, ("yard", "strait", *"abcdef"))


def test_a_world_is_loaded_once_and_only_when_it_is_asked_for(worlds, loads):
    assert not worlds.is_loaded
    assert worlds.served().name == worlds.served("yard").name == "yard"
    assert json.loads(worlds.describe("strait"))["preset"] == "strait"
    worlds.served("strait")
    assert loads == ["yard", "strait"]


def test_few_worlds_are_kept_and_the_opened_one_always(worlds, loads):
    for name in ("yard", *"abcdef", "yard"):
        worlds.served(name)
    assert len(worlds._loaded) == MOST_LOADED
    assert loads.count("yard") == 1


def test_a_world_that_nobody_offers_is_refused_by_name(worlds):
    with pytest.raises(InvalidParameter, match=r"this viewer serves yard, strait, .* not '/etc/passwd'"):
        worlds.served("/etc/passwd")


def test_plans_are_made_in_the_world_that_the_problem_names(worlds, loads):
    with running(worlds=worlds) as service:
        assert service.ask("GET", "/api/worlds") == (200, worlds.list())
        status, accepted = service.ask("POST", "/api/plan", {**PROBLEM, "preset": "strait"})
        assert status == 202
        (plan,) = (data for _, kind, data in service.events(accepted["events"]) if kind == "plan")
        assert plan["preset"] == "strait"
        status, answer = service.ask("GET", "/api/world?preset=moon")
        assert (status, "not 'moon'" in answer["error"]) == (400, True)


def test_what_ships_and_what_was_trained_here_is_offered(tmp_path):
    for name in ("mine", "untrained"):
        (tmp_path / f"{name}.toml").write_text("")
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "density.safetensors").touch()
    found = trained(here=tmp_path)
    assert list(found) == [*PRESETS.values(), "mine"]
    assert found["mine"] == tmp_path / "runs" / "mine"


def test_the_first_look_is_what_the_loaded_world_shows():
    planner = load_planner(GIANT)
    loaded = ServedPreset({"default": planner, "fast": planner}).describe()
    seen = read_scene(GIANT, WEIGHTS / GIANT).describe(stored_example(GIANT), ("default", "fast"))
    shades = [
        np.frombuffer(base64.b64decode(world["grid"].pop("values")), np.uint8) for world in (seen, loaded)
    ]
    assert seen == loaded
    assert ((shades[0] > 0) == (shades[1] > 0)).all()
    assert np.abs(np.subtract(*shades, dtype=int)).max() <= 1  # one is interpolated, the other read


def test_the_page_is_there_before_torch():
    """In a process of its own: what a viewer imports until it has told what the world looks like."""
    code = (
        "import sys\n"
        "from chronoforest.peers.choice import PlannerChoice\n"
        "from chronoforest.view import server\n"
        "from chronoforest.view.opening import open_worlds\n"
        "worlds = open_worlds(PlannerChoice('point-giant'))\n"
        "server.create_app(worlds)\n"
        "worlds.describe()\n"
        "print([name for name in ('torch', 'scipy', 'mujoco', 'matplotlib') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


def test_the_stored_example_flips_and_the_order_of_the_distance_alone_is_longer():
    """What its note says, planned anew."""
    from chronoforest.view.work import first_guess

    stored = stored_example(GIANT)
    problem = Problem(stored["starts"], stored["goals"], stored["waypoints"])
    planner = load_planner(GIANT)
    (guess,) = first_guess(planner, problem)
    ours, theirs = (planner.plan(problem, variant=variant) for variant in ("verified", "temporal-fixed"))
    assert ours.complete
    assert theirs.complete
    assert guess.stats.route.orders != ours.rounds[-1].route.orders
    assert theirs.length == pytest.approx(stored["lengths"]["temporal-fixed"], rel=0.01)
    assert ours.length == pytest.approx(stored["lengths"]["verified"], rel=0.01)
    more = 100 * (theirs.length / ours.length - 1)
    assert f"{stored['more_percent']} %" in stored["note"]
    assert more == pytest.approx(stored["more_percent"], abs=1.0)
