"""Files without a header get the names that their values suggest, or are refused with them."""

import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.imports import read_recordings
from chronoforest.data.read import read_table
from chronoforest.errors import BadDataset

PLACES = [(116.51172 + 1e-3 * k, 39.92123 + 1e-3 * (k % 7)) for k in range(30)]


def write(path, line):
    path.write_text("".join(f"{line(k, *place)}\n" for k, place in enumerate(PLACES)))
    return path


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (lambda k, x, y: f"1,2008-02-02 15:36:{k:02d},{x:.5f},{y:.5f}", "id,time,lon,lat"),
        (lambda k, x, y: f"{y:.5f} {x:.5f} {k % 2} {1213084687 + k}", "lat,lon,column3,time"),
        (lambda k, x, y: f"7;01/02/2008;5:36:{k:02d};{x};{y}".replace(".", ","), "id,date,time,lon,lat"),
        (lambda k, x, y: f"{k},{1000 * x:.2f},{1000 * y:.2f}", "seq,x,y"),
        (lambda k, x, y: f"{1000 * x:.2f} {1000 * y:.2f} {40.5 * k} ", "x,y,time"),
        (lambda k, x, y: f"{10.0 * (k // 3)}\t{k % 3}.0\t{100 * x:.2f}\t{100 * y:.2f}", "frame,id,x,y"),
        (lambda k, x, y: f"{40.5 * k} {1000 * y:.2f} {-1000 * x:.2f}", "time,x,y"),
        (lambda k, x, y: f"4|2014-02-01 00:00:{k:02d}.7+01|POINT({x} {y})", "id,time,places"),
        (lambda k, x, y: f"{10 * (k // 3)} {k % 3} {100 * x:.2f} 0.0 {100 * y:.2f}", "frame,id,x,column4,y"),
    ],
    ids=["T-Drive", "cabs", "decimal commas", "counted", "Berlin", "people", "time first", "text", "height"],
)  # fmt: skip
def test_columns_get_the_names_that_their_values_suggest(tmp_path, line, names):
    table = read_table(write(tmp_path / "a.txt", line))
    assert table.guessed == tuple(names.split(","))
    assert len(table) == len(PLACES)
    east, north = next(
        pair for pair in (("lon", "lat"), ("longitude", "latitude"), ("x", "y")) if pair[0] in table.columns
    )
    found = sorted(abs(table.numbers(name)[3]) for name in (east, north))
    scale = 1 if east != "x" else 100 if "frame" in names else 1000
    assert found == pytest.approx(sorted(scale * value for value in PLACES[3]), abs=0.01)
    if scale == 1:
        assert table.numbers(east)[3] > table.numbers(north)[3]


def test_an_order_of_degrees_that_is_not_plain_is_told(tmp_path):
    path = write(tmp_path / "a.txt", lambda k, x, y: f"1,{1213084687 + k},{x - 125:.5f},{y:.5f}")
    with pytest.raises(BadDataset, match=r"add --header id,time,lon,lat \(both orders of lon and lat would"):
        read_table(path)


def test_an_order_of_degrees_in_one_cell_that_is_not_plain_is_asked_for(tmp_path):
    path = write(tmp_path / "a.txt", lambda k, x, y: f"4;{1213084687 + k};POINT({y} {x - 104})")
    with pytest.raises(BadDataset, match=r"add --header id,time,latlon or --header id,time,lonlat$"):
        read_table(path)
    assert read_table(path, ["id", "time", "latlon"]).numbers("latitude")[0] == PLACES[0][1]
    assert read_table(path, ["id", "time", "lonlat"]).numbers("longitude")[0] == PLACES[0][1]


def test_boxes_in_pixels_are_places_in_an_order_without_a_clock(tmp_path):
    def line(k, x, y):
        left, top = 300 + 40 * (k % 2) + k * (-1) ** k, 500 - 30 * (k % 2) - k * (-1) ** k
        return f'{k % 2} {left} {top} {left + 20} {top + 30} {5 * (k // 2)} 0 "Biker"'

    table = read_table(write(tmp_path / "a.txt", line))
    assert table.guessed[:6] == ("id", "x", "y", "column4", "column5", "frame")


def test_without_any_order_of_the_rows_names_are_only_proposed(tmp_path):
    path = write(tmp_path / "a.txt", lambda k, x, y: f"{k % 3},{1000 * x:.2f},{1000 * y:.2f}")
    with pytest.raises(BadDataset, match=r"if these are id, x, y, add --header id,x,y$"):
        read_table(path)


def test_where_nothing_looks_like_a_place_the_option_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n1,2\n")
    with pytest.raises(
        BadDataset, match="name all its 2 columns in their order, such as --header id,time,lon,lat"
    ):
        read_table(tmp_path / "a.csv")


def test_told_names_replace_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("a,a\n1,2\n")
    assert read_table(tmp_path / "a.csv", ["x", "y"]).numbers("y").tolist() == [2.0]


def test_names_that_were_taken_are_told(tmp_path):
    path = write(tmp_path / "a.txt", lambda k, x, y: f"{1000 * x:.2f} {1000 * y:.2f} {40.5 * k}")
    found = read_recordings([path], Columns(), None).findings[1]
    assert found.done == "no header: taken for x, y, time; --header gives other names"
    assert read_recordings([path], Columns(header="x,y,time"), None).findings[1].done == ""
