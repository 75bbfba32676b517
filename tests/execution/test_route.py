import numpy as np
import pytest
from fake_planner import FakePlanner, dense
from gap_worlds import walled_planner

from chronoforest.execution.route import ExecutionParams, Place, Route, advance, route_of, subgoal, to_go
from chronoforest.types import Problem

PARAMS = ExecutionParams(look_ahead=1.8)
NOBODY = np.zeros((0, 2))


def hairpin() -> Route:
    """Out to a waypoint at (5, 0) and back along the same line to (0, 0.1)."""
    path = dense([[0, 0], [5, 0], [0, 0.1]])
    return Route(path, np.array([[5.0, 0.0]]), (int(np.argmax(path[:, 0])),))


def test_the_subgoal_leads_along_the_path_not_across_the_corner():
    route = Route(dense([[0, 0], [4, 0], [4, 4]]), NOBODY, ())
    place = advance(route, Place(), np.array([0.0, 0.3]), PARAMS)
    np.testing.assert_allclose(subgoal(route, place, route.path[-1], PARAMS), [1.8, 0.0])
    place = Place(frame=12)
    np.testing.assert_allclose(subgoal(route, place, route.path[-1], PARAMS), [4.0, 0.8])


def test_the_goal_itself_is_the_last_subgoal():
    route, goal = Route(dense([[0, 0], [4, 0]]), NOBODY, ()), np.array([4.3, 0.2])
    np.testing.assert_array_equal(subgoal(route, Place(frame=12), goal, PARAMS), goal)


def test_an_incomplete_path_ends_where_it_ends():
    route = Route(dense([[0, 0], [4, 0]]), NOBODY, (), is_complete=False)
    np.testing.assert_allclose(subgoal(route, Place(frame=12), np.array([9.0, 9.0]), PARAMS), [4.0, 0.0])


def test_a_route_is_never_left_at_a_waypoint_that_is_not_visited():
    """At (4.4, 0) the way back is nearer than the waypoint, yet the subgoal stays the waypoint."""
    route = hairpin()
    place = advance(route, Place(frame=17), np.array([4.4, 0.05]), PARAMS)
    assert place.num_visited == 0
    assert place.frame <= route.stops[0]
    np.testing.assert_array_equal(subgoal(route, place, route.path[-1], PARAMS), route.waypoints[0])
    visited = advance(route, place, np.array([4.6, 0.0]), PARAMS)
    assert visited == Place(route.stops[0], 1)


def test_the_nearest_frame_is_looked_for_ahead_and_only_within_the_window():
    """The end of the hairpin is as near as its beginning, but belongs to a later part of the route."""
    route = hairpin()
    assert advance(route, Place(), np.array([0.0, 0.1]), PARAMS).frame == 0
    assert advance(route, Place(frame=8), np.array([0.0, 0.0]), PARAMS).frame == 8


def test_units_to_go_fall_along_the_path_and_rise_off_it():
    route = hairpin()
    ahead = to_go(route, Place(frame=4), route.path[4])
    assert ahead < to_go(route, Place(frame=0), route.path[0])
    assert to_go(route, Place(frame=4), route.path[4] + [0.0, 1.0]) == pytest.approx(ahead + 1.0)


def test_a_plan_becomes_a_route_with_its_waypoints_in_order():
    result = FakePlanner().plan(Problem([[0, 0]], [[52, 36]], [[32, 24], [20, 16]]))
    route = route_of(result, 0)
    assert result.routes[0].order == ["S1", "W2", "W1", "G1"]
    np.testing.assert_array_equal(route.waypoints, [[20, 16], [32, 24]])
    np.testing.assert_array_equal(route.path[list(route.stops)], route.waypoints)
    assert route.is_complete


def test_an_unmet_plan_becomes_an_incomplete_route():
    route = route_of(FakePlanner(is_blind=True).plan(Problem([[0, 0]], [[52, 36]], [[20, 16]])), 0)
    assert (route.stops, route.is_complete, len(route.waypoints)) == ((), False, 1)


def test_what_nobody_visits_is_missed_by_the_first_agent():
    problem = Problem([[3.0, 10.0], [3.0, 14.0]], [[3.0, 3.0], [7.0, 14.0]], [[6.0, 6.0], [17.0, 10.0]])
    result = walled_planner().plan(problem)
    assert result.left_out == ("W2",)
    first, second = (route_of(result, agent) for agent in (0, 1))
    assert first.waypoints[-1].tolist() == [17.0, 10.0]
    assert len(first.stops) == len(first.waypoints) - 1
    assert (first.is_complete, second.is_complete) == (False, True)
