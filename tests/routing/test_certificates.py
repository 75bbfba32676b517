"""Certificates, and the paper's theory appendix as properties of synthetic costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from routing_cases import all_routes, make_problem, random_cost

from chronoforest.routing.bridges import Bridges, closure
from chronoforest.routing.certificates import certify, closure_error, link_error, uncertified_links, width
from chronoforest.routing.solver import best_two_costs, solve_exact
from chronoforest.types import Calibration, Evidence, FloatArray, JointRoute, Pair, Problem, Witness

quick = settings(deadline=None, derandomize=True, max_examples=60)
CERTIFIED_GAP = 30.0
CALIBRATION = Calibration(
    alpha=0.002,
    local_scale=0.9,
    local_ratios=(0.8, 1.1),
    all_ratios=(0.5, 1.2),
    local_window=50.0,
    local_error=((1.0, 0.02), (10.0, 0.2), (30.0, 0.6)),
)


@dataclass(frozen=True)
class World:
    """True direct costs [A, A] and the bridges that an upper-envelope predictor found for them."""

    problem: Problem
    true_cost: FloatArray
    bridges: Bridges

    @property
    def true_closure(self) -> FloatArray:
        return closure(self.true_cost).cost

    @property
    def estimate(self) -> FloatArray:
        return closure(self.bridges.cost).cost

    @property
    def best_route(self) -> JointRoute:
        return solve_exact(self.true_closure, self.problem)

    @property
    def tentative_route(self) -> JointRoute:
        return solve_exact(self.estimate, self.problem)


def smallest_envelope(remaining: float) -> float:
    """h⁻¹: the smallest prediction that Assumption 2 allows for a remaining cost."""
    alpha = CALIBRATION.alpha
    return (np.sqrt(1 + 4 * alpha * remaining) - 1) / (2 * alpha)


def candidate(pair: Pair, true_cost: float, largest_gap: float, rng: np.random.Generator) -> Witness:
    """A witness under Assumptions 1–3: h(ĝ) ≥ g*, and |ĝ − g*| ≤ ε_loc(ĝ)."""
    remaining = rng.uniform(0, min(true_cost, largest_gap))
    predicted = min(rng.uniform(smallest_envelope(remaining), remaining + 0.6), largest_gap)
    is_local = abs(predicted - remaining) <= CALIBRATION.error_within(predicted)
    predicted = predicted if is_local else remaining
    return Witness(pair, true_cost - remaining + CALIBRATION.inflate(predicted), predicted)


@st.composite
def worlds(draw: st.DrawFn, largest_gap: float = CERTIFIED_GAP, num_rounds: int = 2) -> World:
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    problem = make_problem(draw(st.integers(1, 2)), draw(st.integers(0, 3)))
    true_cost = random_cost(problem.num_anchors, rng, draw(st.booleans()))
    bridges = Bridges.from_roots(CALIBRATION.inflate(true_cost))
    for _ in range(num_rounds):
        found = (
            candidate(Pair(int(i), int(j)), true_cost[i, j], largest_gap, rng)
            for i, j in np.argwhere(true_cost > 0)
        )
        bridges = bridges.updated(Evidence(witnesses=tuple(found)), is_reversible=False)
    return World(problem, true_cost, bridges)


def worst_closure_error(world: World) -> float:
    """ε̃ over the true best route's legs (eq. 21)."""
    return max(
        world.estimate[leg.source, leg.target] - world.true_closure[leg.source, leg.target]
        for leg in world.best_route.legs
    )


@quick
@given(worlds())
def test_propositions_1_and_2_stored_costs_never_fall_below_the_truth(world: World) -> None:
    assert (world.bridges.cost >= world.true_cost - 1e-9).all()
    assert (world.bridges.witness_cost >= world.true_cost - 1e-9).all()


@quick
@given(worlds())
def test_proposition_3_a_closure_errs_by_at_most_the_links_of_the_true_chain(world: World) -> None:
    errors = world.bridges.cost - world.true_cost
    true_chains = closure(world.true_cost)
    for i, j in np.argwhere(world.true_cost > 0).tolist():
        allowed = sum(errors[link.source, link.target] for link in true_chains.links(Pair(i, j)))
        error = world.estimate[i, j] - world.true_closure[i, j]
        assert -1e-9 <= error <= allowed + 1e-6


@quick
@given(worlds())
def test_theorem_1_the_tentative_route_is_within_the_bound(world: World) -> None:
    num_legs = world.problem.num_waypoints + world.problem.num_agents
    excess = world.tentative_route.cost(world.true_closure) - world.best_route.cost(world.true_closure)
    assert excess <= num_legs * worst_closure_error(world) + 1e-9


