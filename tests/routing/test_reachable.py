"""Routes where ways do not lead everywhere: what can be visited is, and what is left out is told."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from routing_cases import all_routes, make_problem, random_cost

from chronoforest.routing.bridges import closure
from chronoforest.routing.insertion import Part, finite_chains
from chronoforest.routing.reachable import Shares, is_connected, keep_order, share_out, solver_within_reach
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import FloatArray, JointRoute, Problem

SOLVER = AutoSolver()


def cut(cost: FloatArray, *rows: int) -> FloatArray:
    """Nothing leads to these anchors or away from them."""
    apart = cost.copy()
    apart[list(rows), :] = apart[:, list(rows)] = np.inf
    np.fill_diagonal(apart, 0.0)
    return apart


def instance(num_agents: int, num_waypoints: int, seed: int = 0) -> tuple[Problem, FloatArray]:
    problem = make_problem(num_agents, num_waypoints)
    return problem, random_cost(problem.num_anchors, np.random.default_rng(seed), is_symmetric=False)


def visits(route: JointRoute) -> list[int]:
    return sorted(row for order in route.orders for row in order[1:-1])


@pytest.mark.parametrize("num_waypoints", [1, 5, 30])
def test_a_waypoint_that_nothing_leads_to_is_left_out_and_all_others_are_visited(num_waypoints):
    problem, cost = instance(1, num_waypoints)
    cost = cut(cost, 1)
    shares = share_out(cost, problem, SOLVER)
    route = shares(cost, problem, None)
    assert shares.left_out == (1,)
    assert visits(route) == list(problem.waypoint_indices)[1:]
    assert np.isfinite(route.cost(cost))


def test_the_route_around_what_is_left_out_is_the_best_one():
    problem, cost = instance(2, 5)
    apart = cut(cost, 4)
    route = share_out(apart, problem, SOLVER)(apart, problem, None)
    rest = Part.of(cost, problem, (0, 1), [2, 3, 5, 6])
    best = min(one.cost(rest.cost) for one in all_routes(rest.problem))
    assert route.cost(cost) == pytest.approx(best)


def test_the_last_route_wins_ties_and_is_taken_up():
    problem, cost = instance(1, 30)
    cost = cut(cost, 7)
    shares = share_out(cost, problem, SOLVER)
    first = shares(cost, problem, None)
    assert shares(cost, problem, first).cost(cost) <= first.cost(cost)


def most_visits(cost: FloatArray, problem: Problem) -> int:
    """By trying every set of waypoints."""
    rows = list(problem.waypoint_indices)
    for count in range(len(rows), -1, -1):
        for some in combinations(rows, count):
            part = Part.of(cost, problem, range(problem.num_agents), some)
            if any(np.isfinite(one.cost(part.cost)) for one in all_routes(part.problem)):
                return count
    return 0


def one_way_streets(seed: int, share_missing: float) -> tuple[Problem, FloatArray]:
    """So many legs are missing, but none from a start to its goal."""
    problem, cost = instance(1 + seed % 2, 5, seed)
    is_missing = np.random.default_rng(seed).random(cost.shape) < share_missing
    for agent in range(problem.num_agents):
        is_missing[problem.start_index(agent), problem.goal_index(agent)] = False
    return problem, np.where(is_missing & ~np.eye(len(cost), dtype=bool), np.inf, cost)


def assert_most_are_visited(problem: Problem, cost: FloatArray, solver: AutoSolver) -> None:
    shares = share_out(cost, problem, solver)
    route = shares(cost, problem, None)
    assert np.isfinite(route.cost(cost))
    assert len(visits(route)) == most_visits(cost, problem)
    assert sorted((*visits(route), *shares.left_out)) == list(problem.waypoint_indices)


@pytest.mark.parametrize("seed", range(8))
def test_as_many_are_visited_as_can_be(seed):
    """What can be visited alone often cannot be with the others, or only by way of them."""
    assert_most_are_visited(*one_way_streets(seed, 0.6), SOLVER)


@pytest.mark.parametrize("seed", range(8))
def test_so_are_they_where_there_are_too_many_to_try_all(seed):
    problem, cost = one_way_streets(seed, 0.8)
    assert_most_are_visited(problem, closure(cost).cost, AutoSolver(max_exact=0))


def test_not_all_are_visited_in_the_tests_above():
    sparse = [one_way_streets(seed, 0.8) for seed in range(8)]
    counts = {most_visits(closure(cost).cost, problem) for problem, cost in sparse}
    assert min(counts) < 5
    assert len(counts) > 1


def test_who_cannot_get_home_leaves_the_waypoints_to_the_others():
    problem, cost = instance(2, 4)
    cost = cut(cost, problem.goal_index(0))
    shares = share_out(cost, problem, SOLVER)
    route = shares(cost, problem, None)
    assert shares.left_out == ()
    assert route.orders[0] == (0, problem.goal_index(0))
    assert visits(route) == list(problem.waypoint_indices)


def test_what_only_somebody_reaches_who_cannot_get_home_is_visited_all_the_same():
    problem, cost = instance(2, 4)
    island = [0, 2, 3]
    rest = [row for row in range(problem.num_anchors) if row not in island]
    cost[np.ix_(island, rest)] = cost[np.ix_(rest, island)] = np.inf
    shares = share_out(cost, problem, SOLVER)
    route = shares(cost, problem, None)
    assert shares.left_out == ()
    assert sorted(route.orders[0][1:-1]) == [2, 3]
    assert sorted(route.orders[1][1:-1]) == [4, 5]


def test_alone_and_without_a_way_home_all_that_can_be_reached_is_visited():
    problem, cost = instance(1, 4)
    cost = cut(cost, 2, problem.goal_index(0))
    shares = share_out(cost, problem, SOLVER)
    (order,) = shares(cost, problem, None).orders
    assert shares.left_out == (2,)
    assert (order[0], sorted(order[1:-1]), order[-1]) == (0, [1, 3, 4], problem.goal_index(0))


def test_from_a_start_that_leads_nowhere_nothing_is_visited():
    problem, cost = instance(1, 3)
    cost = cut(cost, 0)
    shares = share_out(cost, problem, SOLVER)
    assert shares.left_out == tuple(problem.waypoint_indices)
    assert shares(cost, problem, None).orders == ((0, problem.goal_index(0)),)


def test_a_given_order_loses_only_what_breaks_it():
    problem, cost = instance(2, 4)
    route = JointRoute(((0, 3, 2, 6), (1, 5, 4, 7)))
    kept = keep_order(cut(cost, 2), problem, route)
    assert kept(cost, problem, None).orders == ((0, 3, 6), (1, 5, 4, 7))
    assert kept.left_out == (2,)
    kept = keep_order(cut(cost, 7), problem, route)
    assert kept(cost, problem, None) == route
    assert kept.left_out == ()


def test_of_two_that_exclude_each_other_an_order_keeps_the_one_that_makes_it_shorter():
    cost = np.full((4, 4), 10.0)
    cost[1, 2] = np.inf
    cost[0, 1] = 1.0
    assert finite_chains(JointRoute(((0, 1, 2, 3),)), cost).orders == ((0, 1, 3),)
    cost[0, 1], cost[2, 3] = 10.0, 1.0
    assert finite_chains(JointRoute(((0, 1, 2, 3),)), cost).orders == ((0, 2, 3),)


def test_agents_in_places_of_their_own_are_connected_if_each_can_go_about():
    problem, cost = instance(2, 4)
    one, other = [0, 2, 3, 6], [1, 4, 5, 7]
    apart = np.full_like(cost, np.inf)
    for group in (one, other):
        apart[np.ix_(group, group)] = cost[np.ix_(group, group)]
    assert is_connected(cost, problem)
    assert is_connected(apart, problem)
    assert not is_connected(cut(apart, 2), problem)
    assert not is_connected(cut(apart, 6), problem)
    apart[2, 3] = np.inf
    assert not is_connected(apart, problem)


def test_shares_are_solved_for_apart():
    problem, cost = instance(2, 3)
    asked = []

    def solve(cost, problem, previous):
        asked.append((problem.num_agents, problem.num_waypoints))
        return SOLVER(cost, problem, previous)

    shares = share_out(cut(cost, problem.goal_index(1)), problem, SOLVER)
    Shares(shares.shares, (), solve)(cost, problem, None)
    assert asked == [(1, 3), (1, 0)]


@pytest.mark.parametrize("fixes_order", [False, True])
def test_a_connected_problem_is_solved_as_one_and_another_in_shares(fixes_order):
    problem, cost = instance(1, 4)
    for known, left_out in ((cost, ()), (cut(cost, 2), (2,))):
        solver, found = solver_within_reach(known, problem, None, fixes_order)
        best = share_out(known, problem, SOLVER)(known, problem, None)
        assert found == left_out
        assert solver(known, problem, None) == best
        assert isinstance(solver, AutoSolver) == (not fixes_order and not left_out)
        assert isinstance(solver, Shares) == (not fixes_order and bool(left_out))
