"""Plans in the formats of maps and tables, in the coordinates of whoever asked."""

import csv
import io
import json
from dataclasses import replace
from datetime import datetime
from functools import cache
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity, make_planner, scattered_problem
from gap_worlds import VISITS_BEYOND, walled_planner

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.exports.saved import load_result
from chronoforest.planning.planner import MaxRounds, Planner
from chronoforest.planning.variants import PlannerParams

BERLIN = Frame("degrees", (13.4, 52.5), 2.0)
PLACE = scattered_problem(2, 3, BLOCK)


@cache
def planned(frame):
    """The same plan for people who count from different places."""
    planner = Planner(FakeModels(density=SquareDensity(BLOCK)), PlannerParams(), "fake", frame)
    return planner.plan(PLACE.moved(frame.to_user), seed=3)


@pytest.mark.parametrize(
    "frame", [BERLIN, Frame("degrees", (179.9999, -17.0)), Frame("plain", (446e3, 4636e3))]
)
def test_a_plan_is_the_same_in_anyones_coordinates(frame):
    result, plain = planned(frame), planned(Frame())
    assert result.problem.anchors.tolist() == PLACE.moved(frame.to_user).anchors.tolist()
    for one, other in zip(result.routes, plain.routes, strict=True):
        np.testing.assert_allclose(frame.to_local(one.path), other.path, atol=0.01)
        assert one.length == pytest.approx(other.length, rel=1e-4)


def test_a_hundred_kilometres_come_back_to_half_a_metre(tmp_path):
    """The round trip of a line of a hundred kilometres: degrees, plan, GeoJSON, degrees."""
    frame, result = BERLIN, planned(BERLIN)
    local = np.stack([np.linspace(-5e4, 5e4, 1000), 3e4 * np.sin(np.linspace(0, 9, 1000))], axis=1)
    route = replace(result.routes[0], path=frame.to_user(local), along=np.zeros(0), times=np.zeros(1000))
    long = replace(result, routes=(route, *result.routes[1:]))
    written = json.loads(long.to_geojson())["features"][0]["geometry"]["coordinates"]
    assert np.linalg.norm(frame.to_local(np.array(written)) - local, axis=1).max() < 0.5


def test_times_rise_from_stop_to_stop_and_speeds_follow():
    for frame in (Frame(), BERLIN):
        for route in planned(frame).routes:
            assert len(route.times) == len(route.path) == len(route.speeds) == len(route.along)
            assert (np.diff(route.times) > 0).all()
            assert route.times[0] == 0.0
            assert route.speeds.min() > 0
    steps, seconds = planned(Frame()).routes[0].times, planned(BERLIN).routes[0].times
    np.testing.assert_allclose(seconds, 2.0 * steps, rtol=1e-3)


def test_legs_take_what_lies_between_their_stops():
    for route in planned(BERLIN).routes:
        assert len(route.durations) == len(route.legs)
        assert route.durations.sum() == pytest.approx(route.duration)
        assert route.durations.tolist() == np.diff(route.times[list(route.stops)]).tolist()
    assert len(replace(route, times=np.zeros(0)).durations) == 0


def test_gpx_says_what_is_missing():
    frame = Frame("degrees", (13.4, 52.5), 2.0)
    planner = walled_planner()
    planner.frame = frame
    result = planner.plan(VISITS_BEYOND.moved(frame.to_user))
    (told,) = fromstring(result.to_gpx()).findall(".//{*}desc")
    assert told.text.startswith("incomplete, left out: W2, W4. W2, W4 are left out: ways from S1")
    assert not fromstring(planned(BERLIN).to_gpx()).findall(".//{*}desc")


def test_an_incomplete_plan_has_times_as_far_as_it_goes():
    result = make_planner(BLOCK).plan(PLACE, seed=3, stop=MaxRounds(1), variant="online")
    assert not result.complete
    for route in result.routes:
        assert len(route.times) == len(route.path)
        assert np.isfinite(route.times).all()


def test_a_saved_plan_keeps_frame_and_times(tmp_path):
    result = planned(BERLIN)
    result.save(tmp_path / "plan.json")
    again = load_result(tmp_path / "plan.json")
    assert again.frame == BERLIN
    for one, other in zip(again.routes, result.routes, strict=True):
        np.testing.assert_allclose(one.times, other.times, atol=1e-4)
        assert one.length == pytest.approx(other.length, abs=0.05)
    assert again.length == pytest.approx(result.length, rel=1e-3)


def test_geojson_has_a_line_for_every_route_and_a_point_for_every_anchor():
    values = json.loads(planned(BERLIN).to_geojson())
    kinds = [feature["geometry"]["type"] for feature in values["features"]]
    assert kinds == ["LineString"] * 2 + ["Point"] * 7
    line = values["features"][0]
    assert (
        len(line["properties"]["times"])
        == len(line["properties"]["speeds"])
        == len(line["geometry"]["coordinates"])
    )
    assert (line["properties"]["length_unit"], line["properties"]["time_unit"]) == ("m", "s")
    visits = {point["properties"]["name"]: point["properties"]["agent"] for point in values["features"][2:]}
    assert set(visits) == set(PLACE.names)
    assert (visits["S1"], visits["G2"]) == (1, 2)


