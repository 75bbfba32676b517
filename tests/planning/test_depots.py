"""Stops may share a place: round trips, depots, a waypoint at a start."""

import numpy as np
import pytest
from fakes import FakeModels

from chronoforest import load_planner
from chronoforest.data.frames import Frame
from chronoforest.exports.saved import load_result
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import Problem

DEPOT = [0.0, 0.0]
PROBLEMS = {
    "round trip": Problem(DEPOT, waypoints=[[4, 0], [12, 12]]),
    "nowhere to go": Problem(DEPOT),
    "two from one depot": Problem([DEPOT, DEPOT], waypoints=[[20, 0], [12, 12], [4, 4]]),
    "waypoint at the start": Problem(DEPOT, [12, 12], [DEPOT, [4, 0]]),
    "hardly apart": Problem(DEPOT, [12, 12], [[4, 0], [4, 1e-7], [20, 0]]),
}


@pytest.fixture(scope="module")
def medium():
    return load_planner("point-medium")


def assert_sound(result, tmp_path):
    """Complete, each stop where it should be, standing still costs nothing, and the file loads back."""
    assert result.complete
    problem = result.problem
    for route in result.routes:
        places = problem.anchors[[problem.names.index(name) for name in route.order]]
        assert np.allclose(route.path[list(route.stops)], places, atol=1e-5)
        apart = np.linalg.norm(np.diff(places, axis=0), axis=1)
        assert all(took == pytest.approx(0.0, abs=1e-3) for took in route.durations[apart < 1e-6])
        assert (route.durations[apart > 1] > 0).all()
    result.save(tmp_path / "plan.json")
    again = load_result(tmp_path / "plan.json")
    assert again.problem.labels == problem.labels
    assert [route.order for route in again.routes] == [route.order for route in result.routes]


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_roadmap_plans_from_depots(medium, problem, tmp_path):
    assert_sound(medium.plan(problem, variant="roadmap-only"), tmp_path)


@pytest.mark.parametrize("variant", ["verified", "online"])
def test_networks_plan_from_depots(medium, variant, tmp_path):
    assert_sound(medium.plan(PROBLEMS["waypoint at the start"], variant=variant), tmp_path)


@pytest.mark.parametrize("variant", ["verified", "online", "paper", "roadmap-only"])
@pytest.mark.parametrize("name", ["round trip", "two from one depot"])
def test_no_variant_needs_places_apart(variant, name, tmp_path):
    problem = PROBLEMS[name].moved(lambda points: points * 0.5 + 3.0)
    assert_sound(Planner(FakeModels(), PlannerParams(), "fake").plan(problem, variant=variant), tmp_path)


def test_a_given_order_may_pass_a_place_twice(medium):
    problem = PROBLEMS["hardly apart"]
    order = [["S1", "W2", "W3", "W1", "G1"]]
    assert medium.plan(problem, variant="roadmap-only", order=order).routes[0].order == order[0]


def test_places_in_degrees_may_be_shared(tmp_path):
    berlin = Frame("degrees", (13.4, 52.5))
    problem = Problem([3.0, 10.0], waypoints=[[9.0, 4.0], [9.0, 4.0]]).moved(berlin.to_user)
    assert_sound(Planner(FakeModels(), PlannerParams(), "fake", berlin).plan(problem), tmp_path)
