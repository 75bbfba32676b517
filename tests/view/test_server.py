import json
import socket

import pytest
from fakes import make_planner
from viewer_service import LONG, PROBLEM, SlowPlanner, running

from chronoforest.errors import CannotListen
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.result import load_result
from chronoforest.view.guard import MAX_BODY
from chronoforest.view.jobs import JobLimits
from chronoforest.view.server import STATIC, listen

SLOW = 0.4


@pytest.fixture(scope="module")
def service():
    with running() as service:
        yield service


@pytest.fixture
def slow():
    limits = JobLimits(num_waiting=1, patience=1.5, grace=0.2, keep_seconds=1.0, num_finished=2)
    planner = SlowPlanner(make_planner(), SLOW)
    with running({"default": planner}, limits) as service:
        assert service.settle(lambda: all(job.is_over for job in list(service.jobs._jobs.values())))
        yield service


def test_a_plan_is_told_round_by_round_and_ends_with_a_plan_that_loads(service, tmp_path):
    status, accepted = service.ask("POST", "/api/plan", PROBLEM)
    assert status == 202
    events = service.events(accepted["events"])
    kinds = [kind for _, kind, _ in events]
    assert [number for number, _, _ in events] == list(range(len(events)))
    assert kinds == ["start", *["round"] * (len(events) - 3), "plan", "done"]
    (plan,) = (data for _, kind, data in events if kind == "plan")
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    result = load_result(tmp_path / "plan.json")
    assert result.complete
    assert result.num_rounds == kinds.count("round")


def test_trees_begin_with_a_guess(service):
    _, accepted = service.ask("POST", "/api/plan", {**PROBLEM, "variant": "online"})
    kinds = [kind for _, kind, _ in service.events(accepted["events"])]
    assert kinds == ["start", *["round"] * (len(kinds) - 3), "plan", "done"]


def test_a_reader_continues_where_it_left_off(service):
    _, accepted = service.ask("POST", "/api/plan", PROBLEM)
    whole = service.events(accepted["events"])
    assert service.events(accepted["events"], {"Last-Event-ID": "0"}) == whole[1:]


def test_the_same_request_gives_the_same_plan(service):
    def path():
        _, accepted = service.ask("POST", "/api/plan", {**PROBLEM, "seed": 3})
        (plan,) = (data for _, kind, data in service.events(accepted["events"]) if kind == "plan")
        return plan["routes"][0]["path"]

    assert path() == path()


def test_a_budget_ends_planning_with_the_unmet_legs(service):
    one_round = {"budget": {"unit": "rounds", "amount": 1}, "variant": "online"}
    _, accepted = service.ask("POST", "/api/plan", PROBLEM | one_round)
    events = service.events(accepted["events"])
    (plan,) = (data for _, kind, data in events if kind == "plan")
    assert [kind for _, kind, _ in events].count("round") == 1
    assert not plan["complete"]
    assert plan["unmet"]


def test_a_budget_of_one_round_gives_a_complete_plan_that_is_proposed(service):
    _, accepted = service.ask("POST", "/api/plan", PROBLEM | {"budget": {"unit": "rounds", "amount": 1}})
    (plan,) = (data for _, kind, data in service.events(accepted["events"]) if kind == "plan")
    assert plan["complete"]
    assert {leg["evidence"] for route in plan["routes"] for leg in route["legs"]} == {"proposed"}


def test_the_world_is_described_without_a_map(service):
    status, world = service.ask("GET", "/api/world")
    assert status == 200
    assert world["preset"] == "fake"
    assert world["default_variant"] == DEFAULT_VARIANT
    assert world["default_variant"] in {variant["name"] for variant in world["variants"]}
    assert world["walls"]["centres"] == []
    assert "no environment" in world["why_no_walk"]


def test_walking_without_an_environment_is_refused_with_the_reason(service):
    _, accepted = service.ask("POST", "/api/plan", PROBLEM)
    service.events(accepted["events"])
    status, answer = service.ask("POST", f"/api/plans/{accepted['id']}/walk")
    assert status == 400
    assert "no environment is known" in answer["error"]


def test_the_page_and_its_parts_are_served_with_safe_headers(service):
    for path in ("/", *(f"/static/{file.name}" for file in STATIC.iterdir())):
        status, _ = service.ask("GET", path)
        assert status == 200
        assert service.headers["content-security-policy"].startswith("default-src 'none'")
        assert service.headers["x-content-type-options"] == "nosniff"


def test_the_page_needs_nothing_from_elsewhere():
    for file in STATIC.iterdir():
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text.replace("`http", "")
        assert "https://" not in text


def test_the_description_lists_the_interface(service):
    _, description = service.ask("GET", "/openapi.json")
    assert {"/api/plan", "/api/plans/{job_id}/events"} <= set(description["paths"])
    assert "422" in description["paths"]["/api/plan"]["post"]["responses"]


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
    for method, path in (("GET", "/"), ("GET", "/api/world"), ("POST", "/api/plan")):
        status, answer = service.ask(method, path, PROBLEM if method == "POST" else None, headers)
        assert status == 403
        assert "not" in answer["error"]


