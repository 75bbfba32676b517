"""Sentences about legs that stayed unmet."""

import numpy as np
import pytest

from chronoforest.data.frames import Frame
from chronoforest.planning.shortfalls import shortfalls
from chronoforest.types import Problem, TreePicture

PROBLEM = Problem(starts=[[0.0, 0.0]], goals=[[100.0, 0.0]])
UNMET = (("S1", "G1"),)


def tree(name, *xs):
    """A tree of one segment along the x-axis."""
    return TreePicture(name, np.array([[[x, 0.0] for x in xs]]))


def test_it_is_told_how_far_each_side_got_in_the_users_coordinates():
    trees = [tree("S1", 0.0, 30.0, 40.0), tree("G1", 100.0, 75.0)]
    shifted = Problem(starts=[[1000.0, 2000.0]], goals=[[1100.0, 2000.0]])
    (sentence,) = shortfalls(UNMET, shifted, trees, Frame(origin=(1000.0, 2000.0)))
    assert sentence.startswith("S1→G1: from S1 the search came to (1040, 2000), 60 units short")
    assert "from G1 the search came to (1075, 2000), 75 units short" in sentence


@pytest.mark.parametrize(
    ("from_start", "to_goal", "told"),
    [
        ((0.0, 50.0), (100.0, 99.0), "G1 is at fault"),
        ((0.0, 5.0), (100.0, 60.0), "S1 is at fault"),
        ((0.0, 5.0), (100.0, 99.0), "neither end is joined"),
        ((0.0, 40.0), (100.0, 60.0), "record a way between the two"),
    ],
)
def test_the_side_that_hardly_moved_is_at_fault(from_start, to_goal, told):
    (sentence,) = shortfalls(UNMET, PROBLEM, [tree("S1", *from_start), tree("G1", *to_goal)], Frame())
    assert told in sentence


def test_without_trees_nobody_moved():
    (sentence,) = shortfalls(UNMET, PROBLEM, [], Frame())
    assert "100 units short" in sentence
    assert shortfalls((), PROBLEM, [], Frame()) == ()