@quick
@given(worlds(largest_gap=2.0))
def test_corollary_1_a_margin_above_the_bound_recovers_the_best_route(world: World) -> None:
    num_legs = world.problem.num_waypoints + world.problem.num_agents
    best, second = best_two_costs(world.true_closure, world.problem)
    assume(num_legs * worst_closure_error(world) < second - best - 1e-9)
    assert world.tentative_route == world.best_route


@quick
@given(worlds())
def test_the_certified_error_covers_every_leg_and_the_route_and_is_no_looser_than_eq_30(world: World) -> None:
    allowed = closure_error(world.bridges, world.problem, CALIBRATION, CERTIFIED_GAP)
    error = world.estimate - world.true_closure
    legs = [leg for leg in np.ndindex(*error.shape) if world.problem.can_link(*leg)]
    assert max(error[leg] for leg in legs) <= allowed + 1e-6
    per_link = link_error(CERTIFIED_GAP, CALIBRATION, CERTIFIED_GAP)
    assert allowed <= (world.problem.num_anchors - 1) * per_link + 1e-6
    certificate = certify(world.tentative_route, world.bridges, world.problem, CALIBRATION, CERTIFIED_GAP)
    excess = world.tentative_route.cost(world.true_closure) - world.best_route.cost(world.true_closure)
    assert certificate.premises_hold
    assert excess <= certificate.bound + 1e-6


@quick
@given(worlds(largest_gap=1.0, num_rounds=3))
def test_an_exactness_certificate_is_never_wrong(world: World) -> None:
    certificate = certify(world.tentative_route, world.bridges, world.problem, CALIBRATION, CERTIFIED_GAP)
    if certificate.is_separated:
        best = min(all_routes(world.problem), key=lambda route: route.cost(world.true_closure))
        assert world.tentative_route == best


def certain_world() -> tuple[Problem, Bridges]:
    """Two waypoints in a row, all pairs witnessed without a gap: costs |i − j| · 10."""
    rows = np.arange(4.0)
    cost = 10 * np.abs(rows[:, None] - rows[None, :])
    found = (Witness(Pair(int(i), int(j)), cost[i, j], 0.0) for i, j in np.argwhere(cost > 0))
    return make_problem(1, 2), Bridges.from_roots(cost * 2).updated(Evidence(tuple(found)), False)


def test_small_gaps_and_a_wide_margin_certify_exactness() -> None:
    problem, bridges = certain_world()
    certificate = certify(JointRoute(((0, 1, 2, 3),)), bridges, problem, CALIBRATION, CERTIFIED_GAP)
    assert certificate.margin == pytest.approx(20.0)
    assert certificate.bound == pytest.approx(3 * 3 * 0.02)
    assert certificate.is_separated


def test_a_route_that_is_not_the_best_estimate_is_not_certified() -> None:
    problem, bridges = certain_world()
    certificate = certify(JointRoute(((0, 2, 1, 3),)), bridges, problem, CALIBRATION, CERTIFIED_GAP)
    assert not certificate.premises_hold
    assert not certificate.is_separated


def test_a_pair_without_a_witness_is_named_and_voids_the_premises() -> None:
    problem, certain = certain_world()
    gap = certain.gap.copy()
    gap[1, 3] = np.inf
    bridges = Bridges(certain.cost, certain.witness_cost, gap)
    certificate = certify(JointRoute(((0, 1, 2, 3),)), bridges, problem, CALIBRATION, CERTIFIED_GAP)
    assert uncertified_links(bridges, CERTIFIED_GAP) == (Pair(1, 3),)
    assert not certificate.premises_hold


def test_nothing_is_claimed_where_the_optimum_cannot_be_checked() -> None:
    problem = make_problem(1, 13)
    bridges = Bridges.from_roots(np.ones((15, 15)))
    route = JointRoute((tuple(range(15)),))
    certificate = certify(route, bridges, problem, CALIBRATION, CERTIFIED_GAP)
    assert np.isnan(certificate.margin)
    assert not certificate.premises_hold


def test_unreachable_pairs_do_not_break_a_certificate() -> None:
    problem = make_problem(1, 0)
    found = Evidence(witnesses=(Witness(Pair(0, 1), 5.0, 0.5),))
    bridges = Bridges.from_roots(np.full((2, 2), np.inf)).updated(found, is_reversible=False)
    certificate = certify(JointRoute(((0, 1),)), bridges, problem, CALIBRATION, CERTIFIED_GAP)
    assert certificate.is_separated
    assert certificate.bound == pytest.approx(0.02 + 0.002 * 0.25)


