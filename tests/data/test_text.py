"""Text as programs write it: encodings, separators, comments, broken lines, tracks of GeoLife, no header."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.imports import read_recordings
from chronoforest.data.read import read_table
from chronoforest.errors import BadDataset

ABOUT = (
    "Geolife trajectory",
    "WGS 84",
    "Altitude is in Feet",
    "Reserved 3",
    "0,2,255,My Track,0,0,2,8421376",
    "0",
)
GEOLIFE = "".join(f"{line}\r\n" for line in ABOUT)
FIXES = "39.9,116.3,0,492,39744.12,2008-10-23,02:53:04\r\n39.8,116.4,0,492,39744.13,2008-10-23,02:53:10\r\n"


def read(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return read_table(path)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_columns_are_read_whatever_separates_them(tmp_path, separator):
    text = "\n".join(
        separator.join(row) for row in (("x", "y", "name"), ("1", "2.5", "a"), ("", "-3e2", "b"))
    )
    table = read(tmp_path / "a.csv", text + "\n\n")
    assert len(table) == 2
    np.testing.assert_array_equal(table.numbers("x"), [1.0, np.nan])
    np.testing.assert_array_equal(table.numbers("y"), [2.5, -300.0])
    assert table.labels("name") == ["a", "b"]


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"],
)
def test_decimal_commas_and_umlauts_in_any_encoding(tmp_path, encoding):
    table = read(tmp_path / "a.csv", "Breite;Länge\n41,17;-8,59\n41,18;\n", encoding)
    np.testing.assert_array_equal(table.numbers("Länge"), [-8.59, np.nan])
    assert table.numbers("Breite").tolist() == [41.17, 41.18]


@pytest.mark.parametrize(
    "text",
    [
        "# a log\n# of a robot\nt x\n1 2\n3 4\n",
        "# a log\n# t x\n1 2\n3 4\n",
        "# t,x\n1,2\n3,4\n",
        "t,x,\n1,2,\n3,4,\n",
        "t   x\n1     2\n3   4\n",
    ],
)
def test_comments_spaces_and_commas_at_the_end(tmp_path, text):
    table = read(tmp_path / "a.txt", text)
    assert list(table.columns) == ["t", "x"]
    assert table.numbers("x").tolist() == [2.0, 4.0]


def test_words_for_nothing_are_empty_cells(tmp_path):
    table = read(tmp_path / "a.csv", "x,y\n1,2\nNULL,\\N\nn/a,-\n")
    for name, number in (("x", 1.0), ("y", 2.0)):
        np.testing.assert_array_equal(table.numbers(name), [number, np.nan, np.nan])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        ("x,y\n", "no rows"),
        ("1,116.5,39.9\n2,116.6,39.9\n", "name every column once"),
        ("x,y\n1\n", "row 1 has 1 cells, the header names 2"),
        ("x,y\n1,2\n3,4,5\n", "row 2 has 3 cells"),
        ("x,y\n" + "1,2\n" * 200 + "1\n" * 9, "row 201 has 1 cells, the header names 2"),
        ("1,2\n1,2\n", "name all its 2 columns in their order, such as --header id,time,lon,lat"),
    ],
)
def test_a_malformed_csv_is_one_sentence(text, sentence, tmp_path):
    with pytest.raises(BadDataset, match=sentence) as error:
        read(tmp_path / "a.csv", text)
    assert str(error.value).count(str(tmp_path / "a.csv")) == 1


def test_a_few_broken_lines_become_empty(tmp_path):
    assert np.isnan(read(tmp_path / "a.csv", "x,y\n" + "1,2\n" * 200 + "1").numbers("x")).sum() == 1


def test_a_geolife_track_has_places_and_times(tmp_path):
    table = read(tmp_path / "a.plt", GEOLIFE + FIXES)
    assert table.numbers("longitude").tolist() == [116.3, 116.4]
    assert np.diff(table.clock("time").seconds).tolist() == [6.0]
    for rest, sentence in (("", r"a\.plt: empty"), ("1,2\n", "row 1 has 2 cells")):
        with pytest.raises(BadDataset, match=sentence):
            read(tmp_path / "a.plt", GEOLIFE + rest)


def test_columns_without_a_name_and_names_that_come_again_are_numbered(tmp_path):
    assert list(read(tmp_path / "a.csv", ",x,y,v,v\n0,1,2,3,4\n").columns) == ["column1", "x", "y", "v", "v5"]


@pytest.mark.parametrize("separator", [",", ";"])
def test_titles_above_the_header_are_skipped(tmp_path, separator):
    rows = "".join(f"{k}{separator}{k}.5{separator}{-k}.25\n" for k in range(20))
    text = f"Fleet report\nDays{separator}3\n\n{separator.join(('t', 'x', 'y'))}\n{rows}"
    assert read(tmp_path / "a.csv", text).numbers("x").tolist() == [k + 0.5 for k in range(20)]


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_packed_text_is_read_like_any_other(tmp_path, ending):
    text = b"x,y\n1,2\n"
    if ending == ".zst":
        content = pytest.importorskip("pyarrow").compress(text, codec="zstd", asbytes=True)
    else:
        content = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[ending](text)
    path = tmp_path / f"a.csv{ending}"
    path.write_bytes(content)
    assert read_table(path).numbers("y").tolist() == [2.0]
    path.write_bytes(b"no archive")
    with pytest.raises(BadDataset, match="cannot be read"):
        read_table(path)


PLACES = [(116.51172 + 1e-3 * k, 39.92123 + 1e-3 * (k % 7)) for k in range(30)]


def lines(path, line):
    path.write_text("".join(f"{line(k, *place)}\n" for k, place in enumerate(PLACES)))
    return path


def pixels(k, x, y):
    left, top = 300 + 40 * (k % 2) + k * (-1) ** k, 500 - 30 * (k % 2) - k * (-1) ** k
    return f'{k % 2} {left} {top} {left + 20} {top + 30} {5 * (k // 2)} 0 "Biker"'


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
        (pixels, "id,x,y,column4,column5,frame,column7,column8"),
    ],
)  # fmt: skip
def test_columns_get_the_names_that_their_values_suggest(tmp_path, line, names):
    table = read_table(lines(tmp_path / "a.txt", line))
    assert table.guessed == tuple(names.split(","))
    assert len(table) == len(PLACES)
    pairs = [pair for pair in (("lon", "lat"), ("longitude", "latitude")) if pair[0] in table.columns]
    for east, north in pairs:
        np.testing.assert_allclose([table.numbers(east)[3], table.numbers(north)[3]], PLACES[3], atol=1e-5)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            lambda k, x, y: f"1,{1213084687 + k},{x - 125:.5f},{y:.5f}",
            r"add --header id,time,lon,lat \(both orders of lon and lat would",
        ),
        (
            lambda k, x, y: f"4;{1213084687 + k};POINT({y} {x - 104})",
            r"add --header id,time,latlon or --header id,time,lonlat$",
        ),
        (
            lambda k, x, y: f"{k % 3},{1000 * x:.2f},{1000 * y:.2f}",
            r"if these are id, x, y, add --header id,x,y$",
        ),
    ],
    ids=["degrees", "degrees in one cell", "no order of the rows"],
)
def test_what_values_do_not_show_for_sure_is_only_proposed(tmp_path, line, sentence):
    with pytest.raises(BadDataset, match=sentence):
        read_table(lines(tmp_path / "a.txt", line))


def test_told_names_replace_a_header_and_say_which_degree_comes_first(tmp_path):
    (tmp_path / "a.csv").write_text("a,a\n1,2\n")
    assert read_table(tmp_path / "a.csv", ["x", "y"]).numbers("y").tolist() == [2.0]
    path = lines(tmp_path / "a.txt", lambda k, x, y: f"4;{1213084687 + k};POINT({y} {x - 104})")
    for name, axis in (("latlon", "latitude"), ("lonlat", "longitude")):
        assert read_table(path, ["id", "time", name]).numbers(axis)[0] == PLACES[0][1]


def test_names_that_were_taken_are_told(tmp_path):
    path = lines(tmp_path / "a.txt", lambda k, x, y: f"{1000 * x:.2f} {1000 * y:.2f} {40.5 * k}")
    found = read_recordings([path], Columns(), None).findings[1]
    assert found.done == "no header: taken for x, y, time; --header gives other names"
    assert read_recordings([path], Columns(header="x,y,time"), None).findings[1].done == ""
