"""Many problems in one request to a viewer that really listens."""

import json

import pytest
from fakes import SIDE, make_planner
from viewer_service import PROBLEM, running

from chronoforest.planning.result import load_result
from chronoforest.view.many import MAX_PROBLEMS

ANCHORS = {name: PROBLEM[name] for name in ("starts", "goals", "waypoints")}
OUTSIDE = {"starts": [[3, 3]], "goals": [[SIDE + 50, 3]]}
SHORT = {"starts": [[3, 3]], "goals": [[4, 3]], "seed": 5}


@pytest.fixture(scope="module")
def service():
    with running() as service:
        yield service


def test_a_list_of_problems_is_planned_and_told_as_they_finish(service, tmp_path):
    status, accepted = service.ask("POST", "/api/plans", {"problems": [ANCHORS, OUTSIDE, SHORT], "seed": 2})
    assert status == 202
    events = service.events(accepted["events"])
    assert events[-1][1] == "done"
    plans = {data["number"]: data["plan"] for _, kind, data in events if kind == "plan"}
    refused = {data["number"]: data["error"] for _, kind, data in events if kind == "refused"}
    assert (set(plans), set(refused)) == ({0, 2}, {1})
    assert "G1 at (70, 3) lies outside the data's support" in refused[1]
    (tmp_path / "plan.json").write_text(json.dumps(plans[0]))
    result, alone = load_result(tmp_path / "plan.json"), make_planner().plan
    assert (result.seed, plans[2]["seed"]) == (2, 5)
    assert result.length == pytest.approx(alone(result.problem, seed=2).length, abs=0.01)


def test_a_budget_counts_for_each_problem(service):
    body = {"problems": [ANCHORS, SHORT], "budget": {"unit": "rounds", "amount": 1}}
    _, accepted = service.ask("POST", "/api/plans", body)
    plans = [data["plan"] for _, kind, data in service.events(accepted["events"]) if kind == "plan"]
    assert [len(plan["rounds"]) for plan in plans] == [1, 1]


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"problems": []}, 422, "problems: "),
        ({"problems": [SHORT] * (MAX_PROBLEMS + 1)}, 422, "problems: "),
        ({"problems": [SHORT, {"starts": [[0, 0]]}]}, 422, "problems[1].goals: "),
        ({"problems": [SHORT, {**SHORT, "goals": [[3, 3]]}]}, 400, "problems[1]: S1 and G1 are both at"),
        ({"problems": [SHORT], "variant": "fancy"}, 400, "unknown variant 'fancy'"),
        ({"problems": [SHORT], "preset": "moon"}, 400, "not 'moon'"),
        ({"problems": [{**SHORT, "seed": -1}]}, 422, "problems[0].seed: "),
        ([SHORT], 422, "the request: "),
    ],
)
def test_what_is_malformed_is_refused_as_a_whole(service, body, status, sentence):
    answered, answer = service.ask("POST", "/api/plans", body)
    assert answered == status
    assert sentence in answer["error"]
