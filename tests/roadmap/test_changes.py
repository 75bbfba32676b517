"""Changes of a small grid of one-way streets: what only earlier or only later recordings do."""

import numpy as np

from chronoforest.roadmap.changes import ChangeParams, changes
from chronoforest.roadmap.transitions import Transitions

ROWS, LENGTH = 3, 5
POSITION = np.array([[x, y] for y in range(ROWS) for x in range(LENGTH)], dtype=float)
SOURCE = np.array([row * LENGTH + k for row in range(ROWS) for k in range(LENGTH - 1)])
HOPS = Transitions(SOURCE, SOURCE + 1, np.ones_like(SOURCE), np.ones(len(SOURCE)), np.ones(len(SOURCE)))


def street(row):
    """The numbers of the hops of a recording along a street, and one that the roadmap does not have."""
    return np.append(row * (LENGTH - 1) + np.arange(LENGTH - 1), -1)


def found(earlier, later):
    made = [street(row) for row in (*earlier, *later)]
    is_later = np.arange(len(made)) >= len(earlier)
    return changes(POSITION, HOPS, made, is_later, 1.0, ChangeParams())


def test_a_street_that_is_left_while_others_are_as_busy_is_one_change():
    (closed,) = found([0, 1, 2] * 10, [0, 2] * 15)
    assert not closed.is_new
    assert closed.hops.tolist() == street(1)[:-1].tolist()
    assert closed.position.tolist() == [2.0, 1.0]
    assert (closed.length, closed.count, closed.passing) == (4.0, 10, (30, 30))
    # Ten given recordings of sixty are all among the thirty earlier ones.
    chance = np.prod((30 - np.arange(10)) / (60 - np.arange(10)))
    np.testing.assert_allclose(closed.chance, chance, rtol=1e-6)


def test_a_street_that_only_later_recordings_take_is_new():
    (opened,) = found([0, 2] * 15, [0, 1, 2] * 10)
    assert opened.is_new
    assert opened.hops.tolist() == street(1)[:-1].tolist()


def test_few_recordings_and_quiet_surroundings_show_nothing():
    assert found([0, 1, 2], [0, 2]) == []
    assert found([1] * 20, []) == []
    assert found([0, 1, 2] * 10, [0, 1, 2] * 10) == []
