"""One question in one place: which of two coordinates is the longitude, or whether they are x and y."""

import numpy as np
import pytest

from chronoforest.data.axes import coordinate_axes, order_of
from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.data.read import read_table

STEPS = np.full((59, 2), 1e-4)


def places(first, second):
    return np.array([first, second]) + 1e-4 * np.arange(60)[:, None]


@pytest.mark.parametrize(
    ("first", "second", "told", "found"),
    [
        (113.4, 52.5, None, (True, False, True)),
        (52.5, 113.4, None, (True, True, True)),
        (13.4, 52.5, None, (True, False, False)),
        (13.4, 52.5, False, (False, False, True)),
        (41.8, -87.6, None, (True, True, False)),
        (113.4, 87.6, True, (True, False, True)),
        (446000.0, 4636000.0, None, (False, False, True)),
        (0.0, 0.0, None, (False, False, True)),
    ],
    ids=["east first", "north first", "either", "said to be none", "polar", "arctic", "metres", "around 0"],
)
def test_ranges_and_steps_say_what_coordinates_are(first, second, told, found):
    axes = coordinate_axes(places(first, second), told, STEPS)
    assert (axes.is_degrees, axes.is_swapped, axes.is_certain) == found


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (("LAT", "lng"), "latlon"),
        (("Länge", "Breite"), "lonlat"),
        (("Lat/Lng",), "latlon"),
        (("lonlat",), "lonlat"),
        (("place",), ""),
        (("x", "lat"), ""),
    ],
)
def test_names_say_which_comes_first(names, order):
    assert order_of(*names) == order


def test_what_moves_faster_than_sound_in_degrees_is_in_metres():
    fast = np.full(59, 1.3)  # a walker's metres a second
    assert coordinate_axes(places(50.4, 20.3), None, STEPS).is_degrees
    assert not coordinate_axes(places(50.4, 20.3), None, STEPS, fast).is_degrees


def imported(path, header, rows, **params):
    path.write_text(header + "\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    result = import_files([path], Columns(), ImportParams(length=11, **params))
    return result, {finding.check: f"{finding.found} | {finding.done}" for finding in result.findings}


def test_a_latitude_at_the_pole_beside_one_of_a_city_is_a_longitude(tmp_path):
    rows = [(-87.6 - 1e-4 * k, 41.8 + 1e-4 * np.sin(k / 5), k) for k in range(60)]
    result, found = imported(tmp_path / "a.csv", "latitude,longitude,time", rows)
    assert result.episodes.frame.origin == pytest.approx((-87.603, 41.8), abs=1e-3)
    assert found["swapped axes"].endswith("swapped")
    told, _ = imported(tmp_path / "a.csv", "latitude,longitude,time", rows, units="degrees")
    assert told.episodes.frame.origin == pytest.approx((41.8, -87.603), abs=1e-3)


@pytest.mark.parametrize("far", [8.0, 95.0])
def test_people_in_metres_are_not_in_degrees(tmp_path, far):
    rows = [(10 * (k // 4), k % 4, far + 0.03 * k + k % 4, 4 + 0.01 * k) for k in range(400)]
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{frame}\t{body}\t{x:.4f}\t{y:.4f}\n" for frame, body, x, y in rows))
    assert read_table(path).guessed == ("frame", "id", "x", "y")


def test_recordings_that_run_back_throughout_are_told(tmp_path):
    _, found = imported(tmp_path / "a.csv", "x,y,time", [(k, k % 5, 59 - k) for k in range(60)])
    assert "1 of them ran back throughout" in found["wrong order"]
