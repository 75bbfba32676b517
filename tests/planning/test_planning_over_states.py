"""Plans over a roadmap of states, without any network: a street with a lane each way and a turning circle."""

import numpy as np
import pytest
from fakes import FakeModels, SquareDensity

from chronoforest.errors import BadCheckpoint
from chronoforest.models.store import Untrained
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.roadmap.roadmap import build_roadmap
from chronoforest.roadmap.states import Track
from chronoforest.types import Problem

PACE = 0.5
"""Seconds a unit."""

START, STOP, GOAL = [2.0, 5.0], [9.0, 5.5], [2.0, 8.0]


class Everywhere(FakeModels):
    """Of a world before training."""

    def __init__(self):
        super().__init__(density=SquareDensity(None), has_networks=False)


def street():
    """Out along one lane, round a circle at its end, and back along the other, three units beside it."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 12)
    circle = np.stack([15.0 + 1.5 * np.cos(angle), 6.5 + 1.5 * np.sin(angle)], axis=1)
    return np.concatenate([[[1.0, 5.0]], circle, [[1.0, 8.0]]])


@pytest.fixture(scope="module")
def planner():
    way = street()
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    ticks = np.arange(0.0, along[-1], 0.5)
    line = np.stack([np.interp(ticks, along, column) for column in way.T], axis=1)
    rng = np.random.default_rng(0)
    tracks = [Track(line + rng.normal(0.0, 0.1, line.shape), PACE * ticks, k) for k in range(10)]
    return Planner(Everywhere(), PlannerParams(), "street", roadmap=build_roadmap(tracks, both_ways=False))


def test_a_stop_is_left_in_the_state_in_which_it_was_reached(planner):
    """The stop lies between the lanes; the way back from it leads over the circle at the end."""
    result = planner.plan(Problem([START], [GOAL], [STOP]))
    assert result.complete
    (route,) = result.routes
    assert route.path[:, 0].max() > 14.0
    back = route.path[route.stops[1] :]
    is_out = (np.diff(back[:, 0]) < -0.1) & (back[1:, 1] < 6.0)
    assert not is_out.any()


def test_nothing_leads_back_over_a_lane(planner):
    result = planner.plan(Problem([GOAL], [START]))
    assert not result.complete
    assert result.unmet == (("S1", "G1"),)


def test_times_are_those_of_the_recordings(planner):
    (route,) = planner.plan(Problem([START], [GOAL])).routes
    (leg,) = route.legs
    median, low, high = leg.took
    assert median == pytest.approx(PACE * route.length, rel=0.15)
    assert low <= median <= high
    assert route.duration == pytest.approx(median)
    assert (np.diff(route.times) >= 0).all()


def test_plans_made_together_are_those_made_alone(planner):
    problems = [Problem([START], [GOAL], [STOP]), Problem([START], [GOAL])]
    for alone, together in zip(map(planner.plan, problems), planner.plan_many(problems), strict=True):
        np.testing.assert_array_equal(alone.routes[0].path, together.routes[0].path)


def test_what_needs_networks_says_how_to_get_them():
    untrained = Untrained(SquareDensity(None))
    for part in ("sampler", "distance", "calibration"):
        with pytest.raises(BadCheckpoint, match="train"):
            getattr(untrained, part)
