"""Ways between anchors over an open square with a block in it, before and after doubts."""

import numpy as np
import pytest
from fakes import BLOCK, make_planner, scattered_problem

from chronoforest.planning.roads import DEARER, Roads
from chronoforest.roadmap.ways import join
from chronoforest.types import JointRoute, Pair

ROOM = 2.0


@pytest.fixture
def roads():
    prepared = make_planner(BLOCK).prepared("verified")
    problem = scattered_problem(2, 3, BLOCK)
    return Roads(join(prepared.roadmap, problem.anchors, prepared.ground), problem)


def test_a_doubt_is_heeded_where_ways_are_asked_for_again(roads):
    leg, other = Pair(0, 6), Pair(1, 5)
    before, way = roads.cost.copy(), roads.way(leg)
    roads.doubt([way.path], ROOM)
    np.testing.assert_array_equal(roads.cost, before)
    roads.renew([leg])
    assert before[0, 6] < roads.told(leg) <= DEARER * before[0, 6] + 1e-9
    assert roads.told(other) == before[1, 5]


def test_what_is_asked_for_again_is_what_a_new_query_would_tell(roads):
    roads.doubt([roads.way(Pair(0, 6)).path], ROOM)
    roads.renew(Pair(source, 0) for source in range(1, 7))
    fresh = roads.joined.ways()
    np.testing.assert_array_equal(roads.cost[1:], fresh.cost[1:])
    np.testing.assert_array_equal(roads.way(Pair(3, 2)).path, fresh.way(3, 2).path)


def test_without_a_new_doubt_nothing_is_asked_again(roads):
    ways = roads.ways
    roads.renew([Pair(0, 1)])
    assert roads.ways is ways
    roads.doubt([roads.way(Pair(0, 1)).path], ROOM)
    roads.renew([Pair(0, 1)])
    renewed = roads.ways
    assert renewed is not ways
    roads.renew([Pair(0, 5)])
    assert roads.ways is renewed


def test_a_hop_gets_dearer_once_and_its_steps_are_told_without_the_doubt(roads):
    way = roads.way(Pair(0, 6))
    steps, hops = roads.steps(way), roads.joined.hops.steps.copy()
    for _ in range(2):
        roads.doubt([way.path], ROOM)
    ratio = roads.joined.hops.steps / hops
    assert set(np.round(ratio, 9)) == {1.0, DEARER}
    assert roads.steps(way) == steps


def test_in_the_open_the_legs_of_a_route_do_not_depend_on_each_other(roads):
    before = roads.cost.copy()
    assert roads.settle(JointRoute(((0, 2, 3, 4, 5), (1, 6)))) == ()
    np.testing.assert_array_equal(roads.cost, before)
