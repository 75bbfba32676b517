from __future__ import annotations

import numpy as np
import pytest
from routing_cases import make_problem, random_cost

from chronoforest.routing.insertion import far_apart_first, insert, straight_home
from chronoforest.routing.solver import check_route
from chronoforest.types import FloatArray, JointRoute, Problem


def along_a_line(*places: float) -> FloatArray:
    """Costs between places on a line, in the order starts, waypoints, goals."""
    return np.abs(np.subtract.outer(places, places))


def insert_all(cost: FloatArray, problem: Problem) -> JointRoute:
    return insert(cost, straight_home(problem), problem.waypoint_indices)


@pytest.mark.parametrize(("num_agents", "num_waypoints"), [(1, 0), (1, 1), (1, 7), (3, 0), (3, 12), (16, 5)])
def test_every_waypoint_is_put_in_exactly_once(num_agents: int, num_waypoints: int) -> None:
    problem = make_problem(num_agents, num_waypoints)
    cost = random_cost(problem.num_anchors, np.random.default_rng(num_waypoints), is_symmetric=False)
    check_route(insert_all(cost, problem), problem)


def test_waypoints_on_the_way_are_put_in_in_their_order() -> None:
    problem = make_problem(1, 3)
    assert insert_all(along_a_line(0.0, 3.0, 1.0, 2.0, 4.0), problem).orders == ((0, 2, 3, 1, 4),)


def test_the_agent_that_goes_least_out_of_its_way_visits() -> None:
    problem = make_problem(2, 2)
    cost = along_a_line(0.0, 100.0, 104.0, 8.0, 10.0, 110.0)
    assert insert_all(cost, problem).orders == ((0, 3, 4), (1, 2, 5))


def test_what_costs_most_of_a_detour_decides_first() -> None:
    """The far waypoint draws the first agent out; the near one then lies on its way, not on the other's."""
    problem = make_problem(2, 2)
    places = np.array([[0.0, 0.0], [0.0, 6.0], [10.0, 2.9], [5.0, 3.1], [1.0, 0.0], [1.0, 6.0]])
    cost = np.linalg.norm(places[:, None] - places, axis=-1)
    route = insert_all(cost, problem)
    assert sorted(map(len, route.orders)) == [2, 4]


def test_directions_are_heeded() -> None:
    """A ring that is driven one way: against it takes all the way round."""
    problem = make_problem(1, 3)
    places = np.array([0.0, 3.0, 1.0, 2.0, 4.0])
    cost = np.mod(np.subtract.outer(places, places).T, 10.0)
    route = insert_all(cost, problem)
    assert route.orders == ((0, 2, 3, 1, 4),)
    assert route.cost(cost) == 4.0


def test_what_a_route_visits_already_stays_in_its_order() -> None:
    problem = make_problem(1, 4)
    cost = along_a_line(0.0, 8.0, 2.0, 4.0, 6.0, 10.0)
    known = JointRoute(((0, 1, 2, 5),))  # to 8, back to 2, and home
    route = insert(cost, known, [3, 4])
    check_route(route, problem)
    assert [anchor for anchor in route.orders[0] if anchor in (1, 2)] == [1, 2]
    assert route.cost(cost) == known.cost(cost)


def test_waypoints_that_lie_far_apart_come_first() -> None:
    problem = make_problem(1, 4)
    cost = along_a_line(0.0, 1.0, 9.0, 5.0, 20.0, 30.0)
    assert far_apart_first(cost, problem) == [4, 2, 3, 1]
    assert sorted(far_apart_first(np.zeros((6, 6)), problem)) == [1, 2, 3, 4]
