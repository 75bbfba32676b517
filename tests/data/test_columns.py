"""Columns are found by the names that people give them; interleaved bodies are noticed."""

import numpy as np
import pytest

from chronoforest.data.columns import Columns, Table, interleaved, number_of
from chronoforest.data.read import read_table
from chronoforest.errors import BadDataset


def table(*names, num_rows=12, **columns):
    cells = {name: np.arange(num_rows, dtype=float) for name in names}
    ids = {
        name: np.repeat(np.arange(num_rows // 4), 4)
        for name in names
        if "id" in name.lower() or name == "MMSI"
    }
    return Table("t.csv", {**cells, **ids, **columns})


@pytest.mark.parametrize(
    ("names", "coordinates", "episode", "time"),
    [
        (("MMSI", "BaseDateTime", "LAT", "LON", "SOG"), ("LON", "LAT"), ("MMSI",), "BaseDateTime"),
        (("track_id", "Latitude", "lng", "TimeStamp"), ("lng", "Latitude"), ("track_id",), "TimeStamp"),
        (("Trip ID", "t", "X", "Y"), ("X", "Y"), ("Trip ID",), "t"),
        (("vehicle", "trip_id", "when", "east", "north"), ("east", "north"), ("trip_id",), "when"),
        (("bus_id", "trip_id", "when", "east", "north"), ("east", "north"), ("bus_id", "trip_id"), "when"),
        (("location-long", "location-lat", "timestamp"), ("location-long", "location-lat"), (), "timestamp"),
        (("x", "y", "gps_longitude", "gps_latitude"), ("gps_longitude", "gps_latitude"), (), None),
        (("Fahrzeug_id", "t_ms", "Breite", "Länge"), ("Länge", "Breite"), ("Fahrzeug_id",), "t_ms"),
        (("latitud", "longitud", "Time (UTC)"), ("longitud", "latitud"), (), "Time (UTC)"),
        (("GPSLatitude", "GPSLongitude", "start_lat"), ("GPSLongitude", "GPSLatitude"), (), None),
        (("point_x", "point_y", "shape_id", "seq"), ("point_x", "point_y"), ("shape_id",), "seq"),
        (("observations.0", "observations.1", "step"), ("observations.0", "observations.1"), (), None),
    ],
)  # fmt: skip
def test_common_names_are_found_in_any_case(names, coordinates, episode, time):
    found = Columns().found_in(table(*names))
    assert (found.coordinates, found.ids, found.time) == (coordinates, episode, time)


def test_numbers_of_pictures_are_an_order_and_no_clock():
    found = Columns().found_in(table("trackId", "frame", "xCenter", "yCenter"))
    assert (found.time, found.has_clock) == ("frame", False)
    assert Columns().found_in(table("x", "y", "t")).has_clock


def test_what_is_told_is_taken_and_latitude_first_is_turned_round():
    found = Columns(coordinates=("lat", "lon"), episode="ship", time="u").found_in(
        table("lat", "lon", "id", "u")
    )
    assert found.coordinates == ("lon", "lat")
    assert (found.ids, found.time) == (("ship",), "u")
    assert found.are_degrees


def test_whole_seconds_of_a_stamp_are_the_time():
    names = (".header.stamp.sec", ".header.stamp.nanosec", ".pose.position.x", ".pose.position.y")
    assert Columns().found_in(table(*names)).time == ".header.stamp.sec"


def test_a_number_for_every_row_tells_no_recordings_apart():
    assert Columns().found_in(table("x", "y", id=np.arange(12))).ids == ()


def test_one_pair_that_ends_in_x_and_y_is_taken_and_several_are_asked_about():
    assert Columns().found_in(table("stamp", "pose.x", "pose.y", "pose.yaw")).coordinates == (
        "pose.x",
        "pose.y",
    )
    with pytest.raises(BadDataset, match=r"\(foot_x, foot_y; hand_x, hand_y\); name two with --coordinates"):
        Columns().found_in(table("foot_x", "foot_y", "hand_x", "hand_y"))


@pytest.mark.parametrize(
    ("names", "coordinates"),
    [
        (("lonVelocity", "latVelocity", "xCenter", "yCenter"), ("xCenter", "yCenter")),
        (("pose.position.x", "pose.position.y", "pose.orientation.x", "pose.orientation.y"), None),
        (("/odom/pose/position/x", "/odom/pose/position/y", "/odom/twist/linear/x"), None),
        (("translation.0", "translation.1", "translation.2", "rotation.0", "rotation.1"), None),
        (("trajectories.0", "trajectories.1", "actions.0", "actions.1"), None),
        (("p_RS_x [m]", "p_RS_y [m]", "q_RS_x []", "q_RS_y []", "b_w_x [rad]", "b_w_y [rad]"), None),
    ],
    ids=["velocities", "orientations", "twists", "rotations", "actions", "units"],
)
def test_what_has_a_direction_too_is_no_place(names, coordinates):
    assert Columns().found_in(table(*names)).coordinates == (coordinates or names[:2])


def test_without_names_like_coordinates_the_error_lists_what_there_is():
    with pytest.raises(BadDataset, match="name two with --coordinates; there are: a, b"):
        Columns().found_in(table("a", "b"))


def test_the_two_ends_of_trips_are_no_track():
    for names in (("start_lat", "start_lng", "end_lat", "end_lng"), ("pickup_longitude", "dropoffLatitude")):
        with pytest.raises(BadDataset, match="are the two ends of a trip and not a track"):
            Columns().found_in(table("ride_id", *names))


@pytest.mark.parametrize(
    "cells",
    [
        np.array([f"2026-05-01 10:00:{k:02d}" for k in range(12)], dtype=object),
        1.3726e9 + np.arange(12),
        np.array([f"{1372600000000 + 1000 * k}" for k in range(12)], dtype=object),
        np.arange("2026-05-01T10:00:00", "2026-05-01T10:00:12", dtype="datetime64[s]"),
    ],
)
def test_what_can_only_be_a_time_is_one_whatever_it_is_called(cells):
    assert Columns().found_in(table("x", "y", pos_dt=cells)).time == "pos_dt"


def test_large_numbers_that_repeat_or_are_no_date_are_no_time():
    ships = np.repeat([700_000_000.0, 710_000_000.0], 6)
    assert Columns().found_in(table("x", "y", code=ships, metres=4e6 + np.arange(12))).time is None


def bodies(num_bodies=5, num_rows=40):
    """Rows of bodies that move side by side, in the order of time."""
    step, body = np.divmod(np.arange(num_bodies * num_rows), num_bodies)
    return np.stack([step * 1.0, body * 100.0], axis=1), body, step.astype(float)


def test_interleaved_bodies_are_refused_with_the_column_that_tells_them_apart():
    places, body, time = bodies()
    rows = {"x": places[:, 0], "y": places[:, 1], "time": time, "plate": body + 17, "speed": np.sin(time)}
    with pytest.raises(
        BadDataset, match=r"several bodies seem to be interleaved.*'plate' does: --episode plate"
    ):
        interleaved(Table("t.csv", rows), Columns(("x", "y"), time="time"), places, time)


def test_interleaved_bodies_without_such_a_column_are_told():
    places, _, _ = bodies()
    rows = {"x": places[:, 0], "y": places[:, 1]}
    assert "interleaved" in interleaved(Table("t.csv", rows), Columns(("x", "y")), places, None)


def test_rows_of_many_bodies_without_any_order_are_told():
    places = np.random.default_rng(3).uniform(0, 100, (300, 2))
    rows = {"x": places[:, 0], "y": places[:, 1]}
    assert "interleaved" in interleaved(Table("t.csv", rows), Columns(("x", "y")), places, None)


def test_a_single_body_is_left_alone():
    places = np.stack([np.arange(90.0), np.sin(np.arange(90.0))], axis=1)
    rows = {"x": places[:, 0], "y": places[:, 1], "part": np.repeat([1, 2, 3], 30)}
    assert interleaved(Table("t.csv", rows), Columns(("x", "y")), places, None) == ""


def test_of_thousands_of_columns_a_refusal_names_a_few(tmp_path):
    (tmp_path / "wide.csv").write_text(",".join(f"c{k}a" for k in range(9000)) + "\n" + "1," * 8999 + "1\n")
    with pytest.raises(BadDataset, match="c49a and 8950 more"):
        Columns().found_in(read_table(tmp_path / "wide.csv"))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,5", 1.5),
        ("-3e2", -300.0),
        ("41.5N", 41.5),
        ("87.25 W", -87.25),
        ("S 12,5", -12.5),
        ("87°30'36\"W", -87.51),
        ("41° 30.6' N", 41.51),
        ("41.5°", 41.5),
    ],
)
def test_a_number_or_degrees_with_a_hemisphere(text, number):
    assert number_of(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["north", "1,2,3", "41'", "5 6", "12x"])
