"""What the service plans, refuses and gives up, asked as programs ask it."""

import asyncio
import json
import socket
import threading

import numpy as np
import pytest
import shapely
from fakes import BLOCK, make_planner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from viewer_service import LONG, PROBLEM, SlowPlanner, running

from chronoforest.envs.bodies import AntKinematics
from chronoforest.errors import Busy, CannotListen, InvalidProblem
from chronoforest.exports.saved import load_result
from chronoforest.planning.planner import MaxExpansions, MaxRounds, MaxSeconds
from chronoforest.service.guard import MAX_BODY
from chronoforest.service.planning import Desk, _limbs
from chronoforest.service.requests import LARGEST_COORDINATE, Budget, PlanRequest
from chronoforest.service.server import STATIC, listen


@pytest.fixture(scope="module")
def service():
    with running() as service:
        yield service


@pytest.fixture
def slow():
    with running(SlowPlanner(make_planner(), 0.4)) as service:
        yield service


def test_a_plan_is_told_round_by_round_with_its_timetable(service):
    lines = service.lines("/plan", {**PROBLEM, "labels": ["depot", "school", ""], "answer": "rounds"})
    assert [line["kind"] for line in lines] == [*["round"] * (len(lines) - 1), "plan"]
    plan = lines[-1]
    assert plan["complete"]
    assert [stop["label"] for stop in plan["timetable"]] == ["depot", "school", "G1"]
    (route,) = plan["routes"]
    assert len(route["path"]) == 2 * len(route["times"])
    assert sum(stop["length"] or 0.0 for stop in plan["timetable"]) == pytest.approx(
        route["length"], rel=0.01
    )


def test_a_plan_is_a_file_of_any_kind_and_the_same_each_time(service, tmp_path):
    status, plan = service.ask("POST", "/plan", {**PROBLEM, "seed": 3})
    assert status == 200
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    result = load_result(tmp_path / "plan.json")
    for answer in ("geojson", "csv"):
        status, text = service.ask("POST", "/plan", {**PROBLEM, "seed": 3, "answer": answer})
        assert (status, len(text) > 100) == (200, True)
        assert service.headers["content-disposition"] == f'attachment; filename="plan.{answer}"'
        if answer == "geojson":
            line = json.loads(text)["features"][0]["geometry"]["coordinates"]
            np.testing.assert_allclose(line, result.routes[0].path, atol=1e-4)
    alone = make_planner().plan(result.problem, seed=3)
    np.testing.assert_allclose(result.routes[0].path, alone.routes[0].path, atol=1e-4)


def test_agents_share_a_depot_and_return_to_it(service):
    asked = {"starts": [[3, 3], [3, 3]], "waypoints": [[3, 17], [17, 3]], "answer": "rounds"}
    plan = service.lines("/plan", asked)[-1]
    assert plan["complete"]
    for route in plan["routes"]:
        np.testing.assert_allclose([route["path"][:2], route["path"][-2:]], [[3, 3], [3, 3]], atol=1e-6)


def test_stops_outside_the_recordings_are_moved_where_that_is_asked_for():
    with running(make_planner(BLOCK)) as service:
        asked = {**PROBLEM, "waypoints": [[10, 9]]}
        assert service.ask("POST", "/plan", asked)[0] == 400
        plan = service.lines("/plan", {**asked, "snap": True, "answer": "rounds"})[-1]
        assert plan["problem"]["waypoints"][0][1] <= 7.0
        assert len(plan["notices"]) == 1


CLOSED = [[[2, 9], [6, 9], [6, 11], [2, 11]], [[9, 9], [11, 10], [9, 11]]]


def test_no_route_enters_an_excluded_area(service):
    asked = {**PROBLEM, "answer": "rounds"}
    areas = shapely.polygons(CLOSED[0]), shapely.polygons(CLOSED[1])
    free, around = (service.lines("/plan", {**asked, **more})[-1] for more in ({}, {"exclude": CLOSED}))
    lines = [shapely.linestrings(np.reshape(plan["routes"][0]["path"], (-1, 2))) for plan in (free, around)]
    assert any(area.intersects(lines[0]) for area in areas)
    assert around["complete"]
    assert not any(area.intersects(lines[1]) for area in areas)
    assert free["length"] < around["length"] < 1.3 * free["length"]


