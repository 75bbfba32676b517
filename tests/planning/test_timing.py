"""Times follow the distance, whatever the planner weighs the legs by."""

import numpy as np
import pytest
from fakes import SPEED, EuclideanDistance

from chronoforest.planning.shortening import AssemblyParams, resample
from chronoforest.planning.timing import step_times, travel_time, travel_times
from chronoforest.types import Leg, Plan


def route(costs, is_met=True):
    """Two legs of three and of six units along a line, with a point at every unit."""
    path = np.stack([np.arange(10.0), np.zeros(10)], axis=1)
    names = ["S1", "W1", "G1"]
    legs = [
        Leg(names[k], names[k + 1], is_met, cost, 0.0, 0.0, (names[k], names[k + 1]))
        for k, cost in enumerate(costs)
    ]
    return Plan(names, path, tuple(legs), 9.0, (0, 3, 9))


def test_a_leg_in_doubt_is_dear_but_not_slow():
    params = AssemblyParams(timing_hop=1.0)
    cheap, dear = (step_times(route(costs), EuclideanDistance(), params) for costs in ((3, 6), (150, 6)))
    np.testing.assert_allclose(cheap, dear)
    assert dear[-1] == pytest.approx(9.0 / SPEED)


def test_a_leg_takes_its_time_evenly():
    class Slower(EuclideanDistance):
        """Beyond x = 3 everything takes twice as long."""

        def between(self, source, target):
            return super().between(source, target) * np.where(target[..., 0] > 3.0, 2.0, 1.0)

    times = step_times(route((1, 1)), Slower(), AssemblyParams(timing_hop=1.0))
    np.testing.assert_allclose(np.diff(times)[:3], 1.0 / SPEED)
    np.testing.assert_allclose(np.diff(times)[3:], 2.0 / SPEED)


def test_travel_time_is_counted_over_hops_and_so_cuts_the_corners_between_them():
    corner = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]])
    assert travel_time(corner, EuclideanDistance(), AssemblyParams(timing_hop=4.0)) == pytest.approx(
        8.0 / SPEED
    )
    assert travel_time(corner, EuclideanDistance(), AssemblyParams(timing_hop=8.0)) == pytest.approx(
        32**0.5 / SPEED
    )


def test_travel_time_of_a_straight_path_is_its_length_over_the_speed():
    path = resample(np.array([[1.0, 1.0], [13.0, 6.0]]), 0.25)
    assert travel_time(path, EuclideanDistance(), AssemblyParams()) == pytest.approx(13.0 / SPEED)


def test_the_times_of_many_paths_are_those_of_each_alone():
    """Paths that lie far apart: a hop from one to the next would be seen in a sum."""
    paths = [np.array([[x, 0.0], [x, 3.0 + x]]) for x in (0.0, 40.0, 7.0)]
    alone = [travel_time(path, EuclideanDistance(), AssemblyParams()) for path in paths]
    assert travel_times(paths, EuclideanDistance(), AssemblyParams()) == pytest.approx(alone)
    assert alone == pytest.approx([3.0 / SPEED, 43.0 / SPEED, 10.0 / SPEED])


def test_no_paths_take_no_times():
    assert travel_times([], EuclideanDistance(), AssemblyParams()) == []