PERFECT = replace(CALIBRATION, alpha=0.0, local_error=((30.0, 0.0),))


def perfect_world(cost: FloatArray) -> Bridges:
    """Every pair is witnessed at its true cost, without a gap."""
    legs = np.argwhere(~np.eye(len(cost), dtype=bool)).tolist()
    found = tuple(Witness(Pair(i, j), cost[i, j], 0.0) for i, j in legs)
    return Bridges.from_roots(cost).updated(Evidence(found), is_reversible=False)


def test_a_route_that_is_no_better_than_the_second_is_not_certainly_the_best() -> None:
    """Nothing is uncertain, but both orders cost the same."""
    problem = make_problem(1, 2)
    certificate = certify(
        JointRoute(((0, 1, 2, 3),)), perfect_world(np.ones((4, 4))), problem, PERFECT, CERTIFIED_GAP
    )
    assert (certificate.bound, certificate.margin) == (0.0, 0.0)
    assert certificate.premises_hold
    assert not certificate.is_separated


def test_a_route_that_costs_nothing_is_the_best_estimate() -> None:
    route, problem = JointRoute(((0, 1),)), make_problem(1, 0)
    assert certify(route, perfect_world(np.zeros((2, 2))), problem, PERFECT, CERTIFIED_GAP).is_separated


def test_where_no_route_is_possible_nothing_is_claimed() -> None:
    route, problem = JointRoute(((0, 1),)), make_problem(1, 0)
    bridges = Bridges.from_roots(np.full((2, 2), np.inf))
    certificate = certify(route, bridges, problem, CALIBRATION, CERTIFIED_GAP)
    assert closure_error(bridges, problem, CALIBRATION, CERTIFIED_GAP) == 0.0
    assert np.isnan(certificate.margin)
    assert not certificate.is_separated


def test_a_link_without_a_certified_witness_may_be_wrong_by_all_it_costs() -> None:
    problem = make_problem(1, 0)
    bridges = Bridges.from_roots(np.array([[0.0, 0.5], [7.0, 0.0]]))
    assert closure_error(bridges, problem, CALIBRATION, CERTIFIED_GAP) == 0.5


def test_only_the_legs_a_route_could_have_count() -> None:
    """From the goal back to the start nothing is known, and nobody goes there."""
    found = Evidence((Witness(Pair(0, 1), 5.0, 0.5),))
    bridges = Bridges.from_roots(np.full((2, 2), 9.0)).updated(found, is_reversible=False)
    assert closure_error(bridges, make_problem(1, 0), CALIBRATION, CERTIFIED_GAP) < 0.1


def test_links_that_no_chain_can_use_are_not_missed() -> None:
    cost = np.array([[0.0, 5.0, np.inf], [np.inf, 0.0, 5.0], [np.inf, np.inf, 0.0]])
    found = Evidence((Witness(Pair(0, 1), 4.0, CERTIFIED_GAP),))
    bridges = Bridges.from_roots(cost).updated(found, is_reversible=False)
    assert uncertified_links(bridges, CERTIFIED_GAP) == (Pair(1, 2),)


def test_the_width_uses_local_quantiles_within_the_window_and_all_quantiles_beyond() -> None:
    for gap, ratios in ((10.0, 1.1 - 0.8), (50.0, 1.1 - 0.8), (100.0, 1.2 - 0.5)):
        assert width(gap, CALIBRATION) == pytest.approx(ratios * 0.9 * (gap + 0.002 * gap**2))
    for calibration in (CALIBRATION, replace(CALIBRATION, all_ratios=(1.0, 1.0))):
        assert width(np.inf, calibration) == np.inf


def test_a_link_error_is_claimed_only_within_the_certified_gap_and_the_table() -> None:
    assert link_error(5.0, CALIBRATION, CERTIFIED_GAP) == pytest.approx(0.2 + 0.002 * 25)
    assert link_error(30.0, CALIBRATION, CERTIFIED_GAP) == pytest.approx(0.6 + 0.002 * 900)
    assert link_error(30.0, CALIBRATION, certified_gap=29.0) == np.inf
    assert link_error(31.0, CALIBRATION, CERTIFIED_GAP) == np.inf
    assert link_error(31.0, CALIBRATION, certified_gap=50.0) == np.inf


def test_inflate_works_on_numbers_and_arrays() -> None:
    assert CALIBRATION.inflate(10.0) == pytest.approx(10.2)
    np.testing.assert_allclose(CALIBRATION.inflate(np.array([0.0, 10.0])), [0.0, 10.2])
