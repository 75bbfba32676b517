import numpy as np
import pytest
from fakes import BLOCK, SPEED
from road_cases import gate_road, square_road, ways_between

from chronoforest.types import Pair, path_length

ACROSS = np.array([[3.0, 10.0], [17.0, 10.0], [10.0, 3.0]])
"""On three sides of the block."""

LEG = Pair(0, 1)


def test_ways_lead_from_anchor_to_anchor_around_the_block():
    road, known = square_road()
    way = ways_between(road, ACROSS).way(LEG)
    np.testing.assert_array_equal(way.path[[0, -1]], ACROSS[:2])
    assert (known.density.margin(way.path) > 0).all()
    around = 2 * np.linalg.norm(np.array(BLOCK[0]) - ACROSS[0]) + BLOCK[1][0] - BLOCK[0][0]
    assert around < path_length(way.path) < 1.1 * around


def test_costs_are_the_sums_of_the_hops_and_what_lies_beside_them():
    ways = ways_between(square_road()[0], ACROSS)
    way, roadmap = ways.way(Pair(0, 2)), ways.joined.roadmap
    assert way.beside > 0
    assert ways.cost[0, 2] == pytest.approx(roadmap.hops.steps[way.hops].sum() + way.beside)
    assert ways.cost[0, 2] == pytest.approx(way.steps) == pytest.approx(path_length(way.path) / SPEED)
    nodes = np.append(roadmap.hops.source[way.hops], roadmap.hops.target[way.hops[-1]])
    np.testing.assert_array_equal(roadmap.position[nodes], way.path[1:-1])
    assert (np.diag(ways.cost) == 0).all()
    assert (ways.cost <= ways.cost[:, :1] + ways.cost[:1] + 1e-9).all()


def test_no_way_leads_through_another_anchor():
    road, _ = square_road(block=None)
    alone, among = [[4.0, 4.05], [16.0, 4.05]], [[4.0, 4.05], [16.0, 4.05], [10.0, 4.05]]
    there, beside = ways_between(road, alone).way(LEG), ways_between(road, among).way(LEG)
    np.testing.assert_array_equal(there.path, beside.path)


def test_an_anchor_may_lie_outside_the_support():
    assert ways_between(square_road()[0], [[-0.4, 5.0], [5.0, 5.0]]).way(LEG) is not None


def test_hops_that_cost_more_send_the_way_elsewhere():
    road, _ = square_road()
    before = ways_between(road, ACROSS).way(LEG)
    side = np.sign(before.path[len(before.path) // 2, 1] - 10.0)
    after = ways_between(road.with_cost_factor(road.hops_along(before.path, 3.0), 5.0), ACROSS).way(LEG)
    assert np.sign(after.path[len(after.path) // 2, 1] - 10.0) == -side


def test_hops_along_a_path_go_its_way():
    road, _ = square_road()
    along = road.hops_along(np.array([[2.0, 3.0], [18.0, 3.0]]), 1.0)
    moves = road.position[road.hops.target[along]] - road.position[road.hops.source[along]]
    assert len(along) > 20
    assert (moves[:, 0] > 0).all()


def test_what_no_hop_joins_has_no_way():
    ways = ways_between(gate_road(width=0)[0], [[3.0, 3.0], [20.0, 3.0]])
    assert ways.cost[0, 1] == np.inf
    assert ways.way(LEG) is None
    assert ways.way(Pair(0, 0)) is None


def test_costs_are_close_to_the_shortest_way():
    points = np.random.default_rng(0).uniform(1.0, 19.0, (12, 2))
    cost = ways_between(square_road(block=None)[0], points).cost
    true = np.linalg.norm(points[:, None] - points, axis=-1) / SPEED
    far = true > 3.0 / SPEED
    assert (cost >= true - 1e-6).all()
    assert (cost[far] <= 1.08 * true[far]).all()
