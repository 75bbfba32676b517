"""A street with a lane each way and a turning circle at its end: how a stop in it is passed."""

import numpy as np
import pytest
from lane_street import HOPS, PROBLEM, joined_street

from chronoforest.roadmap.hops import Hops
from chronoforest.roadmap.onward import OnwardWays
from chronoforest.roadmap.turns import ROUND, turns
from chronoforest.types import JointRoute, Pair

ROUTE = JointRoute(((0, 1, 2),))
LEGS = Pair(0, 1), Pair(1, 2)


def onward(joined):
    return OnwardWays.of(joined, joined.turns, PROBLEM)


def test_for_itself_a_leg_leaves_the_stop_anyhow():
    ways = onward(joined_street())
    assert [ways.told(leg) for leg in LEGS] == [2, 2]
    np.testing.assert_array_equal(ways.cost[:2], joined_street().ways().cost[:2])
    assert ways.way(1, 2).path.tolist() == [[4, 0.5], [0, 1], [-4, 1]]


def test_a_route_goes_on_through_the_stop_and_turns_in_the_circle():
    ways = onward(joined_street()).settled(ROUTE)
    assert sum(ways.told(leg) for leg in LEGS) == 12
    found = [ways.way(0, 1), ways.way(1, 2)]
    assert [way.turning for way in found] == [0, 0]
    assert [13, 1] in np.concatenate([way.path for way in found]).tolist()


def test_where_there_is_no_other_way_one_turns_round_at_the_stop_and_pays_for_it():
    ways = onward(joined_street([hop for hop in HOPS if hop != (2, 3)])).settled(ROUTE)
    assert [ways.told(leg) for leg in LEGS] == [2, 2 + ROUND]
    assert ways.way(1, 2).turning == ROUND
    assert ways.way(1, 2).path.tolist() == [[4, 0.5], [0, 1], [-4, 1]]


def test_a_hop_across_the_street_that_nobody_drove_is_no_cheaper_way_to_turn():
    """From the eastward lane one might step over to the westward one and reach the stop from there."""
    ways = onward(joined_street(undriven=[(1, 8)])).settled(ROUTE)
    assert sum(ways.told(leg) for leg in LEGS) == 12


def test_nothing_leads_to_what_cannot_be_reached_and_the_rest_is_still_passed():
    ways = onward(joined_street([hop for hop in HOPS if hop != (9, 12)])).settled(ROUTE)
    assert ways.told(LEGS[0]) == 2
    assert ways.way(1, 2) is None


def test_dearer_hops_count_where_ways_are_asked_for_again():
    joined = joined_street()
    ways = onward(joined).settled(ROUTE)
    dear = joined.dearer(np.array([HOPS.index((10, 0)), HOPS.index((9, 12))]), 3.0)
    again = ways.renewed(dear, np.array([0]))
    assert again.told(LEGS[0]) == ways.told(LEGS[0]) + 2
    assert again.told(LEGS[1]) == ways.told(LEGS[1])
    assert again.renewed(dear, np.array([1])).told(LEGS[1]) == ways.told(LEGS[1]) + 2


@pytest.mark.parametrize("present", [[0], [15, 0, 1], [0, 8], [3, 4, 5, 11, 12]])
def test_doors_part_the_headings_in_which_an_anchor_is_left(present):
    angle = np.array(present) * 2 * np.pi / 16
    points = np.concatenate([np.stack([np.cos(angle), np.sin(angle)], axis=1), [[0, 0]]])
    count = len(present)
    made = Hops(np.full(count, count), np.arange(count), np.ones(count), np.ones(count, dtype=bool))
    doors = turns(points, made, 1).doors
    assert len(doors) == (1 if max(present) in (0, 15) else 2)
    np.testing.assert_array_equal(np.flatnonzero(doors.headings.any(axis=0)), sorted(present))
    assert doors.headings.sum() == len(present)