def test_the_page_itself_is_no_foreign_origin(service):
    for name in ("127.0.0.1", "localhost"):
        own = {"Host": f"{name}:{service.port}", "Origin": f"http://{name}:{service.port}"}
        assert service.ask("GET", "/api/world", headers=own)[0] == 200


def test_a_form_is_refused(service):
    status, answer = service.ask("POST", "/api/plan", b"a=1", {"Content-Type": "text/plain"})
    assert status == 415
    assert "application/json" in answer["error"]


def test_an_oversized_problem_is_refused_whether_it_says_so_or_not(service):
    body = b"[" + b" " * MAX_BODY + b"]"
    status, answer = service.ask("POST", "/api/plan", body)
    assert (status, str(MAX_BODY) in answer["error"]) == (413, True)
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        head = (
            f"POST /api/plan HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\nContent-Type: application/json\r\n"
        )
        connection.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b"%x\r\n%s\r\n" % (len(body), body))
        assert connection.recv(200).startswith(b"HTTP/1.1 413")


def test_too_many_anchors_are_refused(service):
    many = [[k / 10, 1.0] for k in range(65)]
    status, answer = service.ask("POST", "/api/plan", {**PROBLEM, "waypoints": many})
    assert status == 422
    assert "waypoints" in answer["error"]
    status, answer = service.ask("POST", "/api/plan", {**PROBLEM, "waypoints": many[:63]})
    assert (status, answer["error"]) == (400, "at most 64 anchors can be planned for, got 65")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"starts": [[99, 99]]}, "outside the data's support"),
        ({"goals": [[3, 3]]}, "every anchor needs a place of its own"),
        ({"goals": []}, "one start and one goal"),
        ({"variant": "magic"}, "unknown variant 'magic'"),
        ({"variant": "graph-fixed"}, "needs `order`"),
        ({"mode": "fast"}, "mode must be one of default"),
        ({"preset": "elsewhere"}, "serves fake, not 'elsewhere'"),
    ],
)
def test_what_the_planner_would_refuse_is_refused_at_once(service, change, words):
    status, answer = service.ask("POST", "/api/plan", {**PROBLEM, **change})
    assert status == 400
    assert words in answer["error"]


def test_unknown_plans_and_pages_are_sentences(service):
    for method, path in (
        ("GET", "/api/plans/no/events"),
        ("DELETE", "/api/plans/no"),
        ("POST", "/api/plans/no/walk"),
    ):
        status, answer = service.ask(method, path)
        assert status in (400, 404)
        assert answer["error"]
    status, answer = service.ask("GET", "/nothing")
    assert (status, answer["error"]) == (404, "GET /nothing: Not Found")
    assert service.ask("GET", "/static/../server.py")[0] == 404
    assert service.ask("GET", "/static/%2e%2e/server.py")[0] == 404


def test_a_session_plans_once_at_a_time_and_the_queue_is_bounded(slow):
    def submit(session):
        return slow.ask("POST", "/api/plan", {**LONG, "session": session})

    assert submit("a")[0] == 202
    status, answer = submit("a")
    assert (status, "this session plans already" in answer["error"]) == (409, True)
    assert submit("b")[0] == 202
    status, answer = submit("c")
    assert (status, "waiting already" in answer["error"]) == (409, True)


def test_a_cancelled_plan_is_over_at_once_and_the_next_may_start(slow):
    _, accepted = slow.ask("POST", "/api/plan", LONG)
    job = slow.jobs.get(accepted["id"])
    assert slow.ask("DELETE", f"/api/plans/{accepted['id']}")[0] == 204
    assert job.state == "cancelled"
    assert [kind for _, kind, _ in slow.events(accepted["events"])][-1] == "cancelled"
    assert slow.ask("POST", "/api/plan", LONG)[0] == 202


def test_a_plan_whose_reader_leaves_is_cancelled_and_freed(slow):
    _, accepted = slow.ask("POST", "/api/plan", LONG)
    job = slow.jobs.get(accepted["id"])
    connection, answer = slow.open_events(accepted["events"])
    assert answer.readline().startswith(b"id: 0")
    answer.close()
    connection.close()
    assert slow.settle(lambda: job.state == "cancelled")
    assert slow.settle(lambda: len(slow.jobs) == 0)
    assert slow.ask("GET", accepted["events"])[0] == 404


def test_a_plan_that_nobody_ever_reads_is_cancelled(slow):
    _, accepted = slow.ask("POST", "/api/plan", LONG)
    job = slow.jobs.get(accepted["id"])
    assert slow.settle(lambda: job.state == "cancelled")


def test_a_taken_port_is_a_sentence():
    with listen(0) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(CannotListen, match=f"cannot listen on port {port}: .*--port 0"):
            listen(port)
    with pytest.raises(CannotListen):
        listen(99999)


def test_only_loopback_is_listened_to():
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
