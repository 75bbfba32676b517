"""Files, folders and archives: all that can be read, and what could not be is told with what to do."""

import bz2
import gzip
import importlib
import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import tracemalloc
import zipfile

import numpy as np
import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files, read_recordings
from chronoforest.data.read import FORMATS, opened, read_table
from chronoforest.errors import BadDataset, MissingExtra


def track(k, num_rows=30):
    return "time,lat,lon\n" + "".join(f"{t},{47 + 1e-4 * t},{11 + 1e-4 * k * t}\n" for t in range(num_rows))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Data" / "000").mkdir(parents=True)
    for k in (1, 2, 3):
        (tmp_path / "Data" / "000" / f"{k}.csv").write_text(track(k))
    (tmp_path / "Data" / "labels.txt").write_text("from\tto\tmode\n1\t2\tbus\n")
    (tmp_path / "Data" / "guide.pdf").write_text("no track")
    (tmp_path / "Data" / ".hidden.csv").write_text("no track")
    return tmp_path / "Data"


def packed(folder, name):
    archive = folder.parent / name
    if name.endswith((".tar", ".tar.gz", ".tgz")):
        with tarfile.open(archive, "w" if name.endswith(".tar") else "w:gz") as tar:
            tar.add(folder, arcname=".")
        return archive
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.rglob("*.*"):
            file.write(path, path.relative_to(folder))
    return archive


def imported(*sources, **params):
    return import_files(sources, Columns(), ImportParams(**params))


def findings(result):
    return {finding.check: f"{finding.found} | {finding.done}" for finding in result.findings}


@pytest.mark.parametrize("archive", ["", "tracks.zip", "tracks.tar.gz", "tracks.tgz"])
def test_all_files_below_a_folder_are_recordings_and_others_are_told(folder, archive):
    source = packed(folder, archive) if archive else folder
    result = imported(source, length=30)
    assert result.episodes.recording.tolist() == [0, 1, 2]
    assert "read from 3 files" in findings(result)["recordings"]
    assert f"1, for example {source / 'labels.txt'}: no columns" in findings(result)["other files"]
    assert result.episodes.metadata["files"] == [source.name]
    (folder / "000" / "4.csv").write_text("x,y\n")
    again = packed(folder, archive) if archive else folder
    assert f"2, for example {again / '000' / '4.csv'}: no rows" in findings(imported(again))["other files"]


def test_a_file_that_was_named_itself_must_be_sound(folder):
    with pytest.raises(BadDataset, match=r"labels\.txt: no columns"):
        imported(folder / "000", folder / "labels.txt")


def test_a_folder_without_tracks_and_an_archive_that_is_none_are_refused(folder):
    (folder / "empty").mkdir()
    (folder / "a.zip").write_bytes(b"PK no archive")
    (folder / "a.tar").write_bytes(b"no archive")
    (folder / "bad").mkdir()
    (folder / "bad" / "1.csv").write_text("1,2\n")
    for name, sentence in (
        ("empty", r"empty: no file that can be read in it; known are \.csv"),
        ("a.zip", r"a\.zip is damaged or not a zip archive"),
        ("a.tar", r"a\.tar is damaged or not a tar archive"),
        ("bad", r"bad/1\.csv: the first row must name every column"),
    ):
        with pytest.raises(BadDataset, match=sentence):
            imported(folder / name)


