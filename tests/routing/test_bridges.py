from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
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
from chronoforest.types import Evidence, FloatArray, JointRoute, Pair, Witness

quick = settings(deadline=None, derandomize=True, max_examples=60)
costs = st.integers(2, 6).flatmap(
    lambda n: arrays(np.float64, (n, n), elements=st.sampled_from([0.0, 1.0, 2.5, 3.0, 7.0, np.inf]))
)
findings = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(0, 50), st.floats(0, 50), st.booleans()).filter(
        lambda found: found[0] != found[1]
    ),
    max_size=8,
)


def with_zero_diagonal(cost: FloatArray) -> FloatArray:
    return np.where(np.eye(len(cost), dtype=bool), 0.0, cost)


def evidence_from(found: list[tuple[int, int, float, float, bool]]) -> Evidence:
    return Evidence(
        witnesses=tuple(Witness(Pair(i, j), cost, gap) for i, j, cost, gap, met in found if not met),
        meetings=tuple(meeting(i, j, cost, gap) for i, j, cost, gap, met in found if met),
    )


@quick
@given(costs)
def test_closure_obeys_the_triangle_inequality_and_is_below_the_direct_costs(cost: FloatArray) -> None:
    cost = with_zero_diagonal(cost)
    short = closure(cost).cost
    assert (short <= cost).all()
    assert (np.diag(short) == 0).all()
    assert (short[:, None, :] <= short[:, :, None] + short[None, :, :] + 1e-9).all()


@quick
@given(costs)
def test_a_chain_costs_what_the_closure_says_and_visits_nothing_twice(cost: FloatArray) -> None:
    cost = with_zero_diagonal(cost)
    all_hop = closure(cost)
    for i, j in np.argwhere(~np.eye(len(cost), dtype=bool)).tolist():
        chain = all_hop.chain(Pair(i, j))
        assert (chain[0], chain[-1]) == (i, j)
        assert len(set(chain)) == len(chain)
        total = sum(cost[link.source, link.target] for link in all_hop.links(Pair(i, j)))
        np.testing.assert_allclose(total, all_hop.cost[i, j])


@quick
@given(costs)
def test_a_direct_link_is_never_replaced_by_an_equal_chain(cost: FloatArray) -> None:
    cost = with_zero_diagonal(cost)
    all_hop = closure(cost)
    for i, j in np.argwhere(all_hop.cost == cost).tolist():
        if i != j:
            assert all_hop.chain(Pair(i, j)) == (i, j)


def test_of_equal_chains_the_shortest_wins() -> None:
    """0 → 4 costs 4 through three links of 1, 1, 2 and through two links of 2."""
    cost = with_zero_diagonal(np.full((5, 5), np.inf))
    cost[0, 1], cost[1, 2], cost[2, 4] = 1.0, 1.0, 2.0
    cost[0, 3], cost[3, 4] = 2.0, 2.0
    assert closure(cost).chain(Pair(0, 4)) == (0, 3, 4)


@pytest.mark.parametrize("unit", [1.0, 2.0**40])
def test_rounding_does_not_prefer_a_chain(unit: float) -> None:
    """0.1 + 0.7 is below 0.8 by one rounding error only."""
    cost = unit * np.array([[0.0, 0.1, 0.8], [0.1, 0.0, 0.7], [0.8, 0.7, 0.0]])
    assert cost[0, 1] + cost[1, 2] < cost[0, 2]
    assert closure(cost).chain(Pair(0, 2)) == (0, 2)


def test_a_link_of_cost_zero_is_a_link() -> None:
    cost = np.array([[0.0, 0.0, 5.0], [9.0, 0.0, 0.0], [9.0, 9.0, 0.0]])
    all_hop = closure(cost)
    assert all_hop.cost[0, 2] == 0.0
    assert all_hop.links(Pair(0, 2)) == (Pair(0, 1), Pair(1, 2))


def test_an_unreachable_pair_is_its_own_chain() -> None:
    all_hop = closure(with_zero_diagonal(np.full((3, 3), np.inf)))
    assert np.isinf(all_hop.cost[0, 2])
    assert all_hop.chain(Pair(0, 2)) == (0, 2)


def test_the_direct_matrix_never_takes_a_detour() -> None:
    cost = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    assert direct(cost).chain(Pair(0, 2)) == (0, 2)
    assert (direct(cost).cost == cost).all()
    assert closure(cost).chain(Pair(0, 2)) == (0, 1, 2)


def test_links_of_several_legs_are_listed_once() -> None:
    cost = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    links = closure(cost).links_of([Pair(0, 2), Pair(1, 2)])
    assert links == (Pair(0, 1), Pair(1, 2))


