from __future__ import annotations

import numpy as np
import pytest
from routing_cases import make_problem, meeting

from chronoforest.routing.bridges import (
    Bridges,
    Closure,
    accept,
    closure,
    direct,
    is_complete,
    respects_degrees,
)
from chronoforest.types import Evidence, JointRoute, Pair, Witness

PROBLEM = make_problem(1, 2)
FORTH = JointRoute(((0, 1, 2, 3),))
BACK = JointRoute(((0, 2, 1, 3),))


def met(*pairs: tuple[int, int], is_reversible: bool = False) -> Bridges:
    found = Evidence(meetings=tuple(meeting(i, j) for i, j in pairs))
    return Bridges.from_roots(np.full((4, 4), 50.0)).updated(found, is_reversible)


def take(accepted: frozenset[Pair], route: JointRoute, bridges: Bridges) -> frozenset[Pair]:
    return accept(accepted, route, closure(bridges.cost), bridges, PROBLEM)


def test_a_met_leg_of_the_route_is_accepted() -> None:
    accepted = take(frozenset(), FORTH, met((0, 1)))
    assert accepted == {Pair(0, 1)}
    assert not is_complete(FORTH, accepted)


def test_a_route_with_all_legs_met_is_complete() -> None:
    assert is_complete(FORTH, take(frozenset(), FORTH, met((0, 1), (1, 2), (2, 3))))


def test_a_leg_is_revoked_when_the_route_leaves_it() -> None:
    bridges = met((0, 1))
    accepted = take(frozenset(), FORTH, bridges)
    assert take(accepted, BACK, bridges) == frozenset()


def test_a_meeting_found_off_the_route_is_accepted_when_the_route_comes_to_it() -> None:
    bridges = met((0, 2))
    accepted = take(frozenset(), FORTH, bridges)
    assert accepted == frozenset()
    assert take(accepted, BACK, bridges) == {Pair(0, 2)}


def test_a_leg_is_accepted_through_the_met_links_of_its_chain() -> None:
    bridges = met((0, 1), (1, 2))
    all_hop = closure(bridges.cost)
    assert all_hop.chain(Pair(0, 2)) == (0, 1, 2)
    assert Pair(0, 2) in take(frozenset(), BACK, bridges)
    assert Pair(0, 2) not in accept(frozenset(), BACK, direct(bridges.cost), bridges, PROBLEM)


def test_one_open_link_keeps_a_chained_leg_open() -> None:
    found = Evidence(witnesses=(Witness(Pair(1, 2), 5.0, 4.0),))
    bridges = met((0, 1)).updated(found, is_reversible=False)
    assert Pair(0, 2) not in take(frozenset(), BACK, bridges)


def test_an_accepted_leg_survives_a_cheaper_estimate_of_another_chain() -> None:
    """The leg can still be assembled from its meeting, although the closure now runs elsewhere."""
    bridges = met((0, 2))
    accepted = take(frozenset(), BACK, bridges)
    hopes = (Witness(Pair(0, 1), 1.0, 9.0), Witness(Pair(1, 2), 1.0, 9.0))
    hopeful = bridges.updated(Evidence(witnesses=hopes), is_reversible=False)
    assert closure(hopeful.cost).chain(Pair(0, 2)) == (0, 1, 2)
    assert take(accepted, BACK, hopeful) == accepted


def test_an_accepted_leg_whose_meeting_is_gone_is_revoked() -> None:
    assert take(frozenset({Pair(0, 1)}), FORTH, met((1, 2))) == {Pair(1, 2)}


def test_a_reversible_meeting_serves_both_directions() -> None:
    assert Pair(2, 1) in take(frozenset(), BACK, met((1, 2), is_reversible=True))


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], True),
        ([(0, 1), (1, 2), (2, 3)], True),
        ([(1, 2), (2, 1)], True),
        ([(0, 1), (0, 2)], False),
        ([(0, 2), (1, 2)], False),
        ([(1, 0)], False),
        ([(3, 1)], False),
    ],
)
def test_the_degree_screen_is_local(pairs: list[tuple[int, int]], expected: bool) -> None:
    """A subtour passes, as the paper says; two ways out or in, into a start or out of a goal do not."""
    assert respects_degrees([Pair(i, j) for i, j in pairs], PROBLEM) is expected


def test_a_leg_that_breaks_the_degree_screen_is_not_accepted() -> None:
    """A malformed route that leaves the start twice gets its first leg only."""
    twice = JointRoute(((0, 1, 3), (0, 2, 3)))
    all_hop: Closure = direct(met().cost)
    assert accept(frozenset(), twice, all_hop, met((0, 1), (0, 2)), PROBLEM) == {Pair(0, 1)}
