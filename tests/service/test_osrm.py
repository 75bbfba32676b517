"""OSRM's interface in the process: what is asked and answered, and that no request breaks it."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from town import FRAME, NETWORK, ROUTER, places, town, written
from viewer_service import running, worlds_of

from benchmarks.engine import damaged, requests_of
from chronoforest.data.frames import Frame
from chronoforest.peers.choice import PlannerChoice
from chronoforest.service.osrm import answer, visiting_order
from chronoforest.service.router import Router
from chronoforest.service.wire import decoded, geometry
from chronoforest.service.worlds import World, Worlds


def encoded(line, digits):
    return geometry(line, {5: "polyline", 6: "polyline6"}[digits])


def ask(service, points, query=""):
    return answer(ROUTER, f"/{service}/v1/driving/{written(points)}", query)


def good(service, points, query=""):
    status, values = ask(service, points, query)
    assert (status, values["code"]) == (200, "Ok"), values
    return values


def joined(count, seed=0):
    """Places between all of which there is a way."""
    points = places(4 * count, seed)
    seconds = np.array(good("table", points)["durations"], dtype=float)
    kept = np.flatnonzero(np.isfinite(seconds).mean(axis=1) > 0.5)
    kept = [row for row in kept if np.isfinite(seconds[row, kept]).all()][:count]
    return points[kept]


def far_apart():
    """Two places with a long way between them."""
    points = joined(8)
    start, goal = np.unravel_index(np.argmax(good("table", points)["durations"]), (len(points),) * 2)
    return points[[start, goal]]


@pytest.mark.parametrize("digits", [5, 6])
def test_polylines_come_back(digits):
    line = places(50)
    np.testing.assert_allclose(decoded(encoded(line, digits), digits), line, atol=0.6 * 10.0**-digits)


def test_a_route_has_what_clients_read():
    values = good("route", joined(3), "steps=true&annotations=true&overview=full&geometries=geojson")
    (route,) = values["routes"]
    assert len(route["legs"]) == 2
    assert route["distance"] == pytest.approx(sum(leg["distance"] for leg in route["legs"]), abs=0.01)
    for leg in route["legs"]:
        types = [step["maneuver"]["type"] for step in leg["steps"]]
        assert (types[0], types[-1]) == ("depart", "arrive")
        assert sum(step["distance"] for step in leg["steps"]) == pytest.approx(leg["distance"], abs=0.1)
        assert sum(leg["annotation"]["duration"]) == pytest.approx(leg["duration"], abs=0.1)
        assert leg["evidence"]["recordings"] >= 1
        low, high = leg["duration_interval"]
        assert low <= leg["duration"] <= high
    ends = [values["waypoints"][k]["location"] for k in (0, -1)]
    line = np.array(route["geometry"]["coordinates"])
    np.testing.assert_allclose(line[[0, -1]], ends, atol=2e-6)


def test_overviews_and_geometries_are_the_same_line():
    points = far_apart()
    full = good("route", points, "overview=full&geometries=geojson")["routes"][0]["geometry"]["coordinates"]
    for kind, digits in (("polyline", 5), ("polyline6", 6)):
        text = good("route", points, f"overview=full&geometries={kind}")["routes"][0]["geometry"]
        np.testing.assert_allclose(decoded(text, digits), full, atol=2e-5)
    simple = good("route", points, "geometries=geojson")["routes"][0]["geometry"]["coordinates"]
    assert len(simple) < len(full)
    assert "geometry" not in good("route", points, "overview=false")["routes"][0]


def test_tables_agree_with_routes():
    points = joined(4)
    table = good("table", points, "annotations=duration,distance")
    for start in range(4):
        for goal in set(range(4)) - {start}:
            route = good("route", points[[start, goal]])["routes"][0]
            assert table["durations"][start][goal] == pytest.approx(route["duration"], abs=0.1)
            assert table["distances"][start][goal] == pytest.approx(route["distance"], abs=0.1)


def test_a_part_of_a_table_is_what_the_whole_has_there():
    points = places(6)
    whole = good("table", points)["durations"]
    part = good("table", points, "sources=1;3&destinations=0;2;5")["durations"]
    assert part == [[whole[row][column] for column in (0, 2, 5)] for row in (1, 3)]


def test_an_encoded_path_is_the_listed_one():
    points = np.round(far_apart(), 5)
    text = encoded(points, 5)
    assert answer(ROUTER, f"/route/v1/driving/polyline({text})", "")[1] == ask("route", points)[1]


def test_trips_visit_every_place_and_no_order_is_shorter():
    points = joined(5)
    seconds = np.array(good("table", points)["durations"])
    trip = good("trip", points)
    order = np.argsort([waypoint["waypoint_index"] for waypoint in trip["waypoints"]])
    assert sorted(order) == list(range(5))
    rng = np.random.default_rng(0)
    own = seconds[order, np.roll(order, -1)].sum()
    others = [rng.permutation(5) for _ in range(200)]
    assert own <= min(seconds[other, np.roll(other, -1)].sum() for other in others) + 1e-6


@pytest.mark.parametrize("is_round", [False, True])
def test_orders_begin_and_end_where_they_must(is_round):
    cost = np.random.default_rng(4).uniform(1, 9, (6, 6))
    order = visiting_order(cost, is_round, first=True, last=True)
    assert (order[0], order[-1], sorted(order)) == (0, 5, list(range(6)))


def test_a_closure_is_of_its_request_alone():
    points = far_apart()
    before = ask("route", points)
    line = np.array(
        good("route", points, "overview=full&geometries=geojson")["routes"][0]["geometry"]["coordinates"]
    )
    middle = line[len(line) // 2]
    square = encoded(middle + 1e-4 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), 6)
    status, values = ask("route", points, f"exclude=polygon6({square})&overview=full&geometries=geojson")
    assert status == 200 or values["code"] == "NoRoute"
    if status == 200:
        other = np.array(values["routes"][0]["geometry"]["coordinates"])
        assert (np.abs(other - middle).max(axis=1) > 1e-4).all()
    assert ask("route", points) == before


def test_durations_follow_the_hour_of_departure():
    points = far_apart()
    usual = good("route", points)["routes"][0]["duration"]
    NETWORK.pace[8] = 1.5
    try:
        busy = good("route", points, "depart=2026-01-31T08:30")["routes"][0]["duration"]
    finally:
        NETWORK.pace[8] = 1.0
    assert busy == pytest.approx(1.5 * usual, rel=1e-3)


@pytest.mark.parametrize(
    ("path", "query", "code"),
    [
        ("/route/v1/driving", "", "InvalidUrl"),
        ("/route/v1/driving/1,2;x,3", "", "InvalidUrl"),
        ("/fly/v1/driving/1,2;3,4", "", "InvalidService"),
        ("/route/v9/driving/1,2;3,4", "", "InvalidVersion"),
        ("/route/v1/driving/1,2;3,400", "", "InvalidValue"),
        ("/route/v1/driving/1,2", "", "InvalidOptions"),
        ("/route/v1/driving/1,2;3,4", "fly=true", "InvalidQuery"),
        ("/route/v1/driving/1,2;3,4", "steps=maybe", "InvalidQuery"),
        ("/route/v1/driving/1,2;3,4", "bearings=10,20", "InvalidOptions"),
        ("/route/v1/driving/1,2;3,4", "radiuses=10;-1", "InvalidOptions"),
        ("/route/v1/driving/-87.65,41.87;-87.6,41.9", "radiuses=10;10", "NoSegment"),
        ("/route/v1/driving/-87.65,41.87;-87.6,41.9", "exclude=motorway", "InvalidValue"),
        ("/table/v1/driving/-87.65,41.87;-87.6,41.9", "sources=7", "InvalidOptions"),
        ("/nearest/v1/driving/-87.65,41.87", "number=1000", "TooBig"),
        ("/route/v1/driving/" + ";".join(["1,2"] * 501), "", "TooBig"),
        ("/match/v1/driving/-87.5,41.8;-87.5,41.8", "", "NoMatch"),
    ],
)
def test_refusals_have_osrms_codes(path, query, code):
    status, values = answer(ROUTER, path, query)
    assert (status, values["code"]) == (400, code)


def test_no_malformed_request_breaks_the_service():
    rng, codes = np.random.default_rng(5), {}
    valid = [one.split(b" ")[1] for one in requests_of(0, NETWORK, rng) if b"/v1/" in one]
    for _ in range(3000):
        request = damaged(valid[rng.integers(len(valid))], rng).decode(errors="replace")
        path, _, query = request.partition("?")
        status, values = answer(ROUTER, path, query)
        json.dumps(values, allow_nan=False)
        codes[values["code"]] = codes.get(values["code"], 0) + 1
        assert status in (200, 400)
    assert len(codes) > 6


def test_a_new_world_is_taken_without_losing_a_request(tmp_path):
    path = tmp_path / "roads.npz"
    ROUTER.save(path)
    worlds, points = Worlds(PlannerChoice(str(path))), written(far_apart())
    with running(worlds=worlds) as service, ThreadPoolExecutor(2) as threads:
        asking = [threads.submit(service.ask, "GET", f"/route/v1/driving/{points}") for _ in range(120)]
        for seed in (1, 2, 3):
            Router(town(seed)).save(path)
            os.utime(path, ns=(seed, seed))
            former = worlds.world()
            assert worlds.refresh() or service.settle(lambda: worlds.world() is not former)  # noqa: B023
        answers = [one.result() for one in asking]
    assert {status for status, _ in answers} <= {200, 400}
    assert all(values["code"] in ("Ok", "NoRoute") for _, values in answers)
    former = worlds.world()
    path.write_bytes(b"half a world")
    assert not worlds.refresh()
    assert worlds.world() is former


def fleet(**more):
    points = joined(8, seed=3).tolist()
    vehicles = [{"id": 1, "start": points[0], "end": points[1]}, {"id": 2, "start": points[2]}]
    jobs = [{"id": 10 + k, "location": point} for k, point in enumerate(points[3:])]
    return {"vehicles": vehicles, "jobs": jobs, **more}


@pytest.fixture(scope="module")
def service():
    with running(worlds=worlds_of(World("roads", None, ROUTER))) as service:
        yield service


def test_a_fleet_does_every_job_once(service):
    asked = fleet()
    status, values = service.ask("POST", "/plan", asked)
    assert (status, values["code"], values["unassigned"]) == (200, 0, [])
    done = [step["job"] for route in values["routes"] for step in route["steps"] if step["type"] == "job"]
    assert sorted(done) == [job["id"] for job in asked["jobs"]]
    for route in values["routes"]:
        arrivals = [step["arrival"] for step in route["steps"]]
        assert arrivals == sorted(arrivals)
        assert route["steps"][0]["type"] == "start"
        assert (route["steps"][-1]["type"] == "end") == (route["vehicle"] == 1)


@pytest.mark.parametrize("name", ["shipments", "matrices", "time_window", "capacity", "breaks", "skills"])
def test_what_is_more_than_a_joint_route_is_refused_by_name(service, name):
    asked = fleet()
    (asked if name in ("shipments", "matrices") else asked["vehicles"][0])[name] = []
    status, values = service.ask("POST", "/plan", asked)
    assert (status, values["code"]) == (400, 2)
    assert name in values["error"]


def test_a_road_network_alone_has_no_plans_of_problems(service):
    status, values = service.ask("POST", "/plan", {"starts": [[0.0, 0.0]]})
    assert status == 400
    assert "roads" in values["error"]


def test_recordings_in_metres_are_asked_in_metres():
    shifted = replace(NETWORK, frame=Frame("plain", (445_000.0, 4_636_000.0)))
    rows = [ROUTER.snap(place).states[0] for place in FRAME.to_local(far_apart())]
    points = shifted.places[rows]
    status, values = answer(Router(shifted), f"/route/v1/driving/{written(points)}", "geometries=geojson")
    assert status == 200
    ends = np.array(values["routes"][0]["geometry"]["coordinates"])[[0, -1]]
    np.testing.assert_allclose(ends, points, atol=30.0)
    assert answer(ROUTER, f"/route/v1/driving/{written(points)}", "")[1]["code"] == "InvalidValue"


def test_places_of_another_continent_are_answered():
    assert ask("nearest", np.array([[13.4, 52.5]]))[0] == 200
    assert FRAME.is_degrees
