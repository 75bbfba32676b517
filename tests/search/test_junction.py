from __future__ import annotations

import numpy as np
import pytest
from fakes import BLOCK, SPEED, STRIDE, EuclideanDistance, SquareDensity, StraightSampler, WindDistance

from chronoforest.errors import InvalidParameter
from chronoforest.search.junction import (
    EXEC_SCALE,
    LEAST_STEPS,
    NUM_TRIES,
    JunctionParams,
    Leaf,
    cluster,
    goes_with_traffic,
    has_no_jump,
    is_supported,
    longest_hop,
    look_ahead,
    sound_part,
)
from chronoforest.search.tree import Tree, promote

PARAMS = JunctionParams()
HOP = SPEED * STRIDE


def tree_at(*place, distance=None, is_incoming=False):
    return Tree(0, np.array(place, dtype=float), 12, distance or EuclideanDistance(), is_incoming)


def looked_ahead(leaves, sampler=None, params=PARAMS, density=None, seed=0):
    sampler = sampler or StraightSampler()
    density = density or SquareDensity(BLOCK)
    look_ahead(leaves, sampler, density, HOP, params, np.random.default_rng(seed))
    return sampler


def test_all_leaves_are_sampled_in_one_batch_with_their_own_targets():
    trees = [tree_at(3.0, 3.0), tree_at(16.0, 16.0, is_incoming=True)]
    targets = np.array([[[3.0, 9.0], [9.0, 3.0]], [[16.0, 9.0], [9.0, 16.0]]])
    leaves = [Leaf(tree, 0, places) for tree, places in zip(trees, targets, strict=True)]
    sampler = looked_ahead(leaves)
    (query,) = sampler.queries
    assert len(query) == 2 * PARAMS.num_samples
    rows = np.split(np.arange(len(query)), 2)
    for row, leaf in zip(rows, leaves, strict=True):
        np.testing.assert_array_equal(query.boundary[row], np.tile(leaf.tree.state[0], (len(row), 1)))
        assert set(map(tuple, query.target[row])) == set(map(tuple, leaf.targets))
        assert (query.is_incoming[row] == leaf.tree.is_incoming).all()
        for target in leaf.targets:
            scales = query.guidance[row][(query.target[row] == target).all(axis=1)]
            assert set(scales) == set(PARAMS.scales)


@pytest.mark.parametrize("is_incoming", [False, True])
def test_representatives_start_at_their_leaf_and_pass_every_test(is_incoming):
    tree = tree_at(4.0, 10.0, distance=WindDistance(), is_incoming=is_incoming)
    looked_ahead([Leaf(tree, 0, np.array([[16.0, 10.0]]))])
    found = tree.representatives
    assert len(found) > 1
    np.testing.assert_allclose(found.segment[:, 0], np.tile(tree.state[0], (len(found), 1)))
    assert is_supported(found.segment, SquareDensity(BLOCK)).all()
    assert has_no_jump(found.segment, HOP).all()
    start = np.repeat(tree.codes[:1], len(found), axis=0)
    way = tree.outward(start, found.tail_codes)
    np.testing.assert_allclose(found.cost, way)
    assert (EXEC_SCALE * way >= PARAMS.progress).all()
    assert (found.mass >= 1).all()
    assert found.mass.sum() <= PARAMS.num_samples


def test_lookaheads_do_not_return_to_their_own_prefix():
    tree = tree_at(10.0, 3.0)
    looked_ahead([Leaf(tree, 0, np.array([[10.0, 12.0]]))], density=SquareDensity())
    (rows,) = promote([(tree, np.array([0]))])
    looked_ahead([Leaf(tree, int(row), tree.state[:1]) for row in rows], density=SquareDensity(), seed=1)
    found = tree.representatives
    assert len(found) > 0
    for node, tail in zip(found.node, found.tail_codes, strict=True):
        prefix = tree.frame_codes[tree.prefix_frames(int(node))]
        overlap = tree.outward_pairwise(prefix, tail[None]).min()
        assert EXEC_SCALE * overlap >= PARAMS.progress


