"""Chains of hops turn no sharper than one can."""

import numpy as np

from chronoforest.roadmap.hops import Hops
from chronoforest.roadmap.places import Places
from chronoforest.roadmap.turns import headings, turns
from chronoforest.roadmap.ways import Joined


def ways_over(points, hops, num_anchors, is_driven=True):
    """The ways between the last of some points, over hops of one step each."""
    source, target = np.array(hops).T
    made = Hops(source, target, np.ones(len(source)), np.full(len(source), is_driven))
    places = Places(np.array(points, dtype=float), np.ones(len(points)))
    return Joined(places, made, num_anchors, turns(places.position, made, num_anchors)).ways()


def test_headings_are_counted_from_east_counter_clockwise():
    assert headings(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [1.0, -0.01]])).tolist() == [0, 4, 8, 0]


def test_a_right_angle_is_no_way_but_two_halves_of_one_are():
    sharp = [(0, 0), (1, 0), (1, 1), (-1, 0), (1, 2)]
    chain = [(3, 0), (0, 1), (1, 2), (2, 4)]
    assert np.isinf(ways_over(sharp, chain, 2).cost[0, 1])
    round_ = [(0, 0), (1, 1), (1, 2), (-1, 0), (1, 3)]
    way = ways_over(round_, chain, 2).way(0, 1)
    assert way.path.tolist() == [[-1, 0], [0, 0], [1, 1], [1, 2], [1, 3]]
    assert way.hops.tolist() == [0, 1, 2, 3]


def test_what_nobody_drove_may_turn_anywhere():
    points = [(0, 0), (1, 0), (1, 1), (-1, 0), (1, 2)]
    assert ways_over(points, [(3, 0), (0, 1), (1, 2), (2, 4)], 2, is_driven=False).cost[0, 1] == 4


def test_an_anchor_is_left_with_any_heading():
    points = [(0, 0), (1, 0), (0, 1)]
    cost = ways_over(points, [(0, 1), (0, 2), (1, 2)], 3).cost
    assert cost[0].tolist() == [0, 1, 1]
