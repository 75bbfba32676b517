"""When planning stops: what spends a budget, and criteria that make no sense."""

import pytest

from chronoforest.errors import InvalidParameter
from chronoforest.planning.loop import MaxExpansions, MaxRounds, MaxSeconds
from chronoforest.types import JointRoute, RoundStats


@pytest.mark.parametrize(
    ("stop", "value"),
    [
        (MaxSeconds, float("nan")),
        (MaxSeconds, float("inf")),
        (MaxSeconds, -1.0),
        (MaxSeconds, "1"),
        (MaxRounds, -1),
        (MaxRounds, 1.5),
        (MaxExpansions, True),
        (MaxExpansions, -1),
        (lambda patience: MaxExpansions(1, patience), 0),
    ],
)
def test_a_criterion_that_would_never_stop_or_makes_no_sense_is_refused(stop, value):
    with pytest.raises(InvalidParameter, match="got"):
        stop(value)


def after(*num_expanded, seconds=1.0):
    """Rounds with these counts of promoted leaves; each takes a second."""
    route = JointRoute(((0, 1),))
    return [
        RoundStats(index, route, 1.0, (), (), count, 0, seconds * (index + 1))
        for index, count in enumerate(num_expanded)
    ]


def test_rounds_and_seconds_are_spent_when_they_are_reached():
    assert [MaxRounds(2)(after(*range(count))) for count in range(4)] == [False, False, True, True]
    assert [MaxSeconds(2.0)(after(*range(count))) for count in range(4)] == [False, False, True, True]


def test_expansions_are_spent_when_they_are_reached_or_none_came_for_long():
    stop = MaxExpansions(5, patience=2)
    for spent in ((1, 5), (1, 6), (0, 0, 0), (3, 4, 4, 4)):
        assert stop(after(*spent))
    for going_on in ((), (4,), (6, 1), (0, 0), (3, 4, 4), (4, 4, 4, 3)):
        assert not stop(after(*going_on))