def test_many_leaves_keep_what_each_would_keep_alone():
    """Trees of both directions, and segments that do not depend on the batch."""

    class Fan(StraightSampler):
        def __call__(self, query, rng):
            turn = np.arange(len(query)) % PARAMS.num_samples
            angle = 2.0 * np.pi * (turn + 0.3 * query.boundary[:, 0]) / PARAMS.num_samples
            tail = self.longest * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            share = np.linspace(0.0, 1.0, self.horizon + 1)[None, :, None]
            return query.boundary[:, None] + share * tail[:, None]

    def grown():
        trees = [tree_at(x, 10.0, distance=WindDistance(), is_incoming=x > 9) for x in (3.0, 6.0, 15.0)]
        for tree in trees:
            looked_ahead([Leaf(tree, 0, np.array([[9.0, 3.0]]))], Fan())
            promote([(tree, np.array([0]))])
        return trees, [Leaf(tree, row, tree.state[:1]) for tree in trees for row in (1, 2)]

    (together, leaves), (alone, others) = grown(), grown()
    looked_ahead(leaves, Fan())
    for leaf in others:
        looked_ahead([leaf], Fan())
    for first, second in zip(together, alone, strict=True):
        assert len(first.representatives) > 1
        for name in ("node", "segment", "codes", "mass", "cost"):
            np.testing.assert_array_equal(
                getattr(first.representatives, name), getattr(second.representatives, name)
            )


def test_a_leaf_left_with_nothing_gets_another_try_and_the_others_do_not():
    class Shy(StraightSampler):
        """Its first batch goes nowhere for the row at (16, 16)."""

        def __call__(self, query, rng):
            segments = super().__call__(query, rng)
            is_shy = (query.boundary == 16.0).all(axis=1) & (len(self.queries) == 1)
            return np.where(is_shy[:, None, None], query.boundary[:, None], segments)

    trees = [tree_at(3.0, 3.0), tree_at(16.0, 16.0)]
    sampler = looked_ahead([Leaf(tree, 0, np.array([[9.0, 3.0]])) for tree in trees], Shy())
    assert [len(query) for query in sampler.queries] == [2 * PARAMS.num_samples, PARAMS.num_samples]
    assert all(len(tree.representatives) for tree in trees)


def test_a_leaf_from_which_nothing_survives_stays_without_representatives():
    tree = tree_at(3.0, 3.0)
    sampler = looked_ahead([Leaf(tree, 0, np.array([[9.0, 3.0]]))], StraightSampler(shortest=90, longest=90))
    assert len(sampler.queries) == NUM_TRIES
    assert len(tree.representatives) == 0


def test_no_leaves_ask_nothing_of_the_sampler():
    assert looked_ahead([]).queries == []


def test_the_representative_of_a_cluster_is_its_best_supported_member():
    tree = tree_at(3.0, 1.0)

    class Two(StraightSampler):
        """Two ways east that end in one cluster, the second with more room."""

        def __call__(self, query, rng):
            tails = np.array([[4.8, -0.5], [4.8, 0.3]])[np.arange(len(query)) % 2]
            share = np.linspace(0.0, 1.0, self.horizon + 1)[None, :, None]
            return query.boundary[:, None] + share * tails[:, None]

    looked_ahead([Leaf(tree, 0, np.array([[9.0, 1.0]]))], Two())
    (tail,) = tree.representatives.state
    np.testing.assert_allclose(tail, [7.8, 1.3])
    assert tree.representatives.mass.tolist() == [PARAMS.num_samples]


def test_clusters_by_complete_linkage_are_no_wider_than_the_cut():
    rng = np.random.default_rng(0)
    tree = tree_at(0.0, 0.0, distance=WindDistance())
    tails = rng.uniform(0.0, 10.0, (40, 2))
    labels = cluster(tree.distance.pairwise(tails, tails), PARAMS.cluster_cut, is_one_way=False)
    spread = tree.distance.pairwise(tails, tails)
    spread = np.maximum(spread, spread.T)
    is_together = labels[:, None] == labels[None]
    assert 1 < len(set(labels)) < 40
    assert (spread[is_together] <= PARAMS.cluster_cut + 1e-9).all()


