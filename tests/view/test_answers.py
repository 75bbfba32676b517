import json

import pytest
from fakes import BLOCK, make_planner
from viewer_service import PROBLEM, SlowPlanner, running

from chronoforest.planning.result import load_result


@pytest.fixture(scope="module")
def service():
    with running({"default": make_planner(BLOCK), "fast": SlowPlanner(make_planner(BLOCK), 0.5)}) as service:
        yield service


@pytest.fixture(scope="module")
def job(service):
    _, accepted = service.ask("POST", "/api/plan", PROBLEM)
    service.events(accepted["events"])
    return accepted["id"]


def test_a_finished_plan_is_a_file_of_any_kind(service, job, tmp_path):
    status, plan = service.ask("GET", f"/api/plans/{job}/plan.json")
    assert status == 200
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    result = load_result(tmp_path / "plan.json")
    status, text = service.ask("GET", f"/api/plans/{job}/plan.geojson")
    assert (status, text) == (200, result.to_geojson())
    assert service.headers["content-disposition"] == 'attachment; filename="plan.geojson"'
    status, text = service.ask("GET", f"/api/plans/{job}/plan.csv")
    assert (status, text) == (200, result.to_csv())


def test_a_file_that_cannot_be_is_refused_in_a_sentence(service, job):
    status, answer = service.ask("GET", f"/api/plans/{job}/plan.gpx")
    assert (status, "GPX needs longitude and latitude" in answer["error"]) == (400, True)
    assert service.ask("GET", f"/api/plans/{job}/plan.doc")[0] == 422
    assert service.ask("GET", "/api/plans/nothing/plan.csv")[0] == 404


def test_a_plan_that_is_not_finished_has_no_files(service):
    _, accepted = service.ask("POST", "/api/plan", {**PROBLEM, "mode": "fast", "session": "other"})
    status, answer = service.ask("GET", f"/api/plans/{accepted['id']}/plan.csv")
    assert (status, "is not a finished plan" in answer["error"]) == (400, True)
    service.ask("DELETE", f"/api/plans/{accepted['id']}")


def test_anchors_outside_the_recordings_are_moved_and_the_others_stay(service):
    status, moved = service.ask("POST", "/api/snap", {**PROBLEM, "waypoints": [[10, 9], [3, 17]]})
    assert status == 200
    assert moved["starts"] == PROBLEM["starts"]
    assert moved["goals"] == PROBLEM["goals"]
    assert moved["waypoints"][0][1] <= 7.0
    assert moved["waypoints"][1] == [3, 17]
    (notice,) = moved["notices"]
    assert notice.startswith("W1 moved from (10, 9) to ")


def test_without_an_overlay_there_are_no_lines(service):
    assert service.ask("GET", "/api/overlay") == (200, {"lines": [], "points": []})
