"""What is special about each method, on fakes."""

import numpy as np
import pytest
from fakes import BLOCK, StraightSampler
from peer_cases import StraightChains, make_inputs

from benchmarks.peers.compositional import PEER, Compositional, CompositionalParams
from benchmarks.peers.diffusion_replan import DiffusionReplan, ReplanParams
from benchmarks.peers.tree_single import TreeParams, TreeSingle
from chronoforest.errors import InvalidParameter

SOURCE, TARGET = np.array([3.0, 3.0]), np.array([17.0, 3.0])


def searched(method, source=SOURCE, target=TARGET, num_rounds=100, seed=0):
    search, rng = method.begin(source, target), np.random.default_rng(seed)
    for _ in range(num_rounds):
        if search.found is not None or search.is_spent:
            break
        search.advance(rng)
    return search


def test_a_chain_keeps_every_segment_and_a_part_of_the_last():
    inputs = make_inputs()
    search = searched(DiffusionReplan(inputs))
    straight = np.linalg.norm(TARGET - SOURCE) / StraightSampler().longest
    assert straight - 2 <= search.num_expanded <= straight + 1
    np.testing.assert_array_equal(search.found[[0, -1]], [SOURCE, TARGET])


def test_a_chain_in_a_dead_end_gives_up_with_its_attempt():
    search = searched(DiffusionReplan(make_inputs(BLOCK), ReplanParams(scales=(16.0,), max_segments=9)),
                      np.array([3.0, 10.0]), np.array([17.0, 10.0]))  # fmt: skip
    assert search.found is None
    assert search.is_spent
    assert search.num_expanded == 9
    assert search.attempt[-1, 0] < BLOCK[0][0]


def test_chains_get_a_segment_more_with_every_failure():
    inputs, chains = make_inputs(((7.0, 0.5), (13.0, 19.5))), StraightChains()
    params = CompositionalParams(steps_per_segment=60.0, max_rounds=3)
    search = searched(Compositional(inputs, chains, params))
    assert chains.asked == [3, 4, 5]
    assert search.found is None
    assert search.is_spent
    np.testing.assert_array_equal(search.attempt[[0, -1]], [SOURCE, TARGET])


def test_chains_come_from_a_trained_denoiser():
    with pytest.raises(InvalidParameter, match="needs a trained denoiser, got StraightSampler"):
        PEER.make(make_inputs())


def test_a_tree_expands_the_promising_side_more_often():
    inputs = make_inputs(sampler=StraightSampler(longest=2.4))
    search = searched(TreeSingle(inputs, TreeParams(scales=(0.0, 16.0), num_expand=1, exploration=0.05)))
    assert search.found is not None
    expanded = np.unique(search.tree.parent[1:])
    gained = search.tree.state[expanded[1:], 0] - SOURCE[0]
    assert (gained > 0).mean() > 0.7
