from __future__ import annotations

import numpy as np
import pytest
from fakes import SPEED, EuclideanDistance, WindDistance, scattered_problem

from chronoforest.search.tree import ForestMemory, Representatives, Tree, plant, promote
from chronoforest.types import Pair, Problem

HORIZON = 4


def lookaheads(tree, node, *tails):
    """Straight representatives from a node of the tree to the given tails."""
    start = tree.state[node]
    share = np.linspace(0.0, 1.0, HORIZON + 1)[None, :, None]
    segment = start + share * (np.array(tails, dtype=float)[:, None] - start)
    codes = tree.distance.encode(segment[:, 1:])
    begin = np.repeat(tree.codes[node : node + 1], len(segment), axis=0)
    return Representatives(
        node=np.full(len(segment), node),
        segment=segment,
        codes=codes,
        mass=np.ones(len(segment)),
        cost=tree.cost[node] + tree.outward(begin, codes[:, -1]),
    )


def grown(is_incoming=False, distance=None, seed=0):
    """A tree of a dozen nodes in random places, each promoted from a random earlier one."""
    rng = np.random.default_rng(seed)
    tree = Tree(3, np.array([5.0, 5.0]), HORIZON, distance or WindDistance(), is_incoming)
    for _ in range(6):
        node = int(rng.integers(tree.num_nodes))
        tree.hold(lookaheads(tree, node, *(tree.state[node] + rng.uniform(-3, 3, (2, 2)))))
        promote([(tree, np.array([node]))])
    return tree


each_way = pytest.mark.parametrize("is_incoming", [False, True])


@each_way
def test_parallel_arrays_keep_step(is_incoming):
    tree = grown(is_incoming)
    assert tree.num_nodes == len(tree.state) == len(tree.cost) == len(tree.codes) == 13
    num_frames = 1 + (tree.num_nodes - 1) * HORIZON
    for array in (tree.frame_state, tree.frame_cost, tree.frame_codes, tree.frame_node):
        assert len(array) == num_frames
    assert (tree.parent[1:] < np.arange(1, tree.num_nodes)).all()


@each_way
def test_a_nodes_cost_is_its_parents_plus_the_way_between_in_the_direction_of_travel(is_incoming):
    tree = grown(is_incoming)
    here, there = tree.codes[tree.parent[1:]], tree.codes[1:]
    way = tree.distance.between(there, here) if is_incoming else tree.distance.between(here, there)
    np.testing.assert_allclose(tree.cost[1:], tree.cost[tree.parent[1:]] + way)
    assert tree.cost[0] == 0.0


@each_way
def test_a_nodes_last_frame_is_the_node_itself(is_incoming):
    tree = grown(is_incoming)
    for node in range(tree.num_nodes):
        last = tree.frames_of(np.array([node]))[-1]
        np.testing.assert_allclose(tree.frame_state[last], tree.state[node])
        np.testing.assert_allclose(tree.frame_cost[last], tree.cost[node])


@each_way
def test_prefixes_run_from_the_root_without_gaps(is_incoming):
    tree = grown(is_incoming)
    for node in range(tree.num_nodes):
        path = tree.frame_state[tree.prefix_frames(node)]
        np.testing.assert_allclose(path[0], tree.state[0])
        np.testing.assert_allclose(path[-1], tree.state[node])
        hops = np.linalg.norm(np.diff(path, axis=0), axis=1)
        assert hops.max(initial=0.0) <= np.hypot(3, 3) / HORIZON + 1e-9


def test_the_path_to_a_frame_ends_there_and_is_a_part_of_its_nodes_prefix():
    tree = grown()
    for frame in range(len(tree.frame_node)):
        path = tree.path_to(frame)
        whole = tree.frame_state[tree.prefix_frames(int(tree.frame_node[frame]))]
        np.testing.assert_allclose(path[-1], tree.frame_state[frame])
        np.testing.assert_allclose(path, whole[: len(path)])


