from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routing_cases import make_problem, meeting, random_cost

from chronoforest.errors import InvalidParameter
from chronoforest.routing.bridges import Bridges, closure
from chronoforest.routing.budget import (
    BudgetParams,
    RoundState,
    allocate,
    every_unmet,
    linkable_pairs,
)
from chronoforest.routing.solver import solve_exact
from chronoforest.types import Evidence, Pair, Problem, Witness

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


@pytest.mark.parametrize("values", [{"num_pairs": 1, "num_coverage": 0}, {"certified_gap": 0.0}])
def test_the_ends_of_the_ranges_are_allowed(values: dict[str, float]) -> None:
    BudgetParams(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ({"num_pairs": 0}, "got 0"),
        ({"num_pairs": 2, "num_coverage": 2}, "got 2"),
        ({"num_coverage": -1}, "got -1"),
        ({"certified_gap": -3.0}, "got -3.0"),
        ({"certified_gap": float("nan")}, "got nan"),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_value(values: dict[str, float], shown: str) -> None:
    with pytest.raises(InvalidParameter, match=shown):
        BudgetParams(**values)  # type: ignore[arg-type]
