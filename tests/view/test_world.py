import base64
from types import SimpleNamespace

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity

from chronoforest.data.frames import Frame
from chronoforest.envs.mazes import maze
from chronoforest.planning.variants import VARIANTS
from chronoforest.types import Problem, Support
from chronoforest.view.scenes import NEED_AN_ORDER, SUMMARIES, cell_heights, density_grid
from chronoforest.view.world import ServedPreset, example

MODELS = FakeModels(density=SquareDensity(BLOCK))
HEIGHTS = cell_heights(MODELS.density, MODELS.support)


def picture(grid):
    values = np.frombuffer(base64.b64decode(grid["values"]), dtype=np.uint8)
    return values.reshape(grid["ny"], grid["nx"])


def test_the_picture_is_zero_exactly_where_nobody_went():
    shown = picture(density_grid(HEIGHTS, MODELS.support))
    assert np.array_equal(shown[::-1].T > 0, MODELS.support.mask)


def test_the_picture_is_darker_where_recordings_are_dense():
    shown = picture(density_grid(HEIGHTS, MODELS.support))[::-1].T
    support = MODELS.support
    column, row = np.round((np.array([[3.0, 3.0], [0.5, 3.0]]) - support.origin) / support.cell).astype(int).T
    assert shown[column[0], row[0]] > shown[column[1], row[1]] > 0


def test_a_lane_of_one_cell_is_seen_in_a_picture_of_large_cells():
    mask = np.zeros((2001, 7), dtype=bool)
    mask[333, :] = True
    support = Support(np.array([50.0, 0.0]), 2.0, mask)
    grid = density_grid(np.zeros(mask.shape), support)
    shown = picture(grid)
    assert max(shown.shape) <= 640
    assert ((shown > 0).sum(axis=1) == 1).all()
    left, right, bottom, top = grid["extent"]
    column = np.flatnonzero(shown.any(axis=0))[0]
    width = (right - left) / grid["nx"]
    assert left + column * width <= 50.0 + 333 * 2.0 < left + (column + 1) * width
    assert (left, bottom) == (49.0, -1.0)
    assert top - bottom == grid["ny"] * width


def test_the_example_is_a_problem_with_room_around_every_anchor():
    places = example(MODELS, Frame())
    problem = Problem(places["starts"], places["goals"], places["waypoints"])
    assert problem.num_agents == 2
    assert (MODELS.density.margin(problem.anchors) > 0.5).all()


def test_the_example_is_in_the_users_coordinates():
    frame = Frame("degrees", (13.4, 52.5))
    places = np.array(example(MODELS, frame)["starts"])
    np.testing.assert_allclose(frame.to_local(places), example(MODELS, Frame())["starts"], atol=0.01)


def served(name):
    """A preset of that name whose models are fakes."""
    return ServedPreset(
        {
            "default": SimpleNamespace(
                name=name, models=FakeModels(density=SquareDensity(BLOCK)), frame=Frame()
            )
        }
    )


def test_a_world_of_ones_own_has_no_walls_and_no_walk_and_says_why():
    world = served("my-yard").describe()
    assert world["walls"]["centres"] == []
    assert "no environment" in world["why_no_walk"]


def test_a_known_maze_has_its_walls_and_can_be_walked_with_a_tracker():
    giant = served("pointmaze-giant-stitch-v0")
    assert giant.describe()["walls"]["centres"] == maze("giant").wall_centres.tolist()
    assert "no tracker" in giant.scene.why_no_walk
    giant.models.tracker = lambda observation, subgoal: subgoal
    assert giant.scene.why_no_walk is None


def test_every_variant_that_needs_no_order_is_offered():
    offered = served("x").describe()["variants"]
    assert [variant["name"] for variant in offered] == [n for n, v in VARIANTS.items() if not v.needs_order]
    assert [name for name, variant in VARIANTS.items() if variant.needs_order] == list(NEED_AN_ORDER)
    assert {variant["name"] for variant in offered if variant["summary"]} == set(SUMMARIES)
    assert set(SUMMARIES) <= set(VARIANTS)


@pytest.mark.parametrize("limit", [10, 17])
def test_a_large_picture_is_thinned(monkeypatch, limit):
    monkeypatch.setattr("chronoforest.view.scenes.LONGEST_SIDE", limit)
    assert max(picture(density_grid(HEIGHTS, MODELS.support)).shape) <= limit