def test_what_is_no_number_is_nan(text):
    assert np.isnan(number_of(text))


def test_odd_cells_and_columns_are_named():
    table = Table("a.csv", {"x": np.array(["1", "left"], object), "t": np.array(["noon", "2"], object)})
    with pytest.raises(BadDataset, match="x holds 'left' in row 2, expected a number"):
        table.numbers("x")
    with pytest.raises(BadDataset, match="t holds 'noon' in row 1, expected seconds or a date"):
        table.clock("t")
    with pytest.raises(BadDataset, match="no column 'y'; there are: x, t"):
        table.numbers("y")


def test_a_few_odd_cells_are_empty_as_units_below_a_header_and_totals_are():
    times = ["UTC", *(f"2026-05-01 10:00:{k:02d}" for k in range(30))]
    table = Table("a.csv", {"t": np.array(times, object), "x": np.array(["m", *["1.5"] * 30], object)})
    assert np.isnan(table.numbers("x")[0])
    assert np.diff(table.clock("t").seconds)[1:].tolist() == 29 * [1.0]
    with pytest.raises(BadDataset, match="x holds 'm' in row 1"):
        Table("a.csv", {"x": np.array(["m", "m", *["1"] * 30], object)}).numbers("x")


def test_whole_seconds_and_nanoseconds_are_one_clock():
    table = Table("t.csv", {"stamp.sec": np.array([5, 5, 6]), "stamp.nanosec": np.array([0, 5e8, 0])})
    assert table.clock("stamp.sec").seconds.tolist() == [5.0, 5.5, 6.0]
