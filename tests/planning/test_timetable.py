"""A plan as a timetable: arrivals, legs and their evidence, with the names that users give."""

import pytest
from fakes import BLOCK, make_planner, scattered_problem

from chronoforest.planning.planner import MaxRounds
from chronoforest.types import Problem


def test_every_stop_has_its_row_and_legs_add_up():
    result = make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), variant="roadmap-only")
    table = result.timetable
    assert [stop.name for stop in table] == [name for route in result.routes for name in route.order]
    for agent, route in enumerate(result.routes, start=1):
        own = [stop for stop in table if stop.agent == agent]
        assert own[0].arrival == 0.0
        assert own[0].length is None
        assert sum(stop.length for stop in own[1:]) == pytest.approx(route.length)
        assert own[-1].arrival == pytest.approx(sum(stop.duration for stop in own[1:]))
        assert {stop.evidence for stop in own[1:]} == {"inferred"}
    assert len(table.rows) == len(table) + 3  # the totals of each and of both


def test_labels_are_shown_in_the_table_the_summary_and_a_notebook():
    problem = Problem({"depot": [3, 3]}, waypoints={"<b>": [10, 17], "mill": [3, 17]})
    result = make_planner().plan(problem, variant="roadmap-only")
    assert {stop.label for stop in result.timetable} == {"depot", "<b>", "mill"}
    assert "G1 depot" in result.summary()
    page = result._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<svg" in page
    assert "W1 <b>" in str(result.timetable)


def test_nobody_arrives_after_a_leg_that_is_not_met():
    result = make_planner(BLOCK).plan(scattered_problem(1, 0), stop=MaxRounds(0), variant="online")
    start, goal = result.timetable
    assert (start.arrival, goal.arrival, goal.evidence) == (0.0, None, "none")