def test_promoting_moves_all_representatives_of_a_leaf_and_no_others():
    tree = Tree(0, np.zeros(2), HORIZON, EuclideanDistance())
    tree.hold(lookaheads(tree, 0, [2.0, 0.0], [0.0, 2.0]))
    (rows,) = promote([(tree, np.array([0]))])
    assert rows.tolist() == [1, 2]
    tree.hold(lookaheads(tree, 1, [4.0, 0.0]))
    tree.hold(lookaheads(tree, 2, [0.0, 4.0], [2.0, 2.0]))
    assert tree.open_leaves().tolist() == [1, 2]
    promote([(tree, np.array([2]))])
    assert tree.open_leaves().tolist() == [1]
    assert tree.parent.tolist() == [-1, 0, 0, 2, 2]
    np.testing.assert_allclose(tree.cost, np.array([0.0, 2.0, 2.0, 4.0, 2.0 + np.sqrt(4.0)]) / SPEED)


def test_trees_that_are_promoted_together_gain_what_each_would_alone():
    """One leaves and one arrives, in wind: each way costs what its own direction takes."""
    together, alone = ([grown(flag, seed=flag) for flag in (False, True)] for _ in range(2))
    for tree in (*together, *alone):
        tree.hold(lookaheads(tree, 1, tree.state[1] + [2.0, 0.5], tree.state[1] - [1.0, 1.0]))
    rows = promote([(tree, np.array([1])) for tree in together])
    for tree, other, new in zip(together, alone, rows, strict=True):
        np.testing.assert_array_equal(new, promote([(other, np.array([1]))])[0])
        np.testing.assert_allclose(tree.frame_cost, other.frame_cost)
        np.testing.assert_array_equal(tree.frame_state, other.frame_state)
    assert promote([]) == []


def test_a_node_without_representatives_has_nothing_to_promote():
    tree = grown()
    before = tree.num_nodes
    assert [len(rows) for rows in promote([(tree, np.array([0]))])] == [0]
    assert tree.num_nodes == before


def test_segments_begin_at_the_parent_and_end_at_the_node():
    tree = grown()
    segments = tree.segments()
    assert segments.shape == (tree.num_nodes - 1, HORIZON + 1, 2)
    np.testing.assert_allclose(segments[:, 0], tree.state[tree.parent[1:]])
    np.testing.assert_allclose(segments[:, -1], tree.state[1:])


def test_a_bare_tree_has_no_segments():
    assert Tree(0, np.zeros(2), HORIZON, EuclideanDistance()).segments().shape == (0, HORIZON + 1, 2)


@each_way
def test_outward_and_its_pairwise_form_agree(is_incoming):
    tree = grown(is_incoming)
    table = tree.outward_pairwise(tree.codes[:4], tree.codes)
    for row in range(4):
        near = np.repeat(tree.codes[row : row + 1], tree.num_nodes, axis=0)
        np.testing.assert_allclose(table[row], tree.outward(near, tree.codes))


def test_an_incoming_tree_measures_toward_its_root():
    """With the wind toward larger x, arriving from smaller x is cheap and leaving to there is dear."""
    root, west = np.array([[5.0, 5.0]]), np.array([[2.0, 5.0]])
    incoming, outgoing = (Tree(0, root[0], HORIZON, WindDistance(), flag) for flag in (True, False))
    np.testing.assert_allclose(incoming.outward(root, west), 3.0 / SPEED)
    np.testing.assert_allclose(outgoing.outward(root, west), 6.0 / SPEED)


@pytest.mark.parametrize("is_reversible", [False, True])
def test_planted_roots_have_the_codes_of_their_places_from_one_call(is_reversible):
    class Counting(EuclideanDistance):
        asked = 0

        def encode(self, points):
            self.asked += 1
            return super().encode(points)

    problem, distance = scattered_problem(2, 2), Counting()
    forest = plant(problem, HORIZON, distance, is_reversible)
    assert distance.asked == 1
    for tree in forest.trees:
        np.testing.assert_array_equal(tree.codes, distance.encode(problem.anchors[[tree.anchor]]))


