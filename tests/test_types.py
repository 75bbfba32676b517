import json
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.typed import from_plain
from chronoforest.types import Calibration, JointRoute, Pair, Problem, SharedNoise, path_length

quick = settings(deadline=None, derandomize=True, max_examples=50)
sizes = st.tuples(st.integers(1, 4), st.integers(0, 5))


def make_problem(num_agents, num_waypoints):
    points = np.arange(2.0 * (2 * num_agents + num_waypoints)).reshape(-1, 2)
    parts = np.split(points, [num_agents, num_agents + num_waypoints])
    return Problem(starts=parts[0], waypoints=parts[1], goals=parts[2])


@quick
@given(sizes)
def test_names_indices_and_anchors_agree(size):
    problem = make_problem(*size)
    assert len(problem.names) == len(problem.anchors) == problem.num_anchors
    for agent in range(problem.num_agents):
        start, goal = problem.start_index(agent), problem.goal_index(agent)
        assert (problem.names[start], problem.names[goal]) == (f"S{agent + 1}", f"G{agent + 1}")
        np.testing.assert_array_equal(problem.anchors[start], problem.starts[agent])
        np.testing.assert_array_equal(problem.anchors[goal], problem.goals[agent])
    for number, row in enumerate(problem.waypoint_indices, start=1):
        assert problem.names[row] == f"W{number}"
        assert not problem.is_start(row)
        assert not problem.is_goal(row)


@quick
@given(sizes)
def test_a_link_exists_exactly_where_some_route_has_that_leg(size):
    problem = make_problem(*size)
    for source in range(problem.num_anchors):
        for target in range(problem.num_anchors):
            a, b = problem.names[source], problem.names[target]
            kinds = a[0] + b[0]
            possible = (
                kinds in ("SW", "WG") or (kinds == "WW" and a != b) or (kinds == "SG" and a[1:] == b[1:])
            )
            assert problem.can_link(source, target) == possible


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"starts": [[0.0, float("nan")]]}, r"starts\[0\] is \(0, nan\); coordinates must be finite"),
        ({"waypoints": [[1.0, 1.0], [float("inf"), 0.0]]}, r"waypoints\[1\] is \(inf, 0\)"),
        ({"goals": [[1.0, 2.0, 3.0]]}, r"goals must .* \[1, 3\]"),
        ({"goals": [5.0, 6.0, 7.0]}, r"goals must .* \[3\]"),
        ({"starts": [["a", "b"]]}, r"starts must be a list of \[x, y\] points"),
        ({"starts": [[0.0, 0.0], [1.0]]}, r"starts must be a list of \[x, y\] points"),
        ({"starts": None}, "starts"),
        ({"starts": pd.DataFrame({"a": [1.0], "b": [2.0]})}, "a, b"),
        ({"labels": ["van"]}, "2 stops and 1 labels"),
        ({"starts": [[0.0, 0.0], [1.0, 0.0]]}, "got 2 starts and 1 goals"),
        ({"starts": [], "goals": []}, "got 0 starts and 0 goals"),
    ],
)
def test_a_problem_that_cannot_be_planned_says_what_is_wrong(changes, sentence):
    sound = {"starts": [[0.0, 0.0]], "goals": [[9.0, 9.0]], "waypoints": []}
    Problem(**sound)
    with pytest.raises(InvalidProblem, match=sentence):
        Problem(**(sound | changes))


@pytest.mark.parametrize(
    "stops",
    [
        {"Depot": [1.0, 2.0]},
        pd.DataFrame({"name": ["Depot"], "lon": [1.0], "lat": [2.0]}),
        pd.DataFrame({"Y": [2.0], "X": [1.0]}, index=["Depot"]),
    ],
)
def test_stops_keep_the_names_that_users_give_them(stops):
    problem = Problem(starts=stops, waypoints=[5.0, 6.0])
    assert problem.labels == ("Depot", "W1", "Depot")
    assert problem.names == ("S1", "W1", "G1")
    assert problem.anchors.tolist() == [[1.0, 2.0], [5.0, 6.0], [1.0, 2.0]]
    moved = problem.moved(lambda points: points + 1.0)
    assert moved.labels == problem.labels
    assert moved.goals.tolist() == [[2.0, 3.0]]


