from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routing_cases import make_problem, meeting, random_cost

from chronoforest.errors import InvalidParameter
from chronoforest.routing.bridges import Bridges, closure, direct
from chronoforest.routing.budget import (
    BudgetParams,
    ChallengeParams,
    RoundState,
    allocate,
    challengers,
    every_unmet,
    linkable_pairs,
)
from chronoforest.routing.solver import solve_exact
from chronoforest.types import Evidence, JointRoute, Pair, Problem, Witness

quick = settings(deadline=None, derandomize=True, max_examples=80)
PARAMS = BudgetParams()


def fresh(problem: Problem, cost: float = 50.0) -> Bridges:
    return Bridges.from_roots(np.full((problem.num_anchors,) * 2, cost))


def with_gaps(bridges: Bridges, gaps: dict[tuple[int, int], float]) -> Bridges:
    found = tuple(Witness(Pair(i, j), 40.0, gap) for (i, j), gap in gaps.items())
    return bridges.updated(Evidence(witnesses=found), is_reversible=True)


def unordered(pairs: tuple[Pair, ...]) -> set[frozenset[int]]:
    return {frozenset((pair.source, pair.target)) for pair in pairs}


@st.composite
def states(draw: st.DrawFn) -> tuple[Problem, Bridges, tuple[Pair, ...], bool]:
    """A problem with some witnesses and meetings, and the links of its tentative route."""
    problem = make_problem(draw(st.integers(1, 3)), draw(st.integers(0, 4)))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    is_reversible = draw(st.booleans())
    bridges = Bridges.from_roots(random_cost(problem.num_anchors, rng, is_reversible))
    for pair in linkable_pairs(problem, is_reversible):
        kind = rng.integers(3)
        found = Evidence(witnesses=(Witness(pair, rng.uniform(1, 100), rng.uniform(0, 60)),))
        found = Evidence(meetings=(meeting(pair.source, pair.target),)) if kind == 2 else found
        bridges = bridges.updated(found, is_reversible) if kind else bridges
    all_hop = closure(bridges.cost)
    return problem, bridges, all_hop.links_of(solve_exact(all_hop.cost, problem).legs), is_reversible


@quick
@given(states(), st.integers(0, 50), st.integers(1, 6), st.integers(0, 5))
def test_a_round_fills_its_budget_with_distinct_useful_pairs(
    state: tuple[Problem, Bridges, tuple[Pair, ...], bool],
    round_index: int,
    num_pairs: int,
    num_coverage: int,
) -> None:
    problem, bridges, links, is_reversible = state
    params = BudgetParams(num_pairs, min(num_coverage, num_pairs - 1))
    pairs = allocate(RoundState(problem, bridges, is_reversible, links, (), round_index), params)
    keys = unordered(pairs) if is_reversible else set(pairs)
    open_links = [link for link in links if link not in bridges.meetings]
    open_keys = unordered(tuple(open_links)) if is_reversible else set(open_links)
    on_route = [pair for pair in pairs if pair in open_links]
    off_route = [pair for pair in pairs if pair not in links]
    candidates = [
        pair
        for pair in linkable_pairs(problem, is_reversible)
        if not {pair, pair.reversed if is_reversible else pair} & set(links)
        and bridges.smallest_gap(pair) > params.certified_gap
    ]
    assert len(keys) == len(pairs) == len(on_route) + len(off_route)
    assert len(pairs) == min(num_pairs, len(open_keys) + len(candidates))
    assert set(off_route) <= set(candidates)
    assert len(on_route) >= min(len(open_keys), num_pairs - params.num_coverage)
    assert len(off_route) >= min(len(candidates), params.num_coverage)
    gaps = [bridges.gap[pair.source, pair.target] for pair in on_route]
    assert gaps == sorted(gaps, reverse=True)


def test_on_route_links_go_by_gap_then_cost_then_row() -> None:
    problem = make_problem(1, 3)
    cost = np.full((5, 5), 50.0)
    cost[2, 3] = 45.0
    bridges = with_gaps(Bridges.from_roots(cost), {(0, 1): 10.0})
    links = (Pair(0, 1), Pair(1, 2), Pair(2, 3), Pair(3, 4))
    pairs = allocate(RoundState(problem, bridges, True, links), BudgetParams(4, 0))
    assert pairs == (Pair(2, 3), Pair(1, 2), Pair(3, 4), Pair(0, 1))


def test_met_and_accepted_links_are_left_alone() -> None:
    problem = make_problem(1, 1)
    bridges = fresh(problem).updated(Evidence(meetings=(meeting(1, 0),)), is_reversible=True)
    links = (Pair(0, 1), Pair(1, 2))
    assert allocate(RoundState(problem, bridges, True, links), PARAMS) == (Pair(1, 2), Pair(0, 2))
    assert allocate(RoundState(problem, bridges, True, links, (Pair(1, 2),)), PARAMS) == (Pair(0, 2),)


