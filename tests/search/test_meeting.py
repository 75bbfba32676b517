import numpy as np
import pytest
from fakes import SPEED, EuclideanDistance, WindDistance

from chronoforest.search.meeting import Frames, meetings
from chronoforest.search.tree import Forest, Representatives, Tree
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


def met(source, target, radius=RADIUS, fresh=None):
    """The meeting of two trees, if there is one; fresh: the frames that are asked about, the source's."""
    forest = Forest({source.anchor: source}, {target.anchor: target})
    found = meetings(forest, [fresh or all_of(source)], radius, SPEED)
    assert len(found) <= 1
    return found[0] if found else None


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
    assert met(source, target, radius=1.0, fresh=Frames(source, np.array([0]))) is None
    assert met(source, target, radius=1.0, fresh=Frames(target, np.array([0]))) is None


@pytest.mark.parametrize("seed", range(5))
def test_it_does_not_matter_which_of_the_two_trees_has_grown(seed):
    source = random_tree(0, seed, WindDistance())
    target = random_tree(1, 100 + seed, WindDistance(), is_incoming=True)
    assert met(source, target) == met(source, target, fresh=all_of(target))


@pytest.mark.parametrize("is_reversible", [True, False])
def test_all_trees_at_once_meet_as_one_after_the_other(is_reversible):
    trees = [random_tree(a, a, EuclideanDistance()) for a in range(4)]
    incoming = [random_tree(a, 50 + a, EuclideanDistance(), is_incoming=True) for a in range(4)]
    outgoing = dict(enumerate(trees))
    forest = Forest(outgoing, outgoing if is_reversible else dict(enumerate(incoming)))
    together = meetings(forest, [all_of(tree) for tree in forest.trees], RADIUS, SPEED)
    one_by_one = [m for tree in forest.trees for m in meetings(forest, [all_of(tree)], RADIUS, SPEED)]
    assert together == one_by_one
    assert len({meeting.pair for meeting in together}) > 4
    assert all(meeting.pair.source != meeting.pair.target for meeting in together)


def test_nothing_grown_meets_nothing():
    tree = random_tree(0, 0, EuclideanDistance())
    assert meetings(Forest({0: tree}, {0: tree}), [], RADIUS, SPEED) == []


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
