"""Which links may still change a complete route: one agent, two waypoints, costs written out."""

from __future__ import annotations

import numpy as np
import pytest
from routing_cases import make_problem

from chronoforest.errors import InvalidParameter
from chronoforest.routing.bridges import closure, direct
from chronoforest.routing.budget import ChallengeParams, challengers
from chronoforest.routing.solver import solve_exact
from chronoforest.types import JointRoute, Pair

PROBLEM = make_problem(1, 2)
START, FIRST, SECOND, GOAL = range(4)
ROUTE = JointRoute(((START, FIRST, SECOND, GOAL),))
OTHER = JointRoute(((START, SECOND, FIRST, GOAL),))


def matrix(**links):
    """[4, 4] costs, both ways, of links such as s1=10, start to first waypoint; infinite where not given."""
    rows = {"s": START, "1": FIRST, "2": SECOND, "g": GOAL}
    cost = np.full((4, 4), np.inf)
    np.fill_diagonal(cost, 0.0)
    for name, value in links.items():
        a, b = (rows[letter] for letter in name.removeprefix("_"))
        cost[a, b] = cost[b, a] = value
    return cost


GUESS = matrix(s1=10.0, s2=20.0, sg=30.0, _12=10.0, _1g=20.0, _2g=10.0)


def challenged(met, num_tries=None, chained=closure, guess=GUESS, **params):
    """The links that challenge the route S 1 2 G."""
    tries = np.zeros((4, 4), dtype=np.int64) if num_tries is None else num_tries
    return challengers(
        ROUTE,
        met,
        guess,
        tries,
        chained,
        lambda cost: solve_exact(cost, PROBLEM, ROUTE),
        ChallengeParams(**params),
    )


def along_route(s1=10.0, middle=10.0, last=10.0):
    return matrix(s1=s1, _12=middle, _2g=last)


def test_a_route_that_costs_what_was_guessed_stands():
    assert challenged(along_route()) == ()


@pytest.mark.parametrize(("cost", "is_doubted"), [(11.0, False), (11.5, True)])
def test_a_met_link_is_doubted_from_so_many_times_the_guess_on(cost, is_doubted):
    links = challenged(along_route(middle=cost), doubt=1.1, max_challenges=0)
    assert links == ((Pair(FIRST, SECOND),) if is_doubted else ())
    assert challenged(along_route(middle=cost), doubt=1.2, max_challenges=0) == ()


def test_all_detours_of_the_route_are_doubted_at_once_and_those_off_it_are_not():
    met = along_route(s1=20.0, last=20.0)
    met[START, GOAL] = met[GOAL, START] = 90.0
    assert challenged(met, max_challenges=0) == (Pair(START, FIRST), Pair(SECOND, GOAL))


@pytest.mark.parametrize(("around", "is_tried"), [(5.1, False), (5.2, True)])
def test_a_direct_link_is_tried_where_its_chain_looks_longer(around, is_tried):
    """The leg from the first to the second waypoint was met only by way of the goal."""
    met = matrix(s1=10.0, _1g=around, _2g=around)
    guess = GUESS.copy()
    guess[FIRST, GOAL] = guess[GOAL, FIRST] = guess[SECOND, GOAL] = guess[GOAL, SECOND] = around
    links = challenged(met, guess=guess, chain_doubt=1.02, max_challenges=0)
    assert links == ((Pair(FIRST, SECOND),) if is_tried else ())


def test_a_link_is_doubted_only_so_often():
    met, tries = along_route(middle=20.0), np.zeros((4, 4), dtype=np.int64)
    found = []
    for _ in range(4):
        links = challenged(met, tries, max_doubts=2, max_challenges=0)
        for link in links:
            tries[link.source, link.target] += 1
        found.append(links)
    assert found == [(Pair(FIRST, SECOND),)] * 2 + [()] * 2


def rival_world():
    """The other order was guessed a little longer: 33 against 30, with one link of it unmet."""
    guess = GUESS.copy()
    for a, b, cost in ((START, SECOND, 12.0), (FIRST, GOAL, 11.0)):
        guess[a, b] = guess[b, a] = cost
    met = along_route()
    met[FIRST, GOAL] = met[GOAL, FIRST] = 11.0
    return guess, met


@pytest.mark.parametrize(("optimism", "links"), [(0.7, (Pair(START, SECOND),)), (0.8, ())])
def test_an_order_that_may_be_hoped_to_be_shorter_challenges_with_its_unmet_links(optimism, links):
    guess, met = rival_world()
    assert challenged(met, guess=guess, optimism=optimism) == links


def test_a_met_link_is_hoped_for_at_the_guess_and_not_below():
    """The other order's last link is met by a detour; at its guess the order is no shorter."""
    guess, met = rival_world()
    met[START, SECOND] = met[SECOND, START] = 20.0
    assert challenged(met, guess=guess, optimism=0.5) == ()
    guess[START, SECOND] = guess[SECOND, START] = 8.0
    assert challenged(met, guess=guess, optimism=0.5) == (Pair(START, SECOND),)


def test_a_rival_is_tried_only_so_often():
    guess, met = rival_world()
    tries = np.zeros((4, 4), dtype=np.int64)
    tries[START, SECOND] = tries[SECOND, START] = 1
    assert challenged(met, tries, guess=guess, optimism=0.7, max_challenges=2) == (Pair(START, SECOND),)
    assert challenged(met, tries, guess=guess, optimism=0.7, max_challenges=1) == ()


def test_doubts_come_before_rivals():
    guess, met = rival_world()
    met[SECOND, GOAL] = met[GOAL, SECOND] = 15.0
    assert challenged(met, guess=guess, optimism=0.7) == (Pair(SECOND, GOAL),)
    assert challenged(met, guess=guess, optimism=0.7, max_doubts=0) == (Pair(START, SECOND),)


def test_without_chains_only_the_routes_own_links_are_weighed():
    """With chains the unmet middle leg runs by way of the goal and is doubted for its length."""
    met = matrix(s1=10.0, _1g=20.0, _2g=10.0)
    assert challenged(met, chained=closure, max_challenges=0) == (Pair(FIRST, SECOND),)
    assert challenged(met, chained=direct, max_challenges=0) == (Pair(FIRST, SECOND),)
    assert challenged(met, chained=closure, max_challenges=0, chain_doubt=3.0) == ()


@pytest.mark.parametrize(
    "broken",
    [
        {"max_doubts": -1},
        {"max_challenges": -1},
        {"optimism": 0.0},
        {"optimism": 1.5},
        {"doubt": 0.5},
        {"chain_doubt": float("nan")},
    ],
)
def test_parameters_out_of_range_are_refused_with_the_value(broken):
    with pytest.raises(InvalidParameter, match=str(next(iter(broken.values())))):
        ChallengeParams(**broken)


@pytest.mark.parametrize("edge", [{"optimism": 1.0}, {"doubt": 1.0}, {"chain_doubt": 1.0}, {"max_doubts": 0}])
def test_the_ends_of_the_ranges_are_allowed(edge):
    ChallengeParams(**edge)