def test_what_a_tar_wants_to_write_elsewhere_is_left_out(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name in ("../outside.csv", "/tmp/outside.csv", "inside.csv"):
            member = tarfile.TarInfo(name)
            member.size = len(track(1))
            tar.addfile(member, io.BytesIO(track(1).encode()))
        link = tarfile.TarInfo("link.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert "read from 1 file" in findings(imported(tmp_path / "a.tar", length=15))["recordings"]


def test_files_without_times_do_not_mix_with_files_that_have_them(tmp_path):
    for k in (1, 2, 3):
        (tmp_path / f"{k}.csv").write_text(track(k))
    (tmp_path / "0.csv").write_text("lat,lon\n" + "".join(f"{47 + 1e-4 * k},11.0\n" for k in range(40)))
    result = imported(tmp_path, length=30)
    assert result.episodes.frame.step_seconds == 1.0
    assert "1 files without times" in findings(result)["mixed clocks"]
    assert "0.csv | left out" in findings(result)["mixed clocks"]


def test_an_archive_with_two_files_of_one_name_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("same.csv", track(1))
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("same.csv", track(2))
    with pytest.raises(BadDataset, match=r"same\.csv"):
        imported(tmp_path / "a.zip")


@pytest.mark.parametrize("pack", [gzip.open, bz2.open, lzma.open])
def test_no_more_is_unpacked_than_memory_suffices_for(tmp_path, pack):
    path = tmp_path / f"a.csv{ {gzip.open: '.gz', bz2.open: '.bz2', lzma.open: '.xz'}[pack] }"
    with pack(path, "wb") as file:
        for _ in range(64):
            file.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(BadDataset, match=r"GiB.*--max-gib"):
        imported(path, max_gib=4 / 1024)
    assert tracemalloc.get_traced_memory()[1] < 32 * 2**20  # of 64; xz alone keeps a dictionary of 8
    tracemalloc.stop()


def test_a_huge_table_is_refused_by_its_size_alone(tmp_path):
    with (tmp_path / "a.csv").open("wb") as file:
        file.truncate(2**43)
    with pytest.raises(BadDataset, match=r"a\.csv holds 8\.19e\+03 GiB"):
        imported(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz"])
def test_an_archive_with_a_huge_table_is_refused_before_it_is_unpacked(folder, name):
    (folder / "000" / "4.csv").write_bytes(bytes(2**23))
    archive = packed(folder, name)
    with pytest.raises(BadDataset, match=rf"{archive}: '[^']*4\.csv' holds 0\.00781 GiB"):
        imported(archive, max_gib=1 / 1024)
    assert imported(archive, max_gib=1, length=30).episodes is not None


def test_arrays_and_columns_are_bounded_by_what_they_hold_and_not_by_their_file(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(2**20), y=np.zeros(2**20))
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = importlib.import_module("pyarrow").table({"x": np.random.default_rng(0).random(2**20)})
    parquet.write_table(rows, tmp_path / "a.parquet")
    for name in ("a.npz", "a.parquet"):
        with pytest.raises(BadDataset, match="--max-gib"):
            imported(tmp_path / name, max_gib=1 / 1024)


def test_what_a_killed_import_left_is_removed_by_the_next(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import os, signal, sys; from chronoforest.data.read import opened\n"
        "with opened([sys.argv[1]]): os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(packed(folder, "a.zip"))], env=environment, check=False)
    assert list(tmp_path.glob("chronoforest-import-*"))
    with opened([folder]):
        assert len(list(tmp_path.glob("chronoforest-import-*"))) == 1
    assert not list(tmp_path.glob("chronoforest-import-*"))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ride.fit", "gpsbabel -i garmin_fit -f ride.fit -o gpx -F ride.gpx$"),
        ("fixes.nmea", "gpsbabel -i nmea -f fixes.nmea -o gpx"),
        ("roads.gml", "ogr2ogr -f GeoJSON roads.geojson roads.gml$"),
        ("walk.pkl", "pickles are not opened, because they can run programs; save its arrays with np.savez"),
        ("maze.hdf5", "save its arrays with np.savez"),
        ("fleet.xlsx", "save it as CSV"),
        ("day.7z", "unpack it"),
    ],
)
def test_what_is_not_read_is_refused_with_what_to_do_about_it(tmp_path, name, sentence):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_bytes(b"\x80\x04.")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as file:
        file.write(folder / name, name)
    for source in (folder / name, folder, tmp_path / "all.zip"):
        with pytest.raises(BadDataset, match=sentence):
            read_recordings([source], Columns(), None)


def test_an_unknown_ending_lists_the_known_ones_and_a_missing_file_and_a_folder_are_none(tmp_path):
    with pytest.raises(BadDataset) as error:
        read_table(tmp_path / "a.doc")
    assert all(ending in str(error.value) for ending in FORMATS)
    (tmp_path / "folder.csv").mkdir()
    for name in ("none.csv", "folder.csv"):
        with pytest.raises(BadDataset, match="no such file"):
            read_table(tmp_path / name)


def test_without_the_extra_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr("chronoforest.names.import_module", refuse)
    for name, extra in (
        ("a.parquet", "parquet"),
        ("a.feather", "parquet"),
        ("a.gpx", "geo"),
        ("a.mcap", "robot"),
    ):
        (tmp_path / name).write_bytes(b"PAR1")
        with pytest.raises(MissingExtra, match=rf"^this needs .*chronoforest\[{extra}\]"):
            read_table(tmp_path / name)
    with pytest.raises(MissingExtra, match=r"needs minari; .*chronoforest\[minari\]"):
        read_table("minari:some/dataset-v0")


def test_parquet_and_arrow_keep_names_and_types_and_lists_become_columns(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet, feather = (importlib.import_module(f"pyarrow.{name}") for name in ("parquet", "feather"))
    when = np.array(["2026-05-01T10:00:00", "2026-05-01T10:00:01"], dtype="datetime64[ms]")
    rows = pyarrow.table({"x": [1.0, None], "trip": ["a", "b"], "t": when, "state": [[1.0, 2.0], [3.0, 4.0]]})
    parquet.write_table(rows, tmp_path / "a.parquet")
    for name in ("a.feather", "a.arrow"):
        feather.write_feather(rows, tmp_path / name)
    for name in ("a.parquet", "a.feather", "a.arrow"):
        table = read_table(tmp_path / name)
        np.testing.assert_array_equal(table.numbers("x"), [1.0, np.nan])
        assert table.labels("trip") == ["a", "b"]
        assert np.diff(table.clock("t").seconds).tolist() == [1.0]
        assert table.numbers("state.1").tolist() == [2.0, 4.0]
