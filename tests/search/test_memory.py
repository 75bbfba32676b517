import numpy as np
from fakes import EuclideanDistance

from chronoforest.search.tree import ForestMemory, Representatives, plant
from chronoforest.types import Problem

HORIZON = 3
HERE, THERE = [[3.0, 3.0]], [[9.0, 3.0]]


def bare(starts=HERE, goals=THERE, is_reversible=True):
    return plant(Problem(starts=starts, goals=goals), HORIZON, EuclideanDistance(), is_reversible)


def grown(forest, anchor=0):
    """The same forest after one of its outgoing trees got a second node."""
    tree = forest.outgoing[anchor]
    segment = np.linspace(tree.state[0], tree.state[0] + 1.0, HORIZON + 1)[None]
    tree.append(Representatives(np.array([0]), segment, segment[:, 1:], np.ones(1), np.ones(1)))
    return forest


def test_trees_come_back_where_their_anchors_have_not_moved():
    memory = ForestMemory()
    memory.remember(grown(grown(bare()), anchor=1), "online")
    moved = memory.recall(bare(starts=[[4.0, 3.0]]), "online")
    assert [moved.outgoing[anchor].num_nodes for anchor in (0, 1)] == [1, 2]


def test_what_is_recalled_is_a_copy():
    memory = ForestMemory()
    memory.remember(grown(bare()), "online")
    grown(memory.recall(bare(), "online"))
    assert memory.recall(bare(), "online").outgoing[0].num_nodes == 2


def test_a_tree_is_known_by_the_anchor_it_stands_at_and_not_by_its_number():
    """The start and the goal change places."""
    memory = ForestMemory()
    memory.remember(grown(bare()), "online")
    turned = memory.recall(bare(starts=THERE, goals=HERE), "online")
    assert [turned.outgoing[anchor].num_nodes for anchor in (0, 1)] == [1, 2]
    assert turned.outgoing[1].anchor == 1


def test_a_tree_that_leaves_is_not_taken_for_one_that_arrives():
    memory = ForestMemory()
    memory.remember(grown(bare(is_reversible=False)), "online")
    turned = memory.recall(bare(starts=THERE, goals=HERE, is_reversible=False), "online")
    assert [tree.num_nodes for tree in turned.trees] == [1, 1]


def test_trees_of_one_variant_are_not_recalled_for_another():
    memory = ForestMemory()
    memory.remember(grown(bare()), "paper")
    assert memory.recall(bare(), "online").outgoing[0].num_nodes == 1
    assert memory.recall(bare(), "paper").outgoing[0].num_nodes == 2
