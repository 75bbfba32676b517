import numpy as np
import pytest
from fakes import SPEED, EuclideanDistance, WindDistance

from chronoforest.search.meeting import Frames, meet
from chronoforest.search.tree import Representatives, Tree
from chronoforest.types import Pair

PAIR = Pair(0, 1)
RADIUS = 6.0
HORIZON = 4


def random_tree(anchor, seed, distance, is_incoming=False):
    """A dozen nodes scattered so that some frames of two such trees touch."""
    rng = np.random.default_rng(seed)
    tree = Tree(anchor, rng.uniform(0, 4, 2), HORIZON, distance, is_incoming)
    for _ in range(12):
        node = int(rng.integers(tree.num_nodes))
        segment = tree.state[node] + np.concatenate(
            [np.zeros((1, 2)), rng.normal(0, 0.7, (HORIZON, 2))]
        ).cumsum(axis=0)
        codes = distance.encode(segment[None, 1:])
        cost = tree.cost[node] + tree.outward(tree.codes[node : node + 1], codes[:, -1])
        tree.append(Representatives(np.array([node]), segment[None], codes, np.ones(1), cost))
    return tree


def met(source, target, radius=RADIUS):
    return meet(PAIR, all_of(source), all_of(target), radius, SPEED)


def all_of(tree):
    return Frames(tree, np.arange(len(tree.frame_node)))


def all_bridges(source, target):
    gap = source.distance.pairwise(source.frame_codes, target.frame_codes)
    return gap, source.frame_cost[:, None] + gap + target.frame_cost


@pytest.mark.parametrize("distance", [EuclideanDistance(), WindDistance()])
@pytest.mark.parametrize("seed", range(10))
def test_the_meeting_is_the_cheapest_of_all_frame_pairs_within_the_radius(seed, distance):
    source, target = random_tree(0, seed, distance), random_tree(1, 100 + seed, distance, is_incoming=True)
    gap, cost = all_bridges(source, target)
    found = met(source, target)
    if (gap <= RADIUS).any():
        np.testing.assert_allclose(found.cost, cost[gap <= RADIUS].min())
        np.testing.assert_allclose(found.gap, gap[found.source_frame, found.target_frame])
        assert found.gap <= RADIUS
        assert found.pair == PAIR
    else:
        assert found is None


def test_the_ten_cases_hold_meetings_and_misses():
    """Guards the test above against a radius at which it shows nothing."""
    outcomes = {
        met(random_tree(0, seed, WindDistance()), random_tree(1, 100 + seed, WindDistance(), True), radius)
        is None
        for seed in range(10)
        for radius in (0.05, RADIUS)
    }
    assert outcomes == {True, False}


def test_only_the_frames_asked_about_may_meet():
    source, target = (Tree(a, np.zeros(2) + a, HORIZON, EuclideanDistance()) for a in (0, 1))
    for tree in (source, target):
        segment = np.linspace(tree.state[0], [5.0, 5.0], HORIZON + 1)[None]
        codes = tree.distance.encode(segment[:, 1:])
        cost = tree.outward(tree.codes, codes[:, -1])
        tree.append(Representatives(np.array([0]), segment, codes, np.ones(1), cost))
    assert met(source, target, radius=1.0) is not None
    assert meet(PAIR, all_of(source), Frames(target, np.array([0])), 1.0, SPEED) is None


def test_the_wind_decides_in_which_direction_neighbours_can_meet():
    west, east = (Tree(a, np.array([0.4 * a, 0.0]), HORIZON, WindDistance()) for a in (0, 1))
    assert met(west, east, radius=5.0) is not None
    assert met(east, west, radius=5.0) is None


def test_frames_exactly_at_the_radius_meet():
    west, east = (Tree(a, np.array([0.5 * a, 0.0]), HORIZON, EuclideanDistance()) for a in (0, 1))
    assert met(west, east, radius=5.0).gap == 5.0
    assert met(west, east, radius=4.9) is None


def test_frames_farther_apart_than_anybody_walks_in_so_many_steps_do_not_meet():
    """Whatever a learned distance says of them."""

    class Hasty(EuclideanDistance):
        def between(self, source, target):
            return super().between(source, target) / 10

    west, east = (Tree(a, np.array([3.0 * a, 0.0]), HORIZON, Hasty()) for a in (0, 1))
    assert west.distance.between(west.state, east.state) <= 5.0
    assert met(west, east, radius=5.0) is None
    assert met(west, east, radius=31.0) is not None
