"""Routes over ways that were proposed: their pictures and what is known of their order."""

from itertools import permutations

import numpy as np
import pytest
from fakes import BLOCK, make_planner, scattered_problem
from searches import begun

from chronoforest.planning.sources.roadmap import padded
from chronoforest.types import JointRoute


def test_segments_of_different_lengths_stay_at_their_end_in_a_picture():
    short, long = np.arange(4.0).reshape(2, 2), np.arange(8.0).reshape(4, 2)
    first, second = padded([short, long])
    np.testing.assert_array_equal(first, [[0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [2.0, 3.0]])
    np.testing.assert_array_equal(second, long)


def test_the_margin_is_what_the_second_best_order_costs_more():
    search = begun(make_planner(BLOCK), scattered_problem(1, 3, BLOCK), "verified")
    costs = sorted(
        JointRoute(((0, *middle, 4),)).cost(search.ledger.cost)
        for middle in permutations(search.problem.waypoint_indices)
    )
    assert search.result("", "").certificate.margin == pytest.approx(costs[1] - costs[0])
