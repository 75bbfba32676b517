"""Sentences about legs that stayed unmet."""

from types import SimpleNamespace

import numpy as np
import pytest

from chronoforest.data.frames import Frame
from chronoforest.planning.result import PlanResult, shortfalls
from chronoforest.types import Gap, Problem, TreePicture

PROBLEM = Problem(starts=[[0.0, 0.0]], goals=[[100.0, 0.0]])
UNMET = (("S1", "G1"),)


def tree(name, *xs):
    """A tree of one segment along the x-axis."""
    return TreePicture(name, np.array([[[x, 0.0] for x in xs]]))


def lacking(unmet=UNMET, left_out=(), gaps=(), trees=(), problem=PROBLEM, frame=None):
    """A plan of which only what it lacks is known."""
    return SimpleNamespace(
        unmet=unmet, left_out=left_out, gaps=gaps, trees=trees, problem=problem, frame=frame or Frame()
    )


def test_it_is_told_how_far_each_side_got_in_the_users_coordinates():
    trees = [tree("S1", 0.0, 30.0, 40.0), tree("G1", 100.0, 75.0)]
    shifted = Problem(starts=[[1000.0, 2000.0]], goals=[[1100.0, 2000.0]])
    (sentence,) = shortfalls(lacking(trees=trees, problem=shifted, frame=Frame(origin=(1000.0, 2000.0))))
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
    trees = [tree("S1", *from_start), tree("G1", *to_goal)]
    (sentence,) = shortfalls(lacking(trees=trees))
    assert told in sentence


def test_without_trees_nobody_moved():
    (sentence,) = shortfalls(lacking())
    assert "100 units short" in sentence
    assert shortfalls(lacking(())) == ()


def gap(**changes):
    known = {"source": "S1", "target": "G1", "extents": (40.0, 25.0), "is_recorded": False}
    places = {"reached": np.array([40.0, 0.0]), "wanted": np.array([75.0, 0.0])}
    return Gap(**{**known, **places, **changes})


def told_of(one, left_out=()):
    (sentence,) = shortfalls(lacking(() if left_out else UNMET, left_out, [one]))
    return sentence


def test_of_a_gap_it_is_told_where_both_sides_end_and_what_lies_between():
    assert told_of(gap()) == (
        "S1→G1: ways from S1 come to (40, 0), ways to G1 begin at (75, 0), 35 units farther; nothing was "
        "recorded in between; record a way between the two"
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"extents": (40.0, 1.0)}, "G1 is at fault"),
        ({"extents": (2.0, 40.0)}, "S1 is at fault"),
        (
            {"is_recorded": True},
            "no recording leads across; record a way between the two, or allow",
        ),
        ({"is_recorded": True, "is_searched": True}, "trees were grown there in vain; record a way between"),
        (
            {"is_recorded": True, "wanted": np.array([40.0, 0.0])},
            "0 units farther; no recording turns there so",
        ),
    ],
)
def test_what_is_known_of_a_gap_decides_what_is_advised(changes, told):
    assert told in told_of(gap(**changes))


def test_waypoints_without_a_gap_are_told_too():
    visits = Problem([[0.0, 0.0]], [[100.0, 0.0]], [[50.0, 0.0], [60.0, 0.0]])
    cut, rest = shortfalls(lacking((), ("W1", "W2"), [gap(left_out=("W1",))], problem=visits))
    assert cut.startswith("W1 is left out: ways from S1")
    assert rest.startswith("W2 is left out: no order leads there")


@pytest.mark.parametrize(
    ("unmet", "left_out", "named"),
    [
        (UNMET, (), "unmet: S1→G1"),
        ((), ("W1", "W2"), "left out: W1, W2"),
        (UNMET, ("W1",), "unmet: S1→G1; left out: W1"),
        ((), (), ""),
    ],
)
def test_what_is_missing_is_named(unmet, left_out, named):
    assert PlanResult.missing.fget(lacking(unmet, left_out)) == named
