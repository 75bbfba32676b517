"""One question in one place: which of two coordinates is the longitude, or whether they are x and y."""

import numpy as np
import pytest

from chronoforest.data.axes import coordinate_axes, order_of, within
from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.data.read import read_table
from chronoforest.data.tracks import Tracks
from chronoforest.errors import BadDataset, InvalidParameter

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


def tracks(*ways):
    return Tracks.joined(
        ("a", np.arange(float(len(xs))), np.array([(float(x), 5.0) for x in xs])) for xs in ways
    )


def test_a_recording_that_leaves_a_region_and_comes_back_is_two():
    parts, finding = within(tracks((0, 1, 2, 11, 12, 3, 4), (20, 21)), (0, 0, 10, 10))
    assert [part.values[:, 0].tolist() for part in parts] == [[0, 1, 2], [3, 4]]
    assert (finding.found, finding.done) == ("4 rows elsewhere", "left out")


def test_a_region_where_nothing_is_and_one_that_is_none_are_refused():
    with pytest.raises(BadDataset, match=r"no two rows .* lie in the region \(0, 0, 1, 1\).* from 3"):
        within(tracks((3, 4)), (0, 0, 1, 1))
    with pytest.raises(BadDataset, match=r"most lie from 4636000\.\d+, 5 to"):
        within(tracks((4_636_000.25, 4_636_010.5)), (0, 0, 1, 1))
    with pytest.raises(InvalidParameter, match=r"west, south, east and north.*got \(3, 0, 1, 1\)"):
        ImportParams(region=(3, 0, 1, 1))


def test_a_whole_continent_is_refused_with_a_region_that_would_do(tmp_path):
    rows = "".join(
        f"{ship},{t},{lon + 1e-5 * t:.6f},{40.5 + 1e-5 * ((t + ship) % 50):.6f}\n"
        for ship, lon in enumerate([-74.5] * 3 + [-118.3])
        for t in range(0, 400, 4)
    )
    (tmp_path / "a.csv").write_text(f"mmsi,t,lon,lat\n{rows}")
    with pytest.raises(BadDataset, match=r"--region -75 40 -74 41, where 75 % of the rows lie"):
        import_files([tmp_path / "a.csv"], Columns(), ImportParams())
    result = import_files([tmp_path / "a.csv"], Columns(), ImportParams(region=(-75, 40, -74, 41)))
    assert "100 rows elsewhere" in [finding.found for finding in result.findings]
