"""What a user passes to a planner, sees of it, and sends to other processes."""

import pickle

import numpy as np
import pytest
from fakes import BLOCK, make_planner, scattered_problem

from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.planning.planner import MaxRounds, MaxSeconds, checked_stop
from chronoforest.presets.loading import load_planner
from chronoforest.types import Problem

PROBLEM = scattered_problem(1, 2)


def test_seconds_are_a_criterion_and_a_criterion_and_none_stay_what_they_are():
    assert {checked_stop(None, number) for number in (2, 2.0, np.float32(2))} == {MaxSeconds(2.0)}
    assert checked_stop(None) is None
    assert checked_stop(stop := MaxRounds(3)) is stop


def test_a_plan_ends_when_its_seconds_are_over():
    rounds = []
    result = make_planner(BLOCK).plan(PROBLEM, seconds=0.0, on_round=lambda stats, _: rounds.append(stats))
    assert [stats.round_index for stats in rounds] == [0]
    assert result.complete


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"stop": 2.0}, "got 2.0; seconds=2.0 is a time"),
        ({"stop": "2 s"}, "got '2 s'"),
        ({"stop": MaxRounds(2), "seconds": 2.0}, "give one"),
        ({"seconds": True}, "got True"),
        ({"seconds": -1}, "got -1"),
        ({"seconds": float("nan")}, "got nan"),
        ({"depart": "2026-11-16 08:00"}, "depart needs recordings with a clock"),
        ({"depart": "tomorrow"}, "got 'tomorrow'"),
    ],
)
def test_an_end_or_a_departure_that_is_none_says_what_would_work(options, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        make_planner().plan(PROBLEM, **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"on_round": 3}, "on_round must be a function, got 3"),
        ({"on_snapshot": "x"}, "on_snapshot must be a function, got 'x'"),
        ({"memory": {}}, r"memory must be a ForestMemory\(\) that is kept between plans, got {}"),
    ],
)
def test_other_options_are_checked_before_any_work(options, sentence):
    planner = make_planner()
    with pytest.raises(InvalidParameter, match=sentence):
        planner.plan(PROBLEM, **options)
    assert not planner.models.sampler.queries


def test_what_is_no_problem_is_answered_with_one():
    with pytest.raises(InvalidProblem, match="7"):
        make_planner().plan(7)
    with pytest.raises(InvalidProblem, match="leave out goals"):
        make_planner().plan(PROBLEM, goals=[1, 1])
    with pytest.raises(InvalidProblem, match=r"starts=\.\.\. is missing"):
        make_planner().plan(goals=[1, 1])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"name": 7}, "a preset is named by a text such as 'ant-giant', got 7"),
        (
            {"name": "point-medium", "num_threads": 0},
            "num_threads must be a whole number of 1 or more, got 0",
        ),
        ({"name": "point-medium", "mode": "slow"}, "mode must be 'default' or 'fast', got 'slow'"),
        ({"name": "point-medium", "device": "gpu"}, "device must be auto, cpu or cuda, got 'gpu'"),
    ],
)
def test_a_planner_that_cannot_be_loaded_says_what_would_work(options, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        load_planner(**options)


def test_values_are_shown_in_a_line():
    planner = make_planner()
    result = planner.plan(PROBLEM)
    assert repr(planner) == "Planner('fake')"
    assert repr(PROBLEM) == "Problem(1 agent, 2 waypoints)"
    assert repr(Problem([[0, 0], [1, 1]], [[2, 2], [3, 3]])) == "Problem(2 agents, 0 waypoints)"
    assert repr(result).startswith("PlanResult(complete, 1 route, ")
    assert repr(result.routes[0]).startswith(f"Plan({' → '.join(result.routes[0].order)}, ")
    assert all(len(repr(value)) < 100 for value in (planner, PROBLEM, result, result.routes[0]))


def test_a_planner_that_has_planned_can_be_sent_to_another_process():
    planner = make_planner(BLOCK)
    result = planner.plan(PROBLEM, seed=3)
    sent = pickle.loads(pickle.dumps(planner))
    np.testing.assert_array_equal(sent.plan(PROBLEM, seed=3).routes[0].path, result.routes[0].path)


@pytest.mark.slow
def test_a_planner_with_the_weights_that_ship_can_be_sent_to_another_process():
    planner = load_planner("point-medium")
    problem = Problem([[0, 0]], [[20, 20]])
    result = planner.plan(problem)
    sent = pickle.loads(pickle.dumps(planner))
    assert repr(sent) == "PresetPlanner('pointmaze-medium-stitch-v0')"
    np.testing.assert_array_equal(sent.plan(problem).routes[0].path, result.routes[0].path)


def test_a_result_is_drawn_on_axes_of_ones_own(tmp_path):
    from matplotlib.figure import Figure

    result = make_planner(BLOCK).plan(PROBLEM)
    left, right = Figure().subplots(1, 2)
    assert result.plot(ax=right) is right
    assert right.lines
    assert not left.lines
    drawn = result.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").is_file()
    assert len(drawn.lines) == len(right.lines)
