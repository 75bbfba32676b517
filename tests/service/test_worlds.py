import base64
from types import SimpleNamespace

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity, make_planner
from town import ROUTER
from viewer_service import PROBLEM, running, worlds_of

from benchmarks.mazes import maze
from chronoforest.data.frames import Frame
from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.names import PRESETS, VARIANTS
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.service.worlds import World, Worlds, density_grid, kept_router
from chronoforest.types import Problem, Support

MODELS = FakeModels(density=SquareDensity(BLOCK))


def world(name, frame=None, router=None):
    return World(name, Planner(MODELS, PlannerParams(), name, frame), router)


def test_a_world_is_loaded_once_and_only_when_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loads = []

    def load(choice):
        loads.append(choice.preset)
        return world(choice.preset)

    worlds = Worlds(PlannerChoice("yard"), load)
    assert loads == ["yard"]
    giant = PRESETS["point-giant"]
    assert worlds.world("point-giant") is worlds.world(giant)
    assert loads == ["yard", giant]
    with pytest.raises(InvalidParameter, match="'/etc/passwd'"):
        worlds.world("/etc/passwd")


def test_a_router_is_made_again_where_it_cannot_be_kept(tmp_path, monkeypatch, caplog):
    data = tmp_path / "mine.npz"
    data.touch()
    chosen = SimpleNamespace(recordings=data, weights=tmp_path, name="mine", frame=Frame())
    monkeypatch.setattr("chronoforest.service.worlds.get_preset", lambda name: chosen)
    monkeypatch.setattr("chronoforest.service.worlds.kept_roadmap", lambda *_: object())
    monkeypatch.setattr("chronoforest.service.worlds.Network.of", lambda *_: ROUTER.network)

    def full(draft):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("chronoforest.files._flush", full)
        assert kept_router("mine").network is ROUTER.network
    assert "No space left" in caplog.text
    assert [path.name for path in tmp_path.iterdir()] == ["mine.npz"]
    assert kept_router("mine").network is ROUTER.network
    np.testing.assert_array_equal(kept_router("mine").network.position, ROUTER.network.position)


def test_what_ships_and_what_was_learned_here_is_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "untrained"):
        (tmp_path / f"{name}.toml").write_text("")
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "density.safetensors").touch()
    described = Worlds(PlannerChoice("mine"), lambda choice: world(choice.preset)).described()
    assert described["opened"] == "mine"
    assert [one["name"] for one in described["worlds"]] == ["mine", *PRESETS.values()]
    assert "ant-giant" in [one["title"] for one in described["worlds"]]
    assert all(one["about"] for one in described["worlds"])


def test_plans_are_made_in_the_world_that_the_problem_names():
    with running(worlds=worlds_of(world("yard"), world("strait"))) as service:
        assert service.ask("GET", "/worlds")[1]["worlds"][0]["name"] == "yard"
        status, plan = service.ask("POST", "/plan", {**PROBLEM, "preset": "strait"})
        assert (status, plan["preset"]) == (200, "strait")
        assert service.ask("GET", "/world?preset=strait")[1]["preset"] == "strait"
        assert service.ask("GET", "/world?preset=moon")[0] == 400


def test_a_world_is_taken_anew_when_its_files_are_replaced(tmp_path):
    (tmp_path / "density.safetensors").touch()
    found = [make_planner(), make_planner()]

    def load(choice):
        if not found:
            raise BadCheckpoint("half a file")
        return World("yard", found.pop(0), None, (tmp_path,))

    worlds = Worlds(PlannerChoice("yard"), load)
    first = worlds.world()
    assert not worlds.refresh()
    (tmp_path / "states.safetensors").touch()
    assert worlds.refresh()
    second = worlds.world()
    assert second is not first
    (tmp_path / "more.safetensors").touch()
    assert not worlds.refresh()
    assert worlds.world() is second


@pytest.mark.parametrize("router", [None, ROUTER], ids=["trained", "recorded"])
def test_the_example_is_a_problem_between_places_far_apart(router):
    places = world("yard", router=router).example()
    problem = Problem(places["starts"], places["goals"], places["waypoints"])
    assert (problem.num_agents, problem.num_waypoints) == (2, 4)
    apart = np.linalg.norm(problem.anchors[:, None] - problem.anchors, axis=2)
    assert apart[~np.eye(8, dtype=bool)].min() > 0.1 * apart.max()
    if router is None:
        assert (MODELS.density.margin(problem.anchors) > 0.5).all()
        return
    stops = [router.snap(place) for place in problem.anchors]
    assert np.isfinite(router.table(stops, stops)[0]).all()


def test_the_example_is_in_the_users_coordinates():
    frame = Frame("degrees", (13.4, 52.5))
    places = np.array(world("yard", frame).example()["starts"])
    np.testing.assert_allclose(frame.to_local(places), world("yard").example()["starts"], atol=0.01)


def test_a_world_of_ones_own_has_no_walls_and_no_walk_and_a_maze_has_both():
    own = world("my-yard").description
    assert (own["walls"]["centres"], own["ways"]) == ([], [])
    assert own["why_no_walk"]
    giant = world("pointmaze-giant-stitch-v0")
    assert giant.description["walls"]["centres"] == maze("giant").wall_centres.tolist()
    assert (giant.why_no_walk is None) == bool(pytest.importorskip("ogbench"))
    assert [variant["name"] for variant in own["variants"]] == list(VARIANTS)
    assert all(variant["summary"] for variant in own["variants"])


def test_every_street_is_drawn_once():
    ways = world("town", router=ROUTER).description["ways"]
    network = ROUTER.network
    ends = {
        frozenset(map(tuple, np.round(network.position[[source, target]], 1).tolist()))
        for source, target in zip(network.source, network.target, strict=True)
    }
    assert len(ways) == pytest.approx(len(ends), rel=0.05)
    assert {len(way) for way in ways} == {4}


def picture(grid):
    values = np.frombuffer(base64.b64decode(grid["values"]), dtype=np.uint8)
    return values.reshape(grid["ny"], grid["nx"])[::-1].T


def test_the_picture_is_zero_where_nothing_went_and_darker_where_recordings_are_dense():
    shown, support = picture(density_grid(MODELS)), MODELS.support
    assert np.array_equal(shown > 0, support.mask)
    column, row = np.round((np.array([[3.0, 3.0], [0.5, 3.0]]) - support.origin) / support.cell).astype(int).T
    assert shown[column[0], row[0]] > shown[column[1], row[1]] > 0


def test_a_lane_of_one_cell_is_seen_in_a_picture_of_large_cells():
    mask = np.zeros((2001, 7), dtype=bool)
    mask[333, :] = True
    support = Support(np.array([50.0, 0.0]), 2.0, mask)
    density = SimpleNamespace(log_density=lambda places: np.zeros(places.shape[:-1]))
    grid = density_grid(SimpleNamespace(support=support, density=density))
    shown = picture(grid)
    assert max(shown.shape) <= 640
    assert ((shown > 0).sum(axis=0) == 1).all()
    left, right, bottom, top = grid["extent"]
    width = (right - left) / grid["nx"]
    column = np.flatnonzero(shown.any(axis=1))[0]
    assert left + column * width <= 50.0 + 333 * 2.0 < left + (column + 1) * width
    assert (left, bottom) == (49.0, -1.0)
    assert top - bottom == grid["ny"] * width
    assert max(picture(density_grid(MODELS, 17)).shape) <= 17