def test_a_line_across_the_antimeridian_does_not_run_around_the_globe():
    values = json.loads(planned(Frame("degrees", (179.9999, -17.0))).to_geojson())
    longitudes = np.concatenate(
        [np.array(f["geometry"]["coordinates"])[:, 0] for f in values["features"][:2]]
    )
    assert np.ptp(longitudes) < 1.0
    assert longitudes.max() > 180.0


def test_gpx_has_tracks_with_times_and_speeds():
    root = fromstring(planned(BERLIN).to_gpx().encode())
    assert [point.findtext("{*}name") for point in root.iterfind(".//{*}wpt")] == list(PLACE.names)
    tracks = root.findall(".//{*}trkseg")
    assert [len(track) for track in tracks] == [len(route.path) for route in planned(BERLIN).routes]
    first = root.find(".//{*}trkpt")
    assert root.find(".//{*}time") is None  # nobody said when it begins
    assert float(first.attrib["lon"]) == pytest.approx(planned(BERLIN).routes[0].path[0, 0])
    speeds = [float(speed.text) for speed in root.iterfind(".//{*}speed")]
    np.testing.assert_allclose(speeds[: len(tracks[0])], planned(BERLIN).routes[0].speeds, atol=1e-3)


def test_gpx_is_refused_where_places_are_no_degrees(tmp_path):
    with pytest.raises(
        InvalidParameter, match=r"GPX needs longitude and latitude.*\.geojson, \.csv or \.json"
    ):
        planned(Frame()).save(tmp_path / "plan.gpx")
    assert not (tmp_path / "plan.gpx").exists()


def test_csv_and_dataframe_have_a_row_for_every_point():
    result = planned(BERLIN)
    header, *rows = csv.reader(io.StringIO(result.to_csv()))
    assert header == ["agent", "point", "longitude", "latitude", "along", "time", "speed", "stop"]
    assert len(rows) == sum(len(route.path) for route in result.routes)
    assert [row[7] for row in rows if row[7]] == [name for route in result.routes for name in route.order]
    pandas = pytest.importorskip("pandas")
    frame = result.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["time"].max() == pytest.approx(max(route.duration for route in result.routes), abs=1e-3)


@pytest.mark.parametrize(("name", "start"), [("a.geojson", "{"), ("a.csv", "agent"), ("a.json", '{"format"')])
def test_a_plan_is_saved_by_the_files_ending(tmp_path, name, start):
    planned(Frame()).save(tmp_path / name)
    assert (tmp_path / name).read_text().startswith(start)


def test_the_picture_and_the_summary_speak_of_metres_and_seconds(tmp_path):
    result = planned(BERLIN)
    assert "leg, m" in result.summary()
    assert result.timetable.time_unit == "s"
    result.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_a_route_that_never_leaves_has_as_many_times_as_coordinates():
    result = make_planner(BLOCK).plan(scattered_problem(1, 0, BLOCK), stop=MaxRounds(0), variant="online")
    line = json.loads(result.to_geojson())["features"][0]
    counts = {len(line["properties"][name]) for name in ("times", "speeds", "along")}
    assert counts == {len(line["geometry"]["coordinates"])} == {2}


def test_a_departure_gives_every_output_its_dates(tmp_path):
    planner = Planner(FakeModels(), PlannerParams(), "fake", BERLIN)
    starts, goals = (BERLIN.to_user(np.array(place)) for place in ([3.0, 3.0], [17.0, 3.0]))
    result = planner.plan(starts=starts, goals={"the mill & more": goals}, depart="2026-11-16 08:00+01:00")
    took = result.routes[0].duration
    last = result.timetable.stops[-1]
    assert (last.label, last.arrival) == ("the mill & more", pytest.approx(took))
    assert (last.clock - datetime.fromisoformat("2026-11-16T07:00Z")).total_seconds() == pytest.approx(
        took, abs=1e-3
    )
    assert "2026-11-16 08:00:00" in str(result.timetable)
    assert fromstring(result.to_gpx().encode()).findtext(".//{*}time") == "2026-11-16T07:00:00.000Z"
    line, *points = json.loads(result.to_geojson())["features"]
    dates = line["properties"]["clock_times"]
    assert (dates[0], len(dates)) == ("2026-11-16T08:00:00.000+01:00", len(result.routes[0].path))
    assert [point["properties"]["clock_time"] for point in points] == [dates[0], dates[-1]]
    assert list(csv.DictReader(io.StringIO(result.to_csv())))[-1]["clock"] == dates[-1]
    result.save(tmp_path / "plan.json")
    again = load_result(tmp_path / "plan.json").timetable.stops[-1]
    assert abs((again.clock - last.clock).total_seconds()) < 1e-3


def test_geojson_of_a_plane_is_placed_nowhere_on_earth():
    plane, earth = (json.loads(planned(frame).to_geojson()) for frame in (Frame(), BERLIN))
    assert plane["crs"] is None
    assert "not longitude and latitude" in plane["geography"]
    assert not {"crs", "geography"} & set(earth)
