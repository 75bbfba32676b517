"""Ways between anchors over an open square with a block in it, before and after doubts."""

import numpy as np
import pytest
from fakes import BLOCK, make_planner, scattered_problem

from chronoforest.roadmap.roads import RoadParams, Roads
from chronoforest.types import JointRoute, Pair

ROOM = 2.0
FACTOR = RoadParams().doubt


@pytest.fixture
def roads():
    prepared = make_planner(BLOCK).prepared("verified")
    return Roads.of(prepared.roadmap, scattered_problem(2, 3, BLOCK).anchors)


def test_a_doubt_raises_what_leads_along_it_and_nothing_else(roads):
    leg, other = Pair(0, 6), Pair(1, 5)
    before, way = roads.cost.copy(), roads.way(leg)
    doubted = roads.doubted([way.path], ROOM)
    assert before[0, 6] < doubted.leg_cost(leg) <= FACTOR * before[0, 6] + 1e-9
    assert doubted.leg_cost(other) == before[1, 5]
    np.testing.assert_array_equal(roads.cost, before)


def test_a_hop_is_doubted_once_and_its_steps_are_known_without_the_doubt(roads):
    way = roads.way(Pair(0, 6))
    steps, hops = roads.steps(way), roads.roadmap.hops.cost.copy()
    for _ in range(2):
        roads = roads.doubted([way.path], ROOM)
    assert set(np.round(roads.roadmap.hops.cost / hops, 9)) == {1.0, FACTOR}
    assert roads.steps(way) == steps


def test_in_the_open_the_legs_of_a_route_do_not_depend_on_each_other(roads):
    settled, moved = roads.settled(JointRoute(((0, 2, 3, 4, 5), (1, 6))))
    assert moved == ()
    np.testing.assert_array_equal(settled.cost, roads.cost)