@quick
@given(st.lists(findings, max_size=4), st.booleans())
def test_costs_never_rise_and_the_gap_belongs_to_the_cheapest_witness(
    rounds: list[list[tuple[int, int, float, float, bool]]], is_reversible: bool
) -> None:
    bridges = Bridges.from_roots(np.full((4, 4), 20.0))
    seen: dict[Pair, list[tuple[float, float]]] = {}
    for found in rounds:
        previous, bridges = bridges, bridges.updated(evidence_from(found), is_reversible)
        assert (bridges.cost <= previous.cost).all()
        assert (bridges.witness_cost <= previous.witness_cost).all()
        for i, j, cost, gap, _ in found:
            for pair in (Pair(i, j), Pair(j, i))[: 1 + is_reversible]:
                seen.setdefault(pair, []).append((cost, gap))
    for pair, candidates in seen.items():
        best_cost, best_gap = min(candidates)
        assert bridges.cost[pair.source, pair.target] == min(20.0, best_cost)
        assert bridges.gap[pair.source, pair.target] == best_gap


def test_root_scores_are_no_witnesses() -> None:
    bridges = Bridges.from_roots(np.full((3, 3), 5.0))
    assert (np.diag(bridges.cost) == 0).all()
    assert np.isinf(bridges.gap).all()


def test_a_witness_above_an_optimistic_root_score_still_sets_the_gap() -> None:
    found = Evidence(witnesses=(Witness(Pair(0, 1), 8.0, 3.0),))
    bridges = Bridges.from_roots(np.full((2, 2), 5.0)).updated(found, is_reversible=False)
    assert (bridges.cost[0, 1], bridges.gap[0, 1]) == (5.0, 3.0)


def test_an_update_leaves_the_old_value_alone() -> None:
    before = Bridges.from_roots(np.full((2, 2), 5.0))
    before.updated(Evidence(meetings=(meeting(0, 1, 1.0),)), is_reversible=True)
    assert before.cost[0, 1] == 5.0
    assert not before.meetings


def test_a_reversible_world_mirrors_meetings_with_their_frames_swapped() -> None:
    bridges = Bridges.from_roots(np.full((2, 2), 50.0)).updated(
        Evidence(meetings=(meeting(0, 1, 9.0, 2.0),)), is_reversible=True
    )
    there, back = bridges.meetings[Pair(0, 1)], bridges.meetings[Pair(1, 0)]
    assert (back.source_frame, back.target_frame) == (there.target_frame, there.source_frame)
    assert (bridges.cost[1, 0], bridges.gap[1, 0]) == (9.0, 2.0)


def test_a_directed_world_mirrors_nothing() -> None:
    bridges = Bridges.from_roots(np.full((2, 2), 50.0)).updated(
        Evidence(meetings=(meeting(0, 1),)), is_reversible=False
    )
    assert Pair(1, 0) not in bridges.meetings
    assert bridges.cost[1, 0] == 50.0


def test_the_cheapest_meeting_is_kept() -> None:
    bridges = Bridges.from_roots(np.full((2, 2), 50.0))
    for cost in (9.0, 7.0, 8.0):
        bridges = bridges.updated(Evidence(meetings=(meeting(0, 1, cost),)), is_reversible=False)
    assert bridges.meetings[Pair(0, 1)].cost == 7.0
    assert bridges.met_cost[0, 1] == 7.0
    assert np.isinf(bridges.met_cost[1, 0])


def test_of_meetings_that_cost_the_same_the_first_is_kept() -> None:
    first, second = meeting(0, 1, 7.0), replace(meeting(0, 1, 7.0), source_frame=3)
    bridges = Bridges.from_roots(np.full((2, 2), 50.0))
    for found in (first, second):
        bridges = bridges.updated(Evidence(meetings=(found,)), is_reversible=False)
    assert bridges.meetings[Pair(0, 1)] == first


def test_staying_costs_nothing_and_needs_no_meeting() -> None:
    assert np.diag(Bridges.from_roots(np.full((3, 3), 5.0)).met_cost).tolist() == [0.0] * 3


def test_the_smallest_gap_is_the_meetings_when_an_optimistic_witness_is_cheaper() -> None:
    found = Evidence(witnesses=(Witness(Pair(0, 1), 5.0, 40.0),), meetings=(meeting(0, 1, 9.0, 2.0),))
    bridges = Bridges.from_roots(np.full((2, 2), 50.0)).updated(found, is_reversible=False)
    assert bridges.gap[0, 1] == 40.0
    assert bridges.smallest_gap(Pair(0, 1)) == 2.0


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
