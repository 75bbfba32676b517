import json
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from viewer_service import PROBLEM, running

from chronoforest.errors import InvalidProblem
from chronoforest.planning.planner import MaxExpansions, MaxRounds, MaxSeconds
from chronoforest.view.requests import LARGEST_COORDINATE, Budget, PlanRequest

ODD_TEXT = st.text(max_size=300) | st.sampled_from(["", "\x00", "\ud800", "√", "x" * 5000, "../..", "\n\n"])
NUMBERS = st.floats() | st.integers() | st.sampled_from([1e300, -1e7, 10**400, float("nan"), float("-inf")])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | ODD_TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(ODD_TEXT, inner, max_size=5),
    max_leaves=12,
)
NOT_POINTS = (
    JSON.filter(lambda value: not isinstance(value, list))
    | st.lists(st.lists(st.integers(0, 19), max_size=5).filter(lambda p: len(p) != 2), min_size=1, max_size=4)
    | st.lists(
        st.tuples(st.floats(0, 19), st.sampled_from(["1", None, True, [], {}, float("nan")])), min_size=1
    )
    | st.lists(st.tuples(st.floats(1e3, 1e5), st.floats(0, 19)), min_size=1, max_size=3)
    | st.lists(st.tuples(st.integers(1, 19), st.integers(1, 19)), min_size=65, max_size=90)
)
NOT_AN_INTEGER = (
    JSON.filter(lambda value: type(value) is not int) | st.integers(max_value=-1) | st.integers(2**31)
)
NOT_TEXT = JSON.filter(lambda value: not isinstance(value, str))
BROKEN_FIELDS = st.one_of(
    st.tuples(st.sampled_from(["starts", "goals", "waypoints"]), NOT_POINTS),
    st.tuples(st.just("seed"), NOT_AN_INTEGER),
    st.tuples(st.just("variant"), NOT_TEXT | ODD_TEXT),
    st.tuples(st.just("mode"), NOT_TEXT | ODD_TEXT),
    st.tuples(st.just("session"), NOT_TEXT | st.text(alphabet=" /\n√", min_size=1)),
    st.tuples(st.just("preset"), (NOT_TEXT | ODD_TEXT).filter(lambda value: value is not None)),
    st.tuples(st.just("budget"), JSON.filter(lambda value: value is not None)),
    st.tuples(ODD_TEXT.filter(lambda key: key not in PlanRequest.model_fields), JSON),
)
BROKEN_PROBLEMS = BROKEN_FIELDS.map(lambda field: {**PROBLEM, field[0]: field[1]})
MISSING_FIELDS = st.sampled_from(["starts", "goals"]).map(
    lambda name: {k: v for k, v in PROBLEM.items() if k != name}
)
TORN = st.integers(0, len(json.dumps(PROBLEM)) - 1).map(lambda length: json.dumps(PROBLEM)[:length].encode())
NESTED = st.integers(1, 30_000).map(lambda depth: b'{"starts":' + b"[" * depth)
MALFORMED = st.one_of(
    BROKEN_PROBLEMS.map(lambda value: json.dumps(value).encode()),
    MISSING_FIELDS.map(lambda value: json.dumps(value).encode()),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=500),
    TORN,
    NESTED,
)


@pytest.fixture(scope="module")
def service():
    with running() as service:
        yield service


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(body=MALFORMED)
def test_every_malformed_problem_is_one_readable_sentence_and_the_service_lives(service, body):
    status, answer = service.ask("POST", "/api/plan", body)
    assert 400 <= status < 500
    assert list(answer) == ["error"]
    assert 10 < len(answer["error"]) < 600
    assert answer["error"].isprintable()
    assert "Traceback" not in answer["error"]
    assert service.ask("GET", "/api/world")[0] == 200


COORDINATES = st.floats() | st.integers() | st.sampled_from([0, -0.0, 1e6, 5e-324, 1e300, 10**400, True])
PLACES = st.lists(st.tuples(COORDINATES, COORDINATES), max_size=3)
WELL_FORMED = st.fixed_dictionaries(
    {"starts": PLACES, "goals": PLACES},
    optional={
        "waypoints": PLACES,
        "seed": st.integers() | st.floats(),
        "budget": st.fixed_dictionaries(
            {
                "unit": st.sampled_from(["rounds", "expansions", "seconds"]),
                "amount": st.integers() | st.floats(),
            }
        ),
    },
)


@settings(max_examples=200, deadline=None)
@given(values=WELL_FORMED)
def test_every_number_that_is_accepted_is_finite_and_of_its_type(values):
    try:
        request = PlanRequest.model_validate_json(json.dumps(values))
        problem = request.problem()
    except (ValidationError, InvalidProblem):
        return
    assert np.isfinite(problem.anchors).all()
    assert np.abs(problem.anchors).max() <= LARGEST_COORDINATE
    assert type(request.seed) is int
    assert request.budget is None or 1 <= request.budget.amount <= 100_000


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1e400", "1e7", "true", '"3"', "null", "9" * 5000])
def test_a_coordinate_that_is_no_finite_number_of_the_world_is_refused(service, number):
    body = f'{{"starts": [[3, {number}]], "goals": [[17, 17]]}}'
    status, answer = service.ask("POST", "/api/plan", body.encode())
    assert status in (400, 422)
    assert answer["error"].count("\n") == 0


@settings(max_examples=200, deadline=None)
@given(
    job=st.text(alphabet=st.characters(codec="latin-1", exclude_characters="/?#\r\n"), min_size=1),
    seen=st.text(alphabet=st.characters(codec="latin-1", categories=["L", "N", "P"])),
)
def test_an_unknown_plan_is_one_sentence_however_it_is_asked_for(service, job, seen):
    path = f"/api/plans/{quote(job)}/events"
    status, answer = service.ask("GET", path, headers={"Last-Event-ID": seen.encode("latin-1")})
    assert status == 404
    assert answer["error"].isprintable()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"starts": [[0, "a"]]}, "starts[0][1]: input should be a valid number, got a"),
        ({"starts": [[0, True]]}, "starts[0][1]: input should be a valid number, got True"),
        ({"seed": 1.5}, "seed: input should be a valid integer, got 1.5"),
        ({"colour": 1}, "colour: extra inputs are not permitted"),
        (
            {"budget": {"unit": "hours", "amount": 1}},
            "budget.unit: input should be 'rounds', 'expansions' or",
        ),
    ],
)
def test_the_sentence_names_the_place_and_the_value(service, change, expected):
    status, answer = service.ask("POST", "/api/plan", {**PROBLEM, **change})
    assert status == 422
    assert answer["error"].startswith(expected)


def test_a_budget_is_the_planners_stop_criterion():
    assert Budget(unit="rounds", amount=3).stop() == MaxRounds(3)
    assert Budget(unit="expansions", amount=3).stop() == MaxExpansions(3)
    assert Budget(unit="seconds", amount=3).stop() == MaxSeconds(3)


def test_agents_are_counted():
    places = [(float(k), 0.0) for k in range(17)]
    with pytest.raises(InvalidProblem, match="at most 16 agents can be planned for, got 17"):
        PlanRequest(starts=places, goals=[(x, 9.0) for x, _ in places]).problem()
