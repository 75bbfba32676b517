"""Where a roadmap falls apart, on a square with a wall from top to bottom."""

import numpy as np
import pytest
from fakes import SIDE, EuclideanDistance, FakeModels, SquareDensity
from road_cases import square_road

from chronoforest.roadmap.roads import Roads
from chronoforest.roadmap.support import SupportParts
from chronoforest.roadmap.ways import find_break
from chronoforest.types import Pair

WALL = ((9.0, -1.0), (11.0, SIDE + 1.0))
ANCHORS = np.array([[3.0, 10.0], [17.0, 10.0], [17.0, 4.0]])
BRIDGE = np.array([[8.0, 9.0], [9.0, 9.5], [11.0, 9.5], [12.0, 10.0]])


def walled():
    road, _ = square_road(WALL)
    return Roads.of(road, ANCHORS)


def test_the_two_sides_of_a_wall_end_where_they_are_nearest():
    net = walled().ways.joined
    found, position = find_break(net, 0, 1, EuclideanDistance()), net.roadmap.position
    near, far = position[[found.reached, found.wanted]]
    here, there = net.reached_from(0), net.leading_to(1)
    apart = np.linalg.norm(position[here][:, None] - position[there], axis=-1)
    assert near[0] < 9.0
    assert far[0] > 11.0
    assert np.linalg.norm(far - near) == pytest.approx(apart.min())
    for extent, places, anchor in zip(found.extents, (here, there), ANCHORS[:2], strict=True):
        assert extent == pytest.approx(np.linalg.norm(position[places] - anchor, axis=1).max())


@pytest.mark.parametrize("is_reversible", [True, False])
def test_a_way_across_joins_all_that_lies_beyond(is_reversible):
    roads = walled()
    gap = roads.gap(Pair(0, 1), (), EuclideanDistance())
    path = np.concatenate([gap.places[:1], BRIDGE[1:-1], gap.places[1:]])
    over = roads.with_way(gap.ends, path, 50.0, is_reversible)
    assert np.isfinite(over.cost[0]).all()
    assert np.isfinite(over.cost[1, 0]) == is_reversible
    way = over.way(Pair(0, 2))
    assert (way.path[:, None] == BRIDGE[1:-1]).all(axis=-1).any(axis=0).all()
    assert way.steps == pytest.approx(over.steps(way)) == pytest.approx(over.leg_cost(Pair(0, 2)))
    assert over.undoubted[roads.num_hops :].sum() == pytest.approx(100.0 if is_reversible else 50.0)


def test_recordings_lead_across_an_open_square_and_not_across_a_wall():
    ends = ANCHORS[:2]
    open_support, cut = FakeModels().support, FakeModels(density=SquareDensity(WALL)).support
    assert SupportParts(open_support, 0.0).joins(ends)
    assert not SupportParts(cut, 0.0).joins(ends)
    assert SupportParts(cut, 4.0).joins(ends), "trees meet across two units"
    assert SupportParts(cut, 0.0).joins(np.array([[-1.0, 4.0], [3.0, 10.0]])), "an anchor may lie outside"
