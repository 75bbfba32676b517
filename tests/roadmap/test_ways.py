from dataclasses import replace

import numpy as np
import pytest
from fakes import BLOCK, SPEED
from road_cases import gate_road, grid_density, ground, ring_road, square_road, support_of

from chronoforest.errors import InvalidParameter
from chronoforest.roadmap.hops import Hops
from chronoforest.roadmap.places import Places
from chronoforest.roadmap.turns import turns
from chronoforest.roadmap.ways import ALIKE, Roadmap, build_roadmap, join
from chronoforest.types import path_length

ACROSS = np.array([[3.0, 10.0], [17.0, 10.0], [10.0, 3.0]])
"""On three sides of the block."""


def joined(road, known, anchors=ACROSS):
    return join(road, anchors, known)


def test_ways_lead_from_anchor_to_anchor_around_the_block():
    road, known = square_road()
    way = joined(road, known).ways().way(0, 1)
    np.testing.assert_array_equal(way.path[[0, -1]], ACROSS[:2])
    assert (known.density.margin(way.path) > 0).all()
    around = 2 * np.linalg.norm(np.array(BLOCK[0]) - ACROSS[0]) + BLOCK[1][0] - BLOCK[0][0]
    assert around < path_length(way.path) < 1.1 * around


def test_costs_are_the_sums_of_the_hops():
    road, known = square_road()
    net = joined(road, known)
    ways = net.ways()
    way = ways.way(0, 2)
    assert ways.cost[0, 2] == pytest.approx(net.hops.steps[way.hops].sum()) == pytest.approx(way.steps)
    nodes = np.append(net.hops.source[way.hops], net.hops.target[way.hops[-1]])
    np.testing.assert_array_equal(net.places.position[nodes], way.path)
    assert (np.diag(ways.cost) == 0).all()
    assert (ways.cost <= ways.cost[:, :1] + ways.cost[:1] + 1e-9).all()


def test_anchors_in_sight_of_each_other_are_joined_straight():
    road, known = square_road()
    way = joined(road, known, np.array([[3.0, 3.0], [3.5, 3.5]])).ways().way(0, 1)
    assert len(way.path) == 2


def test_an_anchor_may_lie_outside_the_support():
    road, known = square_road()
    anchors = np.array([[-0.4, 5.0], [5.0, 5.0]])
    assert joined(road, known, anchors).ways().way(0, 1) is not None


def test_dearer_hops_send_the_way_elsewhere():
    road, known = square_road()
    net = joined(road, known)
    before = net.ways().way(0, 1)
    side = np.sign(before.path[len(before.path) // 2, 1] - 10.0)
    after = net.dearer(net.hops_along(before.path, 3.0), 5.0).ways().way(0, 1)
    assert np.sign(after.path[len(after.path) // 2, 1] - 10.0) == -side
    assert net.ways().way(0, 1).steps == before.steps


def test_hops_along_a_path_go_its_way():
    road, known = square_road()
    net = joined(road, known)
    path = np.array([[2.0, 3.0], [18.0, 3.0]])
    along = net.hops_along(path, 1.0)
    moves = net.places.position[net.hops.target[along]] - net.places.position[net.hops.source[along]]
    assert len(along) > 20
    assert (moves[:, 0] > 0).all()


def test_what_no_hop_joins_has_no_way():
    road, known = gate_road(width=0)
    ways = joined(road, known, np.array([[3.0, 3.0], [20.0, 3.0]])).ways()
    assert ways.cost[0, 1] == np.inf
    assert ways.way(0, 1) is None
    assert ways.way(0, 0) is None


def test_the_way_goes_round_the_ring_as_recordings_did():
    road, known = ring_road()
    anchors = 10.0 * np.array([[1.0, 0.0], [np.cos(-0.6), np.sin(-0.6)]])
    ways = joined(road, known, anchors).ways()
    there, back = ways.way(0, 1), ways.way(1, 0)
    assert path_length(there.path) > 4 * path_length(back.path)
    turn = np.unwrap(np.arctan2(there.path[:, 1], there.path[:, 0]))
    assert turn[-1] - turn[0] > 5.0


def test_a_narrow_street_with_curves_holds_together_where_a_step_is_longer_than_they_are():
    """Driven both ways, 1 unit wide, with a bend every 6 units; vehicles cover 12 in a step."""
    x, y = np.meshgrid(np.arange(0, 60, 0.1), np.arange(0, 12, 0.1), indexing="ij")
    density = grid_density(np.abs(y - 6.0 - 3.0 * np.sin(x / 2.0)) < 1.2, cell=0.1)
    known = ground(density, step_length=12.0)
    road = build_roadmap(support_of(density), known)
    ends = np.array([[2.0, 6.0 + 3.0 * np.sin(1.0)], [58.0, 6.0 + 3.0 * np.sin(29.0)]])
    assert np.isfinite(join(road, ends, known).ways().cost).all()


def test_a_world_without_places_joins_nothing_far():
    road, known = square_road()
    places, hops = road.places, road.hops
    empty = Roadmap(
        Places(places.position[:0], places.spacing[:0]),
        Hops(hops.source[:0], hops.target[:0], hops.steps[:0], hops.is_driven[:0]),
        road.usual,
    )
    assert not np.isfinite(joined(empty, known).ways().cost[0, 1])


def test_a_factor_below_one_is_refused():
    road, known = square_road()
    with pytest.raises(InvalidParameter):
        joined(road, known).dearer(np.array([0]), 0.5)


def test_costs_are_close_to_the_shortest_way():
    road, known = square_road(block=None)
    points = np.random.default_rng(0).uniform(1.0, 19.0, (12, 2))
    cost = joined(road, known, points).ways().cost
    true = np.linalg.norm(points[:, None] - points, axis=-1) / SPEED
    assert (cost >= true - 1e-6).all()
    assert (cost <= 1.08 * true + 1e-6).all()


def test_on_lanes_hops_along_a_path_have_about_its_heading():
    road, known = square_road()
    net = joined(road, known)
    on_lanes = replace(net, turns=turns(net.places.position, net.hops, net.num_anchors))
    path = np.array([[2.0, 3.0], [18.0, 3.0]])
    along = on_lanes.hops_along(path, 1.0)
    moves = net.places.position[net.hops.target[along]] - net.places.position[net.hops.source[along]]
    assert 0 < len(along) < len(net.hops_along(path, 1.0))
    assert (np.abs(moves[:, 1]) < np.tan(np.radians(ALIKE)) * moves[:, 0] + 1e-9).all()


def test_many_anchors_are_asked_about_in_parts_with_the_same_answer(monkeypatch):
    road, known = square_road()
    anchors = np.random.default_rng(3).uniform(2.0, 18.0, (7, 2))
    net = joined(road, known, anchors)
    whole = net.ways()
    monkeypatch.setattr("chronoforest.roadmap.chains.MOST_AT_ONCE", 3)
    parts = net.ways()
    np.testing.assert_array_equal(parts.cost, whole.cost)
    for one, other in zip(parts.before, whole.before, strict=True):
        np.testing.assert_array_equal(one, other)
