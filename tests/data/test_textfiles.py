"""Text as programs write it: encodings, separators, comments, broken lines, tracks of GeoLife."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

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
    np.testing.assert_array_equal(table.numbers("x"), [1.0, np.nan, np.nan])
    np.testing.assert_array_equal(table.numbers("y"), [2.0, np.nan, np.nan])


def test_a_few_broken_lines_become_empty_and_many_are_refused(tmp_path):
    whole = "x,y\n" + "1,2\n" * 200
    assert np.isnan(read(tmp_path / "a.csv", whole + "1").numbers("x")).sum() == 1
    with pytest.raises(BadDataset, match="row 201 has 1 cells, the header names 2"):
        read(tmp_path / "a.csv", whole + "1\n" * 9)


def test_a_geolife_track_has_places_and_times(tmp_path):
    table = read(tmp_path / "a.plt", GEOLIFE + FIXES)
    assert table.numbers("longitude").tolist() == [116.3, 116.4]
    assert np.diff(table.clock("time").seconds).tolist() == [6.0]
    with pytest.raises(BadDataset, match=r"a\.plt: empty"):
        read(tmp_path / "a.plt", GEOLIFE)
    with pytest.raises(BadDataset, match="row 1 has 2 cells"):
        read(tmp_path / "a.plt", GEOLIFE + "1,2\n")


def test_columns_without_a_name_and_names_that_come_again_are_numbered(tmp_path):
    (tmp_path / "a.csv").write_text(",x,y,v,v\n0,1,2,3,4\n")
    assert list(read_table(tmp_path / "a.csv").columns) == ["column1", "x", "y", "v", "v5"]


@pytest.mark.parametrize("separator", [",", ";"])
def test_titles_above_the_header_are_skipped(tmp_path, separator):
    rows = "".join(f"{k}{separator}{k}.5{separator}{-k}.25\n" for k in range(20))
    text = f"Fleet report\nDays{separator}3\n\n{separator.join(('t', 'x', 'y'))}\n{rows}"
    (tmp_path / "a.csv").write_text(text)
    assert read_table(tmp_path / "a.csv").numbers("x").tolist() == [k + 0.5 for k in range(20)]


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
