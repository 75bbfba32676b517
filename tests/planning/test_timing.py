"""Times follow the distance, whatever the planner weighs the legs by."""

import numpy as np
import pytest
from fakes import SPEED, EuclideanDistance

from chronoforest.planning.shortening import AssemblyParams
from chronoforest.planning.timing import step_times
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