@pytest.mark.parametrize("is_reversible", [False, True])
def test_partners_are_the_pairs_a_tree_can_close(is_reversible):
    problem = scattered_problem(2, 2)
    forest = plant(problem, HORIZON, EuclideanDistance(), is_reversible)
    for tree in forest.trees:
        for pair, partner in forest.partners(tree):
            assert forest.has(pair)
            assert {id(side) for side in forest.sides(pair)} == {id(tree), id(partner)}
            assert tree.anchor != partner.anchor


def test_a_directed_forest_has_no_bridge_out_of_a_goal_or_into_a_start():
    problem = scattered_problem(1, 1)
    forest = plant(problem, HORIZON, EuclideanDistance(), is_reversible=False)
    assert [forest.has(pair) for pair in (Pair(0, 1), Pair(1, 2), Pair(0, 2))] == [True] * 3
    assert [forest.has(pair) for pair in (Pair(1, 0), Pair(2, 1), Pair(1, 1))] == [False] * 3


def test_nodes_of_a_forest_are_counted_without_roots_and_each_tree_once():
    forest = plant(scattered_problem(1, 1), HORIZON, EuclideanDistance(), is_reversible=True)
    assert forest.num_nodes == 0
    tree = forest.outgoing[1]
    tree.append(lookaheads(tree, 0, tree.state[0] + [1.0, 0.0]))
    assert forest.num_nodes == 1


def test_reversible_worlds_plant_one_tree_per_anchor_and_directed_ones_two_per_waypoint():
    problem = scattered_problem(2, 3)
    reversible = plant(problem, 12, EuclideanDistance(), is_reversible=True)
    directed = plant(problem, 12, EuclideanDistance(), is_reversible=False)
    assert len(reversible.trees) == problem.num_anchors
    assert len(directed.trees) == problem.num_anchors + problem.num_waypoints


HERE, THERE = [[3.0, 3.0]], [[9.0, 3.0]]


def bare(starts=HERE, goals=THERE, is_reversible=True):
    return plant(Problem(starts=starts, goals=goals), HORIZON, EuclideanDistance(), is_reversible)


def with_another_node(forest, anchor=0):
    """The same forest after one of its outgoing trees got a second node."""
    tree = forest.outgoing[anchor]
    segment = np.linspace(tree.state[0], tree.state[0] + 1.0, HORIZON + 1)[None]
    tree.append(Representatives(np.array([0]), segment, segment[:, 1:], np.ones(1), np.ones(1)))
    return forest


def test_trees_come_back_where_their_anchors_have_not_moved():
    memory = ForestMemory()
    memory.remember(with_another_node(with_another_node(bare()), anchor=1), "online")
    moved = memory.recall(bare(starts=[[4.0, 3.0]]), "online")
    assert [moved.outgoing[anchor].num_nodes for anchor in (0, 1)] == [1, 2]


def test_what_is_recalled_is_a_copy():
    memory = ForestMemory()
    memory.remember(with_another_node(bare()), "online")
    with_another_node(memory.recall(bare(), "online"))
    assert memory.recall(bare(), "online").outgoing[0].num_nodes == 2


def test_a_tree_is_known_by_the_anchor_it_stands_at_and_not_by_its_number():
    """The start and the goal change places."""
    memory = ForestMemory()
    memory.remember(with_another_node(bare()), "online")
    turned = memory.recall(bare(starts=THERE, goals=HERE), "online")
    assert [turned.outgoing[anchor].num_nodes for anchor in (0, 1)] == [1, 2]
    assert turned.outgoing[1].anchor == 1


def test_a_tree_that_leaves_is_not_taken_for_one_that_arrives():
    memory = ForestMemory()
    memory.remember(with_another_node(bare(is_reversible=False)), "online")
    turned = memory.recall(bare(starts=THERE, goals=HERE, is_reversible=False), "online")
    assert [tree.num_nodes for tree in turned.trees] == [1, 1]


def test_trees_of_one_variant_are_not_recalled_for_another():
    memory = ForestMemory()
    memory.remember(with_another_node(bare()), "paper")
    assert memory.recall(bare(), "online").outgoing[0].num_nodes == 1
    assert memory.recall(bare(), "paper").outgoing[0].num_nodes == 2