def test_a_budget_ends_planning_with_the_unmet_legs(service):
    asked = {**PROBLEM, "variant": "online", "budget": {"unit": "rounds", "amount": 1}}
    status, plan = service.ask("POST", "/plan", asked)
    assert (status, plan["complete"]) == (200, False)
    assert plan["unmet"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"starts": [[99, 99]]}, "(99, 99)"),
        ({"goals": []}, "0 goals"),
        ({"variant": "magic"}, "'magic'"),
        ({"preset": "elsewhere"}, "'elsewhere'"),
        ({"answer": "gpx"}, "GPX"),
        ({"answer": "doc"}, "doc"),
        ({"depart": "tomorrow"}, "'tomorrow'"),
        ({"waypoints": [[k / 10, 1.0] for k in range(63)]}, "65"),
        ({"exclude": [[[2, 2], [4, 2], [3, 4]]]}, "S1 lies in a closed area"),
        ({"exclude": CLOSED, "variant": "online"}, "roadmap-only"),
        ({"exclude": [[[2, 2], [4, 2]]]}, "exclude.0"),
        ({"starts": [[0, "a"]]}, "starts.0.1"),
        ({"starts": [[0, True]]}, "starts.0.1"),
        ({"seed": 1.5}, "seed"),
        ({"colour": 1}, "colour"),
        ({"budget": {"unit": "hours", "amount": 1}}, "budget.unit"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_the_value_it_is_about(service, change, named):
    status, answer = service.ask("POST", "/plan", {**PROBLEM, **change})
    assert status == 400
    assert named in answer["error"]
    assert answer["message"] == answer["error"]


def test_walking_without_an_environment_is_refused(service):
    (line,) = service.lines("/walk", PROBLEM)
    assert line["kind"] == "failed"


def test_an_ant_has_a_torso_and_legs_around_it():
    pytest.importorskip("ogbench")
    upright, ankles = [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]
    limbs = _limbs(AntKinematics(), np.array([[x, 7.0, 0.6, *upright, *ankles] for x in (5.0, 6.0)]))
    assert limbs["ends"][0] == limbs["ends"][1]
    ends = np.array(limbs["ends"][0]).reshape(-1, 2, 2)
    assert len(ends) == len(limbs["radii"])
    np.testing.assert_allclose(ends[np.argmax(limbs["radii"])], 0.0, atol=1e-6)
    feet = ends[np.linalg.norm(ends, axis=2).max(axis=1) > 0.6]
    assert len({(bool(x > 0), bool(y > 0)) for x, y in feet[:, 1]}) == 4


@pytest.mark.parametrize("answer", ["rounds", "json"])
def test_planning_ends_when_the_one_who_asked_is_gone(slow, answer):
    connection = socket.create_connection(("127.0.0.1", slow.port), timeout=60)
    body = json.dumps({**LONG, "answer": answer}).encode()
    head = f"POST /plan HTTP/1.1\r\nHost: 127.0.0.1:{slow.port}\r\nContent-Type: application/json\r\n"
    connection.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert slow.settle(lambda: len(slow.desk) == 1)
    (job,) = slow.desk._jobs
    connection.close()
    assert slow.settle(job._is_cancelled.is_set)
    assert slow.settle(lambda: len(slow.desk) == 0)


def test_a_desk_takes_some_jobs_and_gives_up_those_that_are_cancelled(caplog):
    gate, ran = threading.Event(), []

    def stumble(job):
        raise KeyError("lost")

    async def play():
        desk = Desk(most_jobs=3)
        first = desk.submit(lambda job: (job.tell({"kind": "one"}), gate.wait(60), job.tell({"kind": "two"})))
        waiting = desk.submit(lambda job: ran.append(1))
        broken = desk.submit(stumble)
        with pytest.raises(Busy):
            desk.submit(lambda job: None)
        waiting.cancel()
        gate.set()
        assert [line["kind"] async for line in first] == ["one", "two"]
        with pytest.raises(Exception, match="KeyError"):
            [line async for line in broken]
        left = desk.submit(lambda job: job.tell({"kind": "unread"}))
        desk.close()
        assert [line async for line in left] in ([], [{"kind": "unread"}])

    asyncio.run(play())
    assert ran == []
    assert "a job failed" in caplog.text


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
NOT_TEXT = JSON.filter(lambda value: not isinstance(value, str))
BROKEN_FIELDS = st.one_of(
    st.tuples(st.sampled_from(["starts", "waypoints"]), NOT_POINTS),
    st.tuples(st.just("goals"), NOT_POINTS.filter(lambda value: value is not None)),
    st.tuples(st.just("seed"), JSON.filter(lambda value: type(value) is not int) | st.integers(max_value=-1)),
    st.tuples(st.just("variant"), NOT_TEXT | ODD_TEXT),
    st.tuples(st.just("answer"), NOT_TEXT | ODD_TEXT),
    st.tuples(st.just("preset"), (NOT_TEXT | ODD_TEXT).filter(lambda value: value is not None)),
    st.tuples(st.just("budget"), JSON.filter(lambda value: value is not None)),
    st.tuples(ODD_TEXT.filter(lambda key: key not in PlanRequest.model_fields), JSON),
)
MALFORMED = st.one_of(
    BROKEN_FIELDS.map(lambda field: json.dumps({**PROBLEM, field[0]: field[1]}).encode()),
    JSON.map(lambda value: json.dumps(value).encode()),
    JSON.map(lambda value: json.dumps({"vehicles": value, "jobs": []}).encode()),
    st.binary(max_size=500),
    st.integers(0, len(json.dumps(PROBLEM)) - 1).map(lambda length: json.dumps(PROBLEM)[:length].encode()),
    st.integers(1, 30_000).map(lambda depth: b'{"starts":' + b"[" * depth),
)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(body=MALFORMED)
def test_every_malformed_problem_is_one_readable_sentence_and_the_service_lives(service, body):
    status, answer = service.ask("POST", "/plan", body)
    assert 400 <= status < 500
    assert 10 < len(answer["error"]) < 600
    assert answer["error"].isprintable()
    assert service.ask("GET", "/worlds")[0] == 200


COORDINATES = st.floats() | st.integers() | st.sampled_from([0, -0.0, 1e6, 5e-324, 1e300, 10**400, True])
PLACES = st.lists(st.tuples(COORDINATES, COORDINATES), max_size=3)
AMOUNTS = st.fixed_dictionaries(
    {"unit": st.sampled_from(["rounds", "expansions", "seconds"]), "amount": st.integers() | st.floats()}
)
WELL_FORMED = st.fixed_dictionaries(
    {"starts": PLACES, "goals": PLACES},
    optional={"waypoints": PLACES, "seed": st.integers() | st.floats(), "budget": AMOUNTS},
)


@settings(max_examples=200, deadline=None)
@given(values=WELL_FORMED)
def test_every_number_that_is_accepted_is_finite_and_of_its_type(values):
    try:
        request = PlanRequest.model_validate_json(json.dumps(values))
        problem = request.problem()
    except (ValidationError, InvalidProblem):
        return
    assert np.abs(problem.anchors).max() <= LARGEST_COORDINATE
    assert type(request.seed) is int
    assert request.budget is None or 1 <= request.budget.amount <= 100_000


@pytest.mark.parametrize(
    ("unit", "stop"), [("rounds", MaxRounds), ("expansions", MaxExpansions), ("seconds", MaxSeconds)]
)
def test_a_budget_is_the_planners_stop_criterion(unit, stop):
    assert Budget(unit=unit, amount=3).stop() == stop(3)


def test_agents_are_counted():
    places = [(float(k), 0.0) for k in range(17)]
    with pytest.raises(InvalidProblem, match="17"):
        PlanRequest(starts=places, goals=[(x, 9.0) for x, _ in places]).problem()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
def test_foreign_hosts_and_origins_are_refused(service, headers):
    for method, path in (("GET", "/"), ("GET", "/world"), ("POST", "/plan")):
        assert service.ask(method, path, PROBLEM if method == "POST" else None, headers)[0] == 403


def test_the_page_itself_is_no_foreign_origin(service):
    for name in ("127.0.0.1", "localhost"):
        own = {"Host": f"{name}:{service.port}", "Origin": f"http://{name}:{service.port}"}
        assert service.ask("GET", "/world", headers=own)[0] == 200


def test_a_form_is_refused(service):
    assert service.ask("POST", "/plan", b"a=1", {"Content-Type": "text/plain"})[0] == 415


@pytest.mark.parametrize("is_announced", [True, False])
def test_an_oversized_problem_is_refused_whether_it_says_so_or_not(service, is_announced):
    size = MAX_BODY + 1
    more = f"Content-Length: {size}" if is_announced else f"Transfer-Encoding: chunked\r\n\r\n{size:x}"
    head = f"POST /plan HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall((head + more + "\r\n" + "\r\n" * is_announced).encode())
        if not is_announced:
            connection.sendall(b" " * size + b"\r\n")
        assert connection.recv(200).startswith(b"HTTP/1.1 413")


def test_the_page_and_its_parts_are_served_with_safe_headers_and_need_nothing_from_elsewhere(service):
    for path in ("/", "/docs", *(f"/static/{file.name}" for file in STATIC.iterdir())):
        status, text = service.ask("GET", path)
        assert status == 200
        assert service.headers["content-security-policy"].startswith("default-src 'none'")
        assert service.headers["x-content-type-options"] == "nosniff"
        assert "https://" not in text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_unknown_pages_are_refused(service):
    for path in ("/nothing", "/static/../server.py", "/static/%2e%2e/server.py"):
        status, answer = service.ask("GET", path)
        assert 400 <= status < 500
        assert answer["error"]


def test_the_description_lists_the_interface(service):
    _, description = service.ask("GET", "/openapi.json")
    assert {"/plan", "/walk", "/world", "/worlds"} <= set(description["paths"])
    assert {"PlanRequest", "Fleet"} <= set(description["components"]["schemas"])


def test_only_a_free_port_of_this_machine_is_listened_to():
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(CannotListen, match=str(port)):
            listen(port)
    with pytest.raises(CannotListen):
        listen(99999)
