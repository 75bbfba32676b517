import numpy as np
import pytest
from fakes import CALIBRATION, SPEED, EuclideanDistance, WindDistance

from chronoforest.search.scoring import (
    Rows,
    bridge_cost,
    bridge_costs,
    rank_leaves,
    straight_ranking,
    temporal_ranking,
    uncertainty,
)
from chronoforest.search.tree import Representatives, Tree

HORIZON = 3


def tree_at(place, distance=None, is_incoming=False):
    return Tree(0, np.array(place, dtype=float), HORIZON, distance or EuclideanDistance(), is_incoming)


def held(tree, nodes, tails, mass=None):
    """Representatives with the given tails; their frames all sit at the tail."""
    tails = np.array(tails, dtype=float)
    segment = np.repeat(tails[:, None], HORIZON + 1, axis=1)
    cost = tree.distance.between(np.repeat(tree.codes[:1], len(tails), axis=0), tails)
    mass = np.ones(len(tails)) if mass is None else np.array(mass, dtype=float)
    return Representatives(np.array(nodes), segment, tree.distance.encode(segment[:, 1:]), mass, cost)


@pytest.mark.parametrize("is_incoming", [False, True])
def test_a_bridge_costs_both_sides_and_the_inflated_gap_in_the_direction_of_travel(is_incoming):
    tree = tree_at([0.0, 0.0], WindDistance(), is_incoming)
    partner = tree_at([4.0, 0.0], WindDistance(), not is_incoming)
    partner.append(held(partner, [0], [[3.0, 2.0]]))
    found = held(tree, [0, 0], [[1.0, 1.0], [-1.0, 0.0]])
    candidates = bridge_cost(tree, found.cost, found.tail_codes, partner, CALIBRATION)
    for row, column in np.ndindex(2, 2):
        ends = found.state[row], partner.state[column]
        gap = tree.distance.between(*(ends[::-1] if is_incoming else ends))
        np.testing.assert_allclose(candidates.gap[row, column], gap)
        total = found.cost[row] + CALIBRATION.inflate(gap) + partner.cost[column]
        np.testing.assert_allclose(candidates.cost[row, column], total)
    assert candidates.best.tolist() == candidates.cost.argmin(axis=1).tolist()


def test_the_temporal_ranking_sees_detours_that_the_straight_one_does_not():
    tree, partner = tree_at([0.0, 0.0]), tree_at([10.0, 0.0])
    found = held(tree, [0, 0], [[5.0, 0.0], [5.0, 1.0]])
    found = Representatives(found.node, found.segment, found.codes, found.mass, np.array([900.0, 60.0]))
    candidates = bridge_cost(tree, found.cost, found.tail_codes, partner, CALIBRATION)
    assert np.argmin(temporal_ranking(partner, found, candidates)) == 1
    assert np.argmin(straight_ranking(partner, found, candidates)) == 0


def test_the_straight_ranking_is_the_distance_to_the_counterparts_root():
    tree, partner = tree_at([0.0, 0.0]), tree_at([4.0, 3.0])
    partner.append(held(partner, [0], [[9.0, 9.0]]))
    found = held(tree, [0, 0], [[4.0, 0.0], [0.0, 0.0]])
    candidates = bridge_cost(tree, found.cost, found.tail_codes, partner, CALIBRATION)
    np.testing.assert_allclose(straight_ranking(partner, found, candidates), [3.0, 5.0])


def uncertain(found):
    """U of a root that holds these representatives alone."""
    tree = tree_at([0.0, 0.0])
    tree.hold(found)
    (value,) = uncertainty(tree)
    return value