@pytest.mark.parametrize(("cut", "labels"), [(3.0, [1, 1, 1]), (2.9, [1, 1, 2])])
def test_endpoints_no_farther_apart_than_the_cut_are_one_cluster(cut, labels):
    spread = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    assert cluster(spread, cut, is_one_way=False).tolist() == labels


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_endpoints_need_no_clustering(count):
    assert cluster(np.zeros((count, count)), PARAMS.cluster_cut, is_one_way=False).tolist() == [1] * count


def test_a_learned_distance_that_finds_a_place_far_from_itself_does_not_hinder_clustering():
    class Offset(EuclideanDistance):
        def between(self, source, target):
            return super().between(source, target) + 0.5

    tails = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 0.0]])
    tree = tree_at(0.0, 0.0, distance=Offset())
    assert cluster(tree.distance.pairwise(tails, tails), PARAMS.cluster_cut, is_one_way=False).tolist() == [
        1,
        1,
        2,
    ]


@pytest.mark.parametrize(
    "broken", [{"num_samples": 0}, {"scales": ()}, {"scales": (-1.0,)}, {"scales": (16.0, -1.0)}]
)
def test_parameters_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match="got"):
        JunctionParams(**broken)


def test_one_unguided_sample_is_enough_to_ask_for():
    tree = tree_at(3.0, 3.0)
    few = JunctionParams(num_samples=1, scales=(0.0,))
    queries = looked_ahead([Leaf(tree, 0, np.array([[9.0, 3.0]]))], params=few).queries
    assert queries[0].guidance.tolist() == [0.0]


class Given:
    """Always the same frames [horizon, 2], counted from the boundary."""

    def __init__(self, offsets):
        self.offsets = np.array(offsets, dtype=float)
        self.horizon, self.stride = len(offsets), STRIDE

    def __call__(self, query, rng):
        frames = np.concatenate([np.zeros((1, 2)), self.offsets])
        return query.boundary[:, None] + np.repeat(frames[None], len(query), axis=0)


def keeps(offsets, **params):
    """Whether a lookahead over these frames is kept, in an open world where any hop has been recorded."""
    tree = Tree(0, np.array([3.0, 3.0]), len(offsets), EuclideanDistance())
    leaf = Leaf(tree, 0, np.array([[9.0, 3.0]]))
    look_ahead(
        [leaf], Given(offsets), SquareDensity(), 10.0, JunctionParams(**params), np.random.default_rng(0)
    )
    return len(tree.representatives) > 0


EAST = [[0.5, 0.0], [1.0, 0.0], [1.5, 0.0], [2.0, 0.0]]
"""Two units are 20 steps, and in d_exec 4."""


def test_a_lookahead_may_get_just_as_far_as_it_must():
    assert keeps(EAST, progress=4.0)
    assert not keeps(EAST, progress=4.1)


@pytest.mark.parametrize(
    "offsets", [[[2.0, 0.0], [2.5, 0.0]], [[0.5, 0.0], [2.5, 0.0]]], ids=["first hop", "last hop"]
)
def test_no_hop_may_be_longer_than_what_counts_as_continuous(offsets):
    assert keeps(offsets, continuity=4.0)
    assert not keeps(offsets, continuity=3.9)


def test_of_equally_supported_members_the_first_sampled_is_kept():
    class Fan(Given):
        """Every row ends a hair farther north."""

        def __call__(self, query, rng):
            north = np.linspace(0.0, 1e-3, len(query))[:, None] * np.linspace(0.0, 1.0, self.horizon + 1)
            return super().__call__(query, rng) + np.stack([np.zeros_like(north), north], axis=-1)

    tree = Tree(0, np.array([3.0, 3.0]), len(EAST), EuclideanDistance())
    leaf = Leaf(tree, 0, np.array([[9.0, 3.0]]))
    looked_ahead([leaf], Fan(EAST), JunctionParams(num_samples=200))
    np.testing.assert_array_equal(tree.representatives.state, [[5.0, 3.0]])