def test_a_problem_keeps_its_own_unchangeable_copy():
    starts = np.zeros((1, 2))
    problem = Problem(starts=starts, goals=[[1.0, 1.0]])
    starts[0] = 7.0
    assert problem.starts.tolist() == [[0.0, 0.0]]
    with pytest.raises(ValueError, match="read-only"):
        problem.goals[0] = 0.0


def test_points_may_be_integers_tuples_or_arrays():
    problems = [Problem(starts=s, goals=[(4, 4)]) for s in ([[1, 2]], [(1, 2)], np.array([[1, 2]]))]
    assert all(problem.anchors.tolist() == [[1.0, 2.0], [4.0, 4.0]] for problem in problems)


def test_a_routes_legs_cost_what_the_matrix_says_and_carry_names():
    problem = make_problem(2, 1)
    route = JointRoute(((0, 2, 3), (1, 4)))
    matrix = np.arange(25.0).reshape(5, 5)
    assert route.legs == (Pair(0, 2), Pair(2, 3), Pair(1, 4))
    assert route.cost(matrix) == matrix[0, 2] + matrix[2, 3] + matrix[1, 4]
    assert route.named(problem) == [["S1", "W1", "G1"], ["S2", "G2"]]


def test_reversing_a_pair_twice_is_the_pair():
    assert Pair(1, 2).reversed == Pair(2, 1)
    assert Pair(1, 2).reversed.reversed == Pair(1, 2)


def test_path_length_is_the_polylines():
    assert path_length(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])) == 6.0
    assert path_length(np.zeros((1, 2))) == 0.0


CALIBRATION = Calibration(0.01, 1.1, (0.9, 1.2), (0.8, 1.5), 50.0, ((5.0, 1.0), (10.0, 2.5)))


def test_a_calibration_survives_json():
    assert from_plain(Calibration, json.loads(json.dumps(asdict(CALIBRATION)))) == CALIBRATION


@quick
@given(st.floats(0, 500), st.floats(0, 500))
def test_inflation_is_monotone_and_never_below_the_gap(low, high):
    low, high = sorted((low, high))
    assert low <= CALIBRATION.inflate(low) <= CALIBRATION.inflate(high)


def test_the_local_error_is_that_of_the_next_larger_gap_and_infinite_beyond_the_table():
    errors = [CALIBRATION.error_within(gap) for gap in (0.0, 5.0, 5.1, 10.0, 10.1)]
    assert errors == [1.0, 1.0, 2.5, 2.5, float("inf")]


@pytest.mark.parametrize(
    "broken",
    [
        {"alpha": -0.1},
        {"alpha": float("nan")},
        {"local_scale": 0.0},
        {"local_window": 0.0},
        {"local_ratios": (1.2, 0.9)},
        {"all_ratios": (-0.1, 1.0)},
        {"local_error": ((5.0, 2.0), (10.0, 1.0))},
    ],
)
def test_an_impossible_calibration_is_refused(broken):
    with pytest.raises(InvalidParameter, match="got"):
        replace(CALIBRATION, **broken)


def test_no_waypoints_may_be_said_in_three_ways():
    for waypoints in ((), [], None):
        assert Problem([[0.0, 0.0]], [[9.0, 9.0]], waypoints).num_waypoints == 0


def test_shared_noise_is_what_each_generator_draws_alone():
    shared = SharedNoise([(np.random.default_rng(1), 2), (np.random.default_rng(2), 3)])
    normal, flat, wide = (
        shared.standard_normal((5, 4)),
        shared.uniform(0.0, 9.0, 5),
        shared.uniform(0.0, 9.0, (5, 2)),
    )
    for seed, rows in ((1, slice(0, 2)), (2, slice(2, 5))):
        rng = np.random.default_rng(seed)
        np.testing.assert_array_equal(normal[rows], rng.standard_normal((rows.stop - rows.start, 4)))
        np.testing.assert_array_equal(flat[rows], rng.uniform(0.0, 9.0, rows.stop - rows.start))
        np.testing.assert_array_equal(wide[rows], rng.uniform(0.0, 9.0, (rows.stop - rows.start, 2)))