def test_a_certified_off_route_pair_gets_no_coverage() -> None:
    problem = make_problem(1, 1)
    links = (Pair(0, 1), Pair(1, 2))
    for gap, expected in ((30.0, 2), (30.5, 3)):
        bridges = with_gaps(fresh(problem), {(0, 2): gap})
        assert len(allocate(RoundState(problem, bridges, True, links), PARAMS)) == expected


def test_coverage_is_given_only_where_a_route_could_go() -> None:
    problem = make_problem(2, 0)
    links = (Pair(0, 2), Pair(1, 3))
    assert allocate(RoundState(problem, fresh(problem), True, links), PARAMS) == links


def test_a_link_travelled_both_ways_counts_once_only_when_reversible() -> None:
    problem = make_problem(2, 2)
    links = (Pair(2, 3), Pair(3, 2))
    for is_reversible, expected in ((True, 1), (False, 2)):
        pairs = allocate(RoundState(problem, fresh(problem), is_reversible, links), PARAMS)
        assert sum(pair in links for pair in pairs) == expected


@pytest.mark.parametrize("num_coverage", [1, 2])
@pytest.mark.parametrize("is_reversible", [True, False])
def test_round_robin_reaches_every_off_route_pair(num_coverage: int, is_reversible: bool) -> None:
    problem = make_problem(2, 4)
    links = closure(fresh(problem).cost).links_of(solve_exact(fresh(problem).cost, problem).legs)
    params = BudgetParams(4, num_coverage)
    pool = linkable_pairs(problem, is_reversible)
    rounds = [RoundState(problem, fresh(problem), is_reversible, links, (), t) for t in range(len(pool))]
    covered = {pair for state in rounds for pair in allocate(state, params)}
    on_route = {*links, *(link.reversed for link in links if is_reversible)}
    assert covered >= set(pool) - on_route


@pytest.mark.parametrize(("num_coverage", "per_round"), [(0, 1), (1, 1), (2, 2)])
def test_coverage_begins_each_round_where_the_last_one_ended(num_coverage: int, per_round: int) -> None:
    """The route needs nothing, so that all four pairs of a round are coverage."""
    problem = make_problem(1, 3)
    pool = linkable_pairs(problem, is_reversible=True)
    params = BudgetParams(4, num_coverage)
    for round_index in range(2 * len(pool)):
        pairs = allocate(RoundState(problem, fresh(problem), True, (), (), round_index), params)
        first = per_round * round_index % len(pool)
        assert pairs == (*pool, *pool)[first : first + 4]


def test_coverage_never_starves_the_route() -> None:
    problem = make_problem(1, 4)
    links = tuple(Pair(i, i + 1) for i in range(5))
    for round_index in range(20):
        pairs = allocate(RoundState(problem, fresh(problem), True, links, (), round_index), PARAMS)
        assert [pair in links for pair in pairs] == [True, True, True, False]


def test_the_exhaustive_budget_is_every_linkable_pair_without_a_meeting() -> None:
    problem = make_problem(2, 2)
    for is_reversible in (True, False):
        found = Evidence(meetings=(meeting(2, 3),))
        bridges = fresh(problem).updated(found, is_reversible)
        pairs = every_unmet(RoundState(problem, bridges, is_reversible))
        assert set(pairs) == set(linkable_pairs(problem, is_reversible)) - {Pair(2, 3)}


def test_the_exhaustive_budget_also_serves_a_chain_that_no_route_could_travel_directly() -> None:
    problem = make_problem(2, 1)
    assert every_unmet(RoundState(problem, fresh(problem), True, (Pair(0, 1),)))[0] == Pair(0, 1)


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
    ("kind", "values"),
    [
        (BudgetParams, {"num_pairs": 1, "num_coverage": 0}),
        (BudgetParams, {"certified_gap": 0.0}),
        (ChallengeParams, {"optimism": 1.0}),
        (ChallengeParams, {"doubt": 1.0, "chain_doubt": 1.0, "max_doubts": 0}),
    ],
)
def test_the_ends_of_the_ranges_are_allowed(kind, values):
    kind(**values)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (BudgetParams, {"num_pairs": 0}),
        (BudgetParams, {"num_pairs": 2, "num_coverage": 2}),
        (BudgetParams, {"num_coverage": -1}),
        (BudgetParams, {"certified_gap": -3.0}),
        (BudgetParams, {"certified_gap": float("nan")}),
        (ChallengeParams, {"max_doubts": -1}),
        (ChallengeParams, {"max_challenges": -1}),
        (ChallengeParams, {"optimism": 0.0}),
        (ChallengeParams, {"optimism": 1.5}),
        (ChallengeParams, {"doubt": 0.5}),
        (ChallengeParams, {"chain_doubt": float("nan")}),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_value(kind, values):
    with pytest.raises(InvalidParameter, match=f"got {list(values.values())[-1]}"):
        kind(**values)