class Traffic(SquareDensity):
    """Recordings moved east below y = 3 and west above; remembers where it was asked."""

    def __init__(self):
        super().__init__(is_one_way=True)
        object.__setattr__(self, "asked", [])

    def follows(self, points, moves):
        self.asked.append(points)
        return (moves[..., 0] > 0) == (points[..., 1] < 3.0)


@pytest.mark.parametrize("is_incoming", [False, True])
def test_every_hop_goes_with_the_traffic_at_its_middle(is_incoming):
    """Row by row: with it all the way, against it, and across the line between the lanes."""
    ways = np.array(
        [
            [[0.0, 1.0], [1.0, 1.0], [3.0, 1.0]],
            [[0.0, 4.0], [1.0, 4.0], [3.0, 4.0]],
            [[0.0, 1.0], [1.0, 2.0], [3.0, 6.0]],
        ]
    )
    outward = ways[:, ::-1] if is_incoming else ways
    traffic = Traffic()
    assert goes_with_traffic(outward, is_incoming, traffic).tolist() == [True, False, False]
    middles = np.array([[[0.5, 1.0], [2.0, 1.0]], [[0.5, 4.0], [2.0, 4.0]], [[0.5, 1.5], [2.0, 4.0]]])
    np.testing.assert_allclose(traffic.asked[0], middles[:, ::-1] if is_incoming else middles)


@pytest.mark.parametrize(("target", "is_kept"), [([17.0, 1.0], True), ([3.0, 1.0], False)])
def test_lookaheads_against_the_traffic_are_not_kept(target, is_kept):
    tree = tree_at(10.0, 1.0)
    guided = JunctionParams(scales=(16.0,))
    leaf = Leaf(tree, 0, np.array([target]))
    look_ahead([leaf], StraightSampler(), Traffic(), HOP, guided, np.random.default_rng(0))
    assert (len(tree.representatives) > 0) is is_kept


class OneWayDistance(EuclideanDistance):
    """East is as near as it looks; west is a detour of 1000 steps."""

    def between(self, source_codes, target_codes):
        steps = super().between(source_codes, target_codes)
        return np.where(target_codes[:, 0] < source_codes[:, 0] - 1e-9, steps + 1000.0, steps)

    def pairwise(self, source_codes, target_codes):
        rows = [
            self.between(np.repeat(row[None], len(target_codes), 0), target_codes) for row in source_codes
        ]
        return np.array(rows).reshape(len(source_codes), len(target_codes))


@pytest.mark.parametrize("is_incoming", [False, True])
def test_where_ways_are_one_way_only_the_direction_of_travel_must_be_continuous(is_incoming):
    class Along:
        """Straight on in the direction of travel: east out of an anchor, from the west into one."""

        horizon, stride = 12, STRIDE

        def __call__(self, query, rng):
            tails = np.stack([np.full(len(query), 5.0), rng.uniform(-0.5, 0.5, len(query))], axis=1)
            share = np.linspace(0.0, 1.0, self.horizon + 1)[None, :, None]
            return query.boundary[:, None] + (-1 if is_incoming else 1) * share * tails[:, None]

    for is_one_way in (False, True):
        tree = tree_at(10.0, 3.0, distance=OneWayDistance(), is_incoming=is_incoming)
        density = SquareDensity(BLOCK, is_one_way)
        looked_ahead([Leaf(tree, 0, np.array([[12.0, 3.0]]))], Along(), density=density)
        assert (len(tree.representatives) > 0) == is_one_way


def test_endpoints_along_one_lane_are_one_cluster_where_ways_are_one_way():
    tree = tree_at(0.0, 0.0, distance=OneWayDistance())
    tails = np.array([[5.0, 0.0], [5.5, 0.0], [6.0, 0.0]])
    assert len(set(cluster(tree.distance.pairwise(tails, tails), PARAMS.cluster_cut, is_one_way=False))) == 3
    assert len(set(cluster(tree.distance.pairwise(tails, tails), PARAMS.cluster_cut, is_one_way=True))) == 1


