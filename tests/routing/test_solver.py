from __future__ import annotations

import numpy as np
import pytest
from routing_cases import all_routes, make_problem, random_cost
from scipy.sparse.csgraph import shortest_path

from benchmarks.mazes import maze
from benchmarks.references import geodesic_matrix
from chronoforest.envs.maps import cell_centre
from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.routing.insertion import insert, straight_home
from chronoforest.routing.solver import (
    AutoSolver,
    FixedOrder,
    best_two_costs,
    check_route,
    order_from_names,
    solve_exact,
    solve_pyvrp,
    solver_of,
)
from chronoforest.types import FloatArray, JointRoute, Problem

FEW_ITERATIONS = 50
INSTANCES = [(seed, 1 + seed % 3, seed // 3 % 6, seed % 2 == 0) for seed in range(200)]


def instance(
    seed: int, num_agents: int, num_waypoints: int, is_symmetric: bool
) -> tuple[Problem, FloatArray]:
    problem = make_problem(num_agents, num_waypoints)
    return problem, random_cost(problem.num_anchors, np.random.default_rng(seed), is_symmetric)


def nearest_neighbour(cost: FloatArray, problem: Problem) -> JointRoute:
    """The first agent always goes to the nearest waypoint left, the others stay idle."""
    order, left = [problem.start_index(0)], set(problem.waypoint_indices)
    while left:
        order.append(min(left, key=lambda waypoint: cost[order[-1], waypoint]))
        left.remove(order[-1])
    idle = [(problem.start_index(m), problem.goal_index(m)) for m in range(1, problem.num_agents)]
    return JointRoute(((*order, problem.goal_index(0)), *idle))


def test_both_solvers_find_the_brute_force_optimum_on_200_small_instances() -> None:
    for case in INSTANCES:
        problem, cost = instance(*case)
        best = min(route.cost(cost) for route in all_routes(problem))
        for route in (solve_exact(cost, problem), solve_pyvrp(cost, problem, None, FEW_ITERATIONS)):
            check_route(route, problem)
            assert route.cost(cost) == pytest.approx(best), case


RULES = [
    {"W1": "agent 2"},
    {"W1": "first", "W3": "last"},
    {"W1": "agent 2 first", "W2": "agent 1", "W4": "agent 2 last"},
    {"W1": "first", "W2": "first", "W3": "agent 1 last"},
    "W1 agent 1; W2 agent 1; W3 agent 1 last; W4 agent 1 first",
]


@pytest.mark.parametrize("fix", RULES, ids=str)
def test_both_solvers_find_the_best_of_the_routes_that_keep_to_fixed_stops(fix: dict[str, str] | str) -> None:
    for seed in range(8):
        plain, cost = instance(seed, 2, 4, seed % 2 == 0)
        problem = Problem(plain.starts, plain.goals, plain.waypoints, fix=fix)
        assert Problem.from_dict(problem.to_dict()).rules == problem.rules
        kept = [route for route in all_routes(problem) if keeps(route, problem.rules)]
        best = min(route.cost(cost) for route in kept)
        for route in (solve_exact(cost, problem), solve_pyvrp(cost, problem, None, FEW_ITERATIONS)):
            check_route(route, problem)
            assert keeps(route, problem.rules)
            assert route.cost(cost) == pytest.approx(best), seed
        if len(kept) < len(list(all_routes(problem))):
            broken = next(route for route in all_routes(problem) if route not in kept)
            with pytest.raises(InvalidProblem, match="keeps to fix"):
                check_route(broken, problem)


def keeps(route: JointRoute, rules: tuple[tuple[int | None, str], ...]) -> bool:
    """Whether every waypoint is where its rule wants it, read off the orders."""
    for waypoint, (owner, place) in enumerate(rules, start=len(route.orders)):
        agent, order = next((m, order) for m, order in enumerate(route.orders) if waypoint in order)
        wanted = {"": waypoint, "first": order[1], "last": order[-2]}[place]
        if owner not in (None, agent) or wanted != waypoint:
            return False
    return True


def test_many_stops_keep_to_their_agents_and_places() -> None:
    fix = {f"W{k + 1}": f"agent {1 + k % 3}" for k in range(18)} | {"W19": "last", "W20": "agent 3 first"}
    plain, cost = instance(0, 3, 30, True)
    problem = Problem(plain.starts, plain.goals, plain.waypoints, fix=fix)
    assert keeps(AutoSolver(num_iterations=50)(cost, problem, None), problem.rules)


@pytest.mark.parametrize(
    ("fix", "sentence"),
    [
        ({"W9": "first"}, "'W9' is not one of the waypoints W1, W2"),
        ({"W1": "second"}, 'W1 may be "agent 1", "first"'),
        ({"W1": "agent 3"}, "W1 is for agent 3; the agents are 1 to 2"),
        ({"W1": "agent 1 last", "W2": "agent 1 last"}, "each agent has one last stop"),
        ("W1", 'fix must be such as "W1 first; W2 agent 2"'),
    ],
)
def test_fixed_stops_that_cannot_be_are_refused(fix: dict[str, str] | str, sentence: str) -> None:
    with pytest.raises(InvalidProblem, match=sentence):
        Problem([[0, 0], [1, 0]], waypoints=[[2, 0], [3, 0]], fix=fix)


def streets(problem: Problem, seed: int, one_way: float) -> FloatArray:
    """Shortest ways between random places where every link is up to `one_way` times as long one way."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0.0, 100.0, (problem.num_anchors, 2))
    links = np.linalg.norm(places[:, None] - places, axis=-1) * rng.uniform(1.0, one_way, (len(places),) * 2)
    return np.asarray(shortest_path(links))


@pytest.mark.parametrize("one_way", [1.0, 3.0])
@pytest.mark.parametrize(("num_agents", "num_waypoints"), [(1, 10), (3, 10), (4, 9)])
def test_pyvrp_agrees_with_the_exact_solver_on_streets(
    num_agents: int, num_waypoints: int, one_way: float
) -> None:
    problem = make_problem(num_agents, num_waypoints)
    for seed in range(3):
        cost = streets(problem, seed, one_way)
        exact, found = solve_exact(cost, problem), solve_pyvrp(cost, problem, None, 300)
        assert found.cost(cost) == pytest.approx(exact.cost(cost)), seed


@pytest.mark.parametrize("one_way", [1.0, 3.0])
@pytest.mark.parametrize(("num_agents", "num_waypoints"), [(1, 60), (8, 60)])
def test_ten_times_the_iterations_are_worth_two_per_cent_at_most(
    num_agents: int, num_waypoints: int, one_way: float
) -> None:
    problem = make_problem(num_agents, num_waypoints)
    cost = streets(problem, 11, one_way)
    usual, long = (solve_pyvrp(cost, problem, None, count).cost(cost) for count in (300, 3000))
    assert usual <= 1.02 * long


def test_who_goes_where_is_decided_while_waypoints_are_few() -> None:
    """In the giant maze, with 120 waypoints in its corridors: a route into which all of them are put at once
    stays far longer however long PyVRP works on it, since whole corridors would have to change hands."""
    giant, rng = maze("giant"), np.random.default_rng(4)
    cells = cell_centre(giant.free_cells)
    places = cells[rng.integers(0, len(cells), 128)] + rng.uniform(-1.0, 1.0, (128, 2))
    problem = Problem(places[:4], places[4:8], places[8:])
    cost = geodesic_matrix(giant, problem.anchors)
    found = solve_pyvrp(cost, problem, None, 100)
    at_once = insert(cost, straight_home(problem), problem.waypoint_indices)
    assert 1.1 * found.cost(cost) < solve_pyvrp(cost, problem, at_once, 1000).cost(cost)


def test_from_a_route_that_was_the_best_fewer_iterations_are_spent() -> None:
    problem = make_problem(2, 30)
    cost = streets(problem, 5, 1.0)
    solver = AutoSolver(num_iterations=200, num_again=20)
    first = solver(cost, problem, None)
    assert first == solve_pyvrp(cost, problem, None, 200)
    changed = cost * np.random.default_rng(0).uniform(0.5, 1.0, cost.shape)
    assert solver(changed, problem, first) == solve_pyvrp(changed, problem, first, 20)


def test_the_best_two_costs_are_those_of_the_two_best_routes_by_brute_force() -> None:
    for case in INSTANCES[::3]:
        problem, cost = instance(*case)
        costs = sorted(route.cost(cost) for route in all_routes(problem))
        assert best_two_costs(cost, problem) == pytest.approx((*costs, np.inf)[:2]), case


def test_the_best_two_costs_are_nan_above_the_exact_limit_and_infinite_where_nothing_is_reachable() -> None:
    large = make_problem(1, 13)
    assert np.isnan(best_two_costs(np.ones((large.num_anchors,) * 2), large)).all()
    small = make_problem(1, 2)
    assert best_two_costs(np.full((small.num_anchors,) * 2, np.inf), small) == (np.inf, np.inf)


@pytest.mark.parametrize("max_exact", [0, 10])
def test_an_idle_agent_goes_home_and_its_way_home_is_counted(max_exact: int) -> None:
    """Agent 2 passes by the waypoint: its own way home is 90, through the waypoint 20."""
    problem = make_problem(2, 1)
    cost = np.full((5, 5), 100.0)
    cost[0, 2], cost[2, 3], cost[0, 3] = 1.0, 1.0, 1.0
    cost[1, 2], cost[2, 4], cost[1, 4] = 10.0, 10.0, 90.0
    route = AutoSolver(max_exact=max_exact)(cost, problem, None)
    assert route.named(problem) == [["S1", "G1"], ["S2", "W1", "G2"]]


@pytest.mark.parametrize("num_agents", [1, 2])
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_pyvrp_beats_nearest_neighbour_at_thirty_waypoints(num_agents: int, is_symmetric: bool) -> None:
    problem, cost = instance(7, num_agents, 30, is_symmetric)
    route = AutoSolver(num_iterations=200)(cost, problem, None)
    check_route(route, problem)
    assert route.cost(cost) <= nearest_neighbour(cost, problem).cost(cost)


def test_pyvrp_from_a_previous_route_is_never_worse_than_it() -> None:
    problem, cost = instance(11, 2, 30, True)
    good = solve_pyvrp(cost, problem, None, num_iterations=300)
    for previous in (good, nearest_neighbour(cost, problem)):
        warm = solve_pyvrp(cost, problem, previous, num_iterations=1, seed=3)
        assert warm.cost(cost) <= previous.cost(cost)


def test_pyvrp_repeats_itself_for_one_seed() -> None:
    problem, cost = instance(5, 2, 20, False)
    first, second = (solve_pyvrp(cost, problem, None, FEW_ITERATIONS) for _ in range(2))
    assert first == second


def test_a_tie_keeps_the_previous_route() -> None:
    problem = make_problem(1, 3)
    previous = JointRoute(((0, 3, 1, 2, 4),))
    assert solve_exact(np.ones((5, 5)), problem, previous) == previous


def test_a_cheaper_route_replaces_the_previous_one() -> None:
    problem, cost = instance(4, 1, 4, False)
    best, *_, worst = sorted(all_routes(problem), key=lambda route: route.cost(cost))
    assert solve_exact(cost, problem, worst) == best
    assert solve_exact(np.zeros_like(cost), problem, worst) == worst


def test_of_equal_routes_the_exact_one_lets_later_agents_rest() -> None:
    problem = make_problem(3, 2)
    assert [len(order) for order in solve_exact(np.ones((8, 8)), problem).orders] == [4, 2, 2]


def test_up_to_the_limit_and_at_it_the_answer_is_right_to_the_last_digit() -> None:
    """A difference that PyVRP's integers do not see: only the exact solver leaves the previous route."""
    problem = make_problem(1, 2)
    cost = np.full((4, 4), 100.0)
    cost[0, 2] -= 1e-7
    previous = JointRoute(((0, 1, 2, 3),))
    routes = [AutoSolver(max_exact=limit)(cost, problem, previous) for limit in (1, 2, 3)]
    assert [route == previous for route in routes] == [True, False, False]


def test_twelve_waypoints_in_a_row_are_solved_exactly() -> None:
    problem = make_problem(1, 12)
    rows = np.arange(14.0)
    cost = np.abs(rows[:, None] - rows)
    assert solve_exact(cost, problem).orders == (tuple(range(14)),)
    assert best_two_costs(cost, problem) == (13.0, 15.0)


def test_pyvrp_goes_on_from_the_previous_route() -> None:
    """Two visits of a good route are swapped; a few iterations from there repair it."""
    problem, cost = instance(11, 1, 60, True)
    good = solve_pyvrp(cost, problem, None, 1000).orders[0]
    swapped = JointRoute(((*good[:30], good[31], good[30], *good[32:]),))
    assert solve_pyvrp(cost, problem, None, 1).cost(cost) > swapped.cost(cost)
    assert solve_pyvrp(cost, problem, swapped, 10).cost(cost) < swapped.cost(cost)


@pytest.mark.parametrize("max_exact", [0, 10])
def test_the_longest_possible_way_is_preferred_to_one_unreachable_leg(max_exact: int) -> None:
    problem = make_problem(1, 2)
    cost = np.full((4, 4), 1000.0)
    cost[0, 2], cost[2, 1], cost[1, 3] = 0.0, np.inf, 0.0
    solver = AutoSolver(max_exact=max_exact, num_iterations=50)
    assert solver(cost, problem, None).orders == ((0, 1, 2, 3),)


@pytest.mark.parametrize("max_exact", [0, 10])
def test_unreachable_costs_still_give_a_route_with_the_fewest_unreachable_legs(max_exact: int) -> None:
    problem = make_problem(1, 2)
    solver = AutoSolver(max_exact=max_exact, num_iterations=50)
    cost = np.full((4, 4), np.inf)
    check_route(solver(cost, problem, None), problem)
    cost[0, 2], cost[2, 1] = 1000.0, 1000.0
    assert solver(cost, problem, None).named(problem) == [["S1", "W2", "W1", "G1"]]


def test_a_given_order_stands_and_without_one_the_best_is_found() -> None:
    problem, cost = instance(4, 1, 3, True)
    best = solve_exact(cost, problem)
    (given,) = (tuple(reversed(order[1:-1])) for order in best.named(problem))
    assert solver_of(None, problem)(cost, problem, None) == best
    assert solver_of([["S1", *given, "G1"]], problem)(cost, problem, None).named(problem) == [
        ["S1", *given, "G1"]
    ]


def test_all_zero_costs_are_solved() -> None:
    problem = make_problem(2, 3)
    for max_exact in (0, 10):
        route = AutoSolver(max_exact=max_exact, num_iterations=20)(np.zeros((7, 7)), problem, None)
        check_route(route, problem)


def test_a_fixed_order_ignores_the_costs() -> None:
    problem, cost = instance(0, 2, 2, False)
    route = order_from_names([["S1", "W2", "W1", "G1"], ["S2", "G2"]], problem)
    assert FixedOrder(route)(cost, problem, None) == route
    assert route.orders == ((0, 3, 2, 4), (1, 5))


@pytest.mark.parametrize(
    "names",
    [
        [["S1", "W1", "G1"]],
        [["S1", "W1", "W2", "G1"], ["S2", "W2", "G2"]],
        [["S1", "W1", "G1"], ["S2", "G2"]],
        [["S1", "W1", "W2", "G2"], ["S2", "G1"]],
        [["S1"], ["S2", "W1", "W2", "G2"]],
        [[], ["S2", "W1", "W2", "G2"]],
    ],
)
def test_an_order_that_does_not_fit_the_problem_is_refused(names: list[list[str]]) -> None:
    with pytest.raises(InvalidProblem):
        order_from_names(names, make_problem(2, 2))


def test_a_flat_order_and_labels_name_the_stops_of_one_agent() -> None:
    problem = Problem([0, 0], waypoints={"a": [1, 0], "b": [2, 0]}, goals=[3, 0])
    labelled = Problem({"depot": [0, 0]}, waypoints={"a": [1, 0], "b": [2, 0], "S1": [3, 0]})
    assert order_from_names(["S1", "b", "W1", "G1"], problem).orders == ((0, 2, 1, 3),)
    assert order_from_names(["depot", "W3", "a", "b", "depot"], labelled).orders == ((0, 3, 1, 2, 4),)
    twice = Problem([0, 0], waypoints=[[1, 0], [2, 0]], labels=["", "shop", "shop", ""])
    with pytest.raises(InvalidProblem, match="more than one"):
        order_from_names(["S1", "shop", "shop", "G1"], twice)
    with pytest.raises(InvalidProblem, match="2 agents"):
        order_from_names(["S1", "G1"], make_problem(2, 0))


def test_an_unknown_name_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(InvalidProblem, match=r"'W9'.*S1, W1, G1"):
        order_from_names([["S1", "W9", "G1"]], make_problem(1, 1))


def test_a_route_of_another_problem_is_refused() -> None:
    with pytest.raises(InvalidProblem):
        FixedOrder(JointRoute(((0, 1, 2),)))(np.zeros((4, 4)), make_problem(1, 2), None)
    with pytest.raises(InvalidProblem):
        solve_exact(np.zeros((4, 4)), make_problem(1, 2), JointRoute(((0, 1, 2),)))
    with pytest.raises(InvalidProblem):
        solve_pyvrp(np.zeros((4, 4)), make_problem(1, 2), JointRoute(((0, 1, 9, 3),)), FEW_ITERATIONS)


def test_too_many_waypoints_for_the_exact_solver_names_the_alternative() -> None:
    problem = make_problem(1, 13)
    with pytest.raises(InvalidProblem, match="13; use solve_pyvrp"):
        solve_exact(np.zeros((15, 15)), problem)


@pytest.mark.parametrize(
    "values", [{"max_exact": 0}, {"max_exact": 12}, {"num_iterations": 1}, {"num_again": 1}, {"seed": 0}]
)
def test_the_ends_of_the_ranges_are_allowed(values: dict[str, int]) -> None:
    AutoSolver(**values)


@pytest.mark.parametrize(
    "values", [{"max_exact": 13}, {"max_exact": -1}, {"num_iterations": 0}, {"num_again": 0}, {"seed": -1}]
)
def test_parameters_out_of_range_are_refused_with_the_value(values: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter, match=str(next(iter(values.values())))):
        AutoSolver(**values)