@pytest.mark.parametrize("is_incoming", [False, True])
def test_many_bridges_at_once_cost_what_they_cost_one_by_one(is_incoming):
    trees = [tree_at([a, 2.0 * a], WindDistance(), is_incoming) for a in (0.0, 1.0)]
    partners = [
        leaves_with(tree_at([8.0, a], WindDistance(), not is_incoming), [[[3.0, a]], [[4.0, 5.0]]])
        for a in (0.0, 4.0)
    ]
    asked = []
    for tree in trees:
        found = held(tree, [0, 0, 0], [[1.0, 2.0], [3.0, 4.0], [2.0, 9.0]])
        asked += [(Rows(tree, found.cost, found.tail_codes), partner) for partner in partners]
    for (rows, partner), found in zip(asked, bridge_costs(asked, CALIBRATION), strict=True):
        alone = bridge_cost(rows.tree, rows.cost, rows.codes, partner, CALIBRATION)
        np.testing.assert_array_equal(found.cost, alone.cost)
        np.testing.assert_array_equal(found.gap, alone.gap)


def test_trees_of_both_directions_may_be_asked_about_together():
    out, into = (tree_at([a, 0.0], WindDistance(), a > 0) for a in (0.0, 9.0))
    asked = [(Rows(out, out.cost, out.codes), into), (Rows(into, into.cost, into.codes), out)]
    there, back = bridge_costs(asked, CALIBRATION)
    assert there.gap.tolist() == back.gap.tolist() == [[90.0]]
    assert bridge_costs([], CALIBRATION) == []


def test_uncertainty_is_zero_for_one_place_and_grows_with_the_spread():
    tree = tree_at([0.0, 0.0])
    spreads = [uncertain(held(tree, [0, 0], [[2.0, -width], [2.0, width]])) for width in (0.0, 1.0, 2.0)]
    assert spreads[0] == 0.0
    assert spreads[0] < spreads[1] < spreads[2]
    np.testing.assert_allclose(spreads[1], 0.5 * (2.0 / SPEED) ** 2)


def test_uncertainty_is_centred_where_the_mass_is():
    tree = tree_at([0.0, 0.0])
    tails = [[2.0, -1.0], [2.0, 1.0]]
    even, lopsided = (uncertain(held(tree, [0, 0], tails, mass)) for mass in ([1, 1], [9, 1]))
    np.testing.assert_allclose(lopsided, 0.1 * (2.0 / SPEED) ** 2)
    assert lopsided < even


def leaves_with(tree, leaf_tails):
    """One open leaf per entry, each with representatives at the given tails."""
    tree.append(held(tree, [0] * len(leaf_tails), [tails[0] for tails in leaf_tails]))
    for leaf, tails in enumerate(leaf_tails, start=1):
        tree.hold(held(tree, [leaf] * len(tails), tails))
    return tree


def test_leaves_are_ranked_by_their_best_representative():
    tree = leaves_with(tree_at([0.0, 0.0]), [[[1.0, 0.0]], [[2.0, 0.0], [9.0, 0.0]], [[3.0, 0.0]]])
    promise = np.array([5.0, 7.0, 1.0, 3.0])
    assert rank_leaves(tree, promise, uncertainty(tree), 0.0).tolist() == [2, 3, 1]


def test_a_heavy_uncertainty_weight_prefers_the_leaf_that_agrees_with_itself():
    tree = leaves_with(tree_at([0.0, 0.0]), [[[1.0, 0.0], [9.0, 9.0]], [[2.0, 0.0], [2.1, 0.0]]])
    promise = np.array([1.0, 1.0, 2.0, 2.0])
    assert rank_leaves(tree, promise, uncertainty(tree), 0.1).tolist() == [1, 2]
    assert rank_leaves(tree, promise, uncertainty(tree), 10.0).tolist() == [2, 1]


def test_of_equally_promising_leaves_the_one_that_agrees_with_itself_is_first():
    tree = leaves_with(tree_at([0.0, 0.0]), [[[1.0, 0.0], [9.0, 9.0]], [[2.0, 0.0], [2.1, 0.0]]])
    promise = np.ones(4)
    assert rank_leaves(tree, promise, uncertainty(tree), 0.1).tolist() == [2, 1]
    assert rank_leaves(tree, promise, uncertainty(tree), 0.0).tolist() == [1, 2]


def test_no_open_leaves_are_no_ranking():
    tree = tree_at([0.0, 0.0])
    assert rank_leaves(tree, np.zeros(0), uncertainty(tree), 0.1).tolist() == []
