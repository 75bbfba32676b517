"""Where a roadmap falls apart, on a square with a wall from top to bottom."""

import numpy as np
import pytest
from fakes import SIDE, EuclideanDistance, FakeModels, SquareDensity
from road_cases import square_road

from chronoforest.roadmap.breaks import SupportParts, find_break, leading_to, reached_from, with_way
from chronoforest.roadmap.hops import Hops
from chronoforest.roadmap.places import Places
from chronoforest.roadmap.turns import turns
from chronoforest.roadmap.ways import Joined, join

WALL = ((9.0, -1.0), (11.0, SIDE + 1.0))
ANCHORS = np.array([[3.0, 10.0], [17.0, 10.0], [17.0, 4.0]])
BRIDGE = np.array([[8.0, 9.0], [9.0, 9.5], [11.0, 9.5], [12.0, 10.0]])


def walled():
    road, known = square_road(WALL)
    return join(road, ANCHORS, known)


def one_way(*, has_turns=False):
    """Three places in a line, then an anchor before the first and one behind the last: 3 → 0 → 1 → 2 → 4."""
    position = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.0, 0.0], [4.0, 0.0]])
    source, target = np.array([3, 0, 1, 2]), np.array([0, 1, 2, 4])
    hops = Hops(source, target, np.ones(4), np.ones(4, dtype=bool))
    return Joined(Places(position, np.ones(5)), hops, 2, turns(position, hops, 2) if has_turns else None)


@pytest.mark.parametrize("has_turns", [False, True])
def test_one_way_what_is_reached_and_what_leads_on_differ(has_turns):
    line = one_way(has_turns=has_turns)
    assert reached_from(line, 0).tolist() == [0, 1, 2, 3]
    assert leading_to(line, 0).tolist() == [3]
    assert reached_from(line, 1).tolist() == [4]
    assert leading_to(line, 1).tolist() == [0, 1, 2, 4]


def test_the_two_sides_of_a_wall_end_where_they_are_nearest():
    net = walled()
    found = find_break(net, 0, 1, EuclideanDistance())
    near, far = net.places.position[[found.reached, found.wanted]]
    here, there = reached_from(net, 0), leading_to(net, 1)
    apart = np.linalg.norm(net.places.position[here][:, None] - net.places.position[there], axis=-1)
    assert near[0] < 9.0
    assert far[0] > 11.0
    assert np.linalg.norm(far - near) == pytest.approx(apart.min())
    for extent, places, anchor in zip(found.extents, (here, there), ANCHORS[:2], strict=True):
        assert extent == pytest.approx(np.linalg.norm(net.places.position[places] - anchor, axis=1).max())


@pytest.mark.parametrize("is_reversible", [True, False])
def test_a_way_across_joins_all_that_lies_beyond(is_reversible):
    net = walled()
    found = find_break(net, 0, 1, EuclideanDistance())
    ends = found.reached, found.wanted
    path = np.concatenate([net.places.position[[ends[0]]], BRIDGE[1:-1], net.places.position[[ends[1]]]])
    over = with_way(net, ends, path, 50.0, is_reversible)
    ways = over.ways()
    assert np.isfinite(ways.cost[0]).all()
    assert np.isfinite(ways.cost[1, 0]) == is_reversible
    way = ways.way(0, 2)
    assert (way.path[:, None] == BRIDGE[1:-1]).all(axis=-1).any(axis=0).all()
    assert way.steps == pytest.approx(over.hops.steps[way.hops].sum())
    np.testing.assert_array_equal(over.places.position[over.first :], ANCHORS)
    np.testing.assert_array_equal(over.hops.steps[: len(net.hops)], net.hops.steps)
    assert over.hops.steps[len(net.hops) :].sum() == pytest.approx(100.0 if is_reversible else 50.0)


def test_where_ways_are_lanes_the_turns_follow():
    line = one_way(has_turns=True)
    back = np.array([[3.0, 0.0], [2.0, 1.0], [1.0, 0.0]])
    over = with_way(line, (2, 0), back, 10.0, is_reversible=False)
    assert over.turns.first == 4
    assert over.ways().cost[0, 1] == pytest.approx(4.0)
    assert 2 in reached_from(over, 0)


def test_recordings_lead_across_an_open_square_and_not_across_a_wall():
    ends = ANCHORS[:2]
    open_support, cut = FakeModels().support, FakeModels(density=SquareDensity(WALL)).support
    assert SupportParts(open_support, 0.0).joins(ends)
    assert not SupportParts(cut, 0.0).joins(ends)
    assert SupportParts(cut, 4.0).joins(ends), "trees meet across two units"
    assert SupportParts(cut, 0.0).joins(np.array([[-1.0, 4.0], [3.0, 10.0]])), "an anchor may lie outside"
