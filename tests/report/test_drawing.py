"""What a picture of a plan shows: by the marks, lines and words on its axes."""

from dataclasses import replace

import numpy as np
import pytest
from fakes import BLOCK, make_planner, scattered_problem

from chronoforest.planning.planner import MaxRounds
from chronoforest.report.drawing import _apart, agent_colour, new_axes
from chronoforest.types import Problem


@pytest.fixture(scope="module")
def result():
    return make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), seed=3)


def words(axes):
    return [text.get_text() for text in axes.texts]


def routes(axes):
    return [line for line in axes.lines if line.get_linewidth() == 3 and line.get_zorder() == 3]


def test_stops_are_numbered_in_their_order_and_have_their_times(result):
    axes = result.plot()
    numbers = [word for word in words(axes) if word.isdigit() and len(word) == 1]
    assert len(numbers) == result.problem.num_waypoints
    for stop in result.timetable:
        if stop.arrival:
            assert any(f"{stop.label} {result.timetable.time(stop)}" in word for word in words(axes))


def test_every_leg_is_a_line_in_its_agents_colour_with_arrows(result):
    axes = result.plot()
    drawn = [line.get_color() for line in routes(axes)]
    assert drawn == [agent_colour(agent) for agent, route in enumerate(result.routes) for _ in route.legs]
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) >= 2 * len(result.routes)


def test_a_picture_is_cut_to_its_contents_as_notebooks_do(result, tmp_path):
    result.plot().figure.savefig(tmp_path / "plan.png", bbox_inches="tight")
    assert (tmp_path / "plan.png").stat().st_size > 5000


def test_a_leg_that_is_only_inferred_is_dashed(result):
    inferred = make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), seed=3, variant="roadmap-only")
    assert all(line.is_dashed() for line in routes(inferred.plot()))
    assert not any(line.is_dashed() for line in routes(result.plot()))


def test_stops_at_one_place_share_a_text(result):
    round_trip = make_planner().plan(Problem({"depot": [3, 3]}, waypoints=[[10, 17]]))
    assert sum("depot" in word for word in words(round_trip.plot())) == 1


def test_a_bar_shows_a_round_length(result):
    assert any(word.endswith(result.frame.unit) for word in words(result.plot()))


def test_an_incomplete_plan_says_so_and_is_drawn_as_far_as_it_goes():
    part = make_planner(BLOCK).plan(scattered_problem(1, 0), stop=MaxRounds(0), variant="online")
    assert part.plot().get_title().startswith("incomplete")


@pytest.mark.parametrize("is_back", [False, True])
def test_ways_that_are_used_twice_lie_beside_each_other(result, is_back):
    """Two of one direction, the second farther to the right; two of opposite ones, each on its own right."""
    _, axes = new_axes(result.support)
    line = np.stack([np.linspace(4.0, 16.0, 50), np.full(50, 10.0)], axis=1)
    first, second = _apart(axes, [line, line[::-1] if is_back else line])
    middle = [part[len(part) // 2, 1] - 10.0 for part in (first, second)]
    assert middle[0] < -0.01
    assert middle[1] > 0.01 if is_back else middle[1] < middle[0] - 0.01


def test_a_way_that_nothing_shares_is_drawn_where_it_is(result):
    _, axes = new_axes(result.support)
    line = np.stack([np.linspace(4.0, 16.0, 50), np.full(50, 10.0)], axis=1)
    (alone,) = _apart(axes, [line])
    np.testing.assert_allclose(alone[:, 1], 10.0)


def test_a_way_there_and_back_is_two_lines(result):
    _, axes = new_axes(result.support)
    there = np.stack([np.linspace(4.0, 16.0, 50), np.full(50, 10.0)], axis=1)
    (line,) = _apart(axes, [np.concatenate([there, there[::-1]])])
    quarter = len(line) // 4
    assert line[quarter, 1] < 10.0 < line[-quarter, 1]


def test_a_route_of_one_point_is_drawn(result):
    standing = make_planner().plan(Problem([[3, 3]], [[3, 3]]))
    assert standing.plot() is not None
    assert replace(standing, routes=standing.routes).timetable.stops[-1].arrival == 0.0