def test_on_lanes_a_lookahead_counts_until_it_leaves_them():
    """Segments toward the block end in it; where ways are lanes, the part before it is kept."""
    for is_one_way in (False, True):
        tree = tree_at(4.0, 10.0)
        sampler = StraightSampler(shortest=4.0, longest=4.0)
        looked_ahead(
            [Leaf(tree, 0, np.array([[16.0, 10.0]]))],
            sampler,
            JunctionParams(num_samples=1, scales=(16.0,), progress=1.0),
            SquareDensity(BLOCK, is_one_way),
        )
        assert (len(tree.representatives) > 0) == is_one_way
    (segment,) = tree.representatives.segment
    np.testing.assert_allclose(segment[:9, 0], 4.0 + np.arange(9) / 3)
    np.testing.assert_allclose(segment[9:], np.tile([4.0 + 8 / 3, 10.0], (4, 1)))


def test_a_segment_is_unsupported_as_soon_as_one_frame_is():
    east = np.stack([np.linspace(3.0, 6.5, 8), np.full(8, 10.0)], axis=1)
    into_block = east + np.array([1.0, 0.0])
    assert is_supported(np.stack([east, into_block]), SquareDensity(BLOCK)).tolist() == [True, False]


def test_from_an_anchor_outside_the_support_a_segment_may_come_back_but_not_stray_farther():
    back = np.stack([np.linspace(-0.4, 3.0, 8), np.full(8, 10.0)], axis=1)
    away = back * [-1.0, 1.0] - [0.8, 0.0]
    assert is_supported(np.stack([back, away]), SquareDensity()).tolist() == [True, False]


def test_a_frame_on_the_edge_of_the_support_is_outside():
    ends = [[0.0, 10.0], [0.001, 10.0]]
    segments = np.array([[[2.0, 10.0], [1.0, 10.0], end] for end in ends])
    assert is_supported(segments, SquareDensity()).tolist() == [False, True]


def test_the_first_frame_after_the_boundary_counts():
    back = np.array([[[1.0, 10.0], [-1.0, 10.0], [1.0, 10.0]]])
    assert is_supported(back, SquareDensity()).tolist() == [False]


def test_the_slip_is_how_much_farther_outside_than_the_boundary_a_frame_may_be():
    outside = np.array([[[-0.4, 10.0], [-0.4 - more, 10.0], [1.0, 10.0]] for more in (0.03, 0.07)])
    assert is_supported(outside, SquareDensity(), slip=0.05).tolist() == [True, False]
    assert is_supported(outside, SquareDensity()).tolist() == [False, False]


def test_a_hop_as_long_as_the_longest_recorded_one_is_no_jump():
    hops = np.array([[[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]]])
    assert has_no_jump(hops, 0.5).tolist() == [True]


def test_a_hop_longer_than_any_recording_is_a_jump():
    steady = np.stack([np.arange(5) * 0.5, np.zeros(5)], axis=1)
    torn = steady.copy()
    torn[3:] += [0.2, 0.0]
    assert has_no_jump(np.stack([steady, torn]), 0.5 + 1e-9).tolist() == [True, False]


def test_frames_a_step_apart_may_be_a_few_steps_apart():
    """What a denoiser blurs is as much as a step; frames that are more steps apart move much farther."""
    assert longest_hop(0.5, stride=1) == longest_hop(0.5, stride=LEAST_STEPS) == 2.0
    assert longest_hop(0.5, stride=10) == 5.0


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ([[4.0, 10.0], [4.4, 10.0], [4.8, 10.0]], 3),
        ([[4.0, 10.0], [4.4, 10.0], [6.0, 10.0]], 2),
        ([[4.0, 10.0], [6.0, 10.0], [6.2, 10.0]], 1),
        ([[4.0, 10.0], [-0.2, 10.0], [0.2, 10.0]], 1),
    ],
)
def test_a_segment_stays_before_its_first_jump_or_unsupported_frame(path, kept):
    (found,) = sound_part(np.array([path]), np.array([False]), SquareDensity(), HOP, 0.0)
    np.testing.assert_array_equal(found, [*path[:kept], *[path[kept - 1]] * (3 - kept)])
