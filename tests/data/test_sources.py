"""Folders and archives: all files that can be read, and what could not be is told."""

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
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.data.read import opened
from chronoforest.errors import BadDataset


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


def findings(result):
    return {finding.check: f"{finding.found} | {finding.done}" for finding in result.findings}


@pytest.mark.parametrize("archive", ["", "tracks.zip", "tracks.tar.gz", "tracks.tgz"])
def test_all_files_below_a_folder_are_recordings_and_others_are_told(folder, archive):
    source = packed(folder, archive) if archive else folder
    result = import_files([source], Columns(), ImportParams(length=30))
    assert result.episodes.recording.tolist() == [0, 1, 2]
    assert "read from 3 files" in findings(result)["recordings"]
    assert f"1, for example {source / 'labels.txt'}: no columns" in findings(result)["other files"]
    assert result.episodes.metadata["files"] == [source.name]


def test_a_file_that_was_named_itself_must_be_sound(folder):
    with pytest.raises(BadDataset, match=r"labels\.txt: no columns"):
        import_files([folder / "000", folder / "labels.txt"], Columns(), ImportParams())


def test_a_folder_without_tracks_and_an_archive_that_is_none_are_refused(folder):
    (folder / "empty").mkdir()
    with pytest.raises(BadDataset, match=r"empty: no file that can be read in it; known are \.csv"):
        import_files([folder / "empty"], Columns(), ImportParams())
    (folder / "a.zip").write_bytes(b"PK no archive")
    with pytest.raises(BadDataset, match=r"a\.zip is damaged or not a zip archive"):
        import_files([folder / "a.zip"], Columns(), ImportParams())
    (folder / "a.tar").write_bytes(b"no archive")
    with pytest.raises(BadDataset, match=r"a\.tar is damaged or not a tar archive"):
        import_files([folder / "a.tar"], Columns(), ImportParams())
    for path in (folder / "000").iterdir():
        path.write_text("1,2\n")
    with pytest.raises(BadDataset, match=r"000/1\.csv: the first row must name every column"):
        import_files([folder / "000"], Columns(), ImportParams())


def test_what_a_tar_wants_to_write_elsewhere_is_left_out(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name in ("../outside.csv", "/tmp/outside.csv", "inside.csv"):
            content = track(1).encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("link.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    result = import_files([tmp_path / "a.tar"], Columns(), ImportParams(length=15))
    assert "read from 1 file" in findings(result)["recordings"]


def test_files_without_times_do_not_mix_with_files_that_have_them(tmp_path):
    for k in (1, 2, 3):
        (tmp_path / f"{k}.csv").write_text(track(k))
    (tmp_path / "0.csv").write_text("lat,lon\n" + "".join(f"{47 + 1e-4 * k},11.0\n" for k in range(40)))
    result = import_files([tmp_path], Columns(), ImportParams(length=30))
    assert result.episodes.frame.step_seconds == 1.0
    assert "1 files without times" in findings(result)["mixed clocks"]
    assert "0.csv | left out" in findings(result)["mixed clocks"]


def test_an_archive_with_two_files_of_one_name_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("same.csv", track(1))
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("same.csv", track(2))
    with pytest.raises(BadDataset, match=r"same\.csv"):
        import_files([tmp_path / "a.zip"], Columns(), ImportParams())


@pytest.mark.parametrize("pack", [gzip.open, bz2.open, lzma.open])
def test_no_more_is_unpacked_than_memory_suffices_for(tmp_path, pack):
    path = tmp_path / f"a.csv{ {gzip.open: '.gz', bz2.open: '.bz2', lzma.open: '.xz'}[pack] }"
    with pack(path, "wb") as file:
        for _ in range(64):
            file.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(BadDataset, match=r"GiB.*--max-gib"):
        import_files([path], Columns(), ImportParams(max_gib=4 / 1024))
    assert tracemalloc.get_traced_memory()[1] < 32 * 2**20  # of 64; xz alone keeps a dictionary of 8
    tracemalloc.stop()


def test_a_huge_table_is_refused_by_its_size_alone(tmp_path):
    with (tmp_path / "a.csv").open("wb") as file:
        file.truncate(2**43)
    with pytest.raises(BadDataset, match=r"a\.csv holds 8\.19e\+03 GiB"):
        import_files([tmp_path / "a.csv"], Columns(), ImportParams())


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz"])
def test_an_archive_with_a_huge_table_is_refused_before_it_is_unpacked(folder, name):
    (folder / "000" / "4.csv").write_bytes(bytes(2**23))
    archive = packed(folder, name)
    with pytest.raises(BadDataset, match=rf"{archive}: '[^']*4\.csv' holds 0\.00781 GiB"):
        import_files([archive], Columns(), ImportParams(max_gib=1 / 1024))
    assert import_files([archive], Columns(), ImportParams(max_gib=1, length=30)).episodes is not None


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


def test_arrays_and_columns_are_bounded_by_what_they_hold_and_not_by_their_file(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(2**20), y=np.zeros(2**20))
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = importlib.import_module("pyarrow").table({"x": np.random.default_rng(0).random(2**20)})
    parquet.write_table(rows, tmp_path / "a.parquet")
    for name in ("a.npz", "a.parquet"):
        with pytest.raises(BadDataset, match="--max-gib"):
            import_files([tmp_path / name], Columns(), ImportParams(max_gib=1 / 1024))


@pytest.mark.parametrize("apart", [3, 200])
def test_bodies_beside_each_other_in_one_recording_are_refused(tmp_path, apart):
    rng = np.random.default_rng(0)
    starts = np.array([(apart * k, 0) for k in range(6)])
    ways = [start + np.cumsum(rng.normal((1, 0.3), 1, (300, 2)), axis=0) for start in starts]
    rows = "".join(f"1,{t},{way[t][0]},{way[t][1]}\n" for t in range(300) for way in ways)
    (tmp_path / "a.csv").write_text(f"trip,time,x,y\n{rows}")
    with pytest.raises(BadDataset, match="--episode"):
        import_files([tmp_path / "a.csv"], Columns(), ImportParams())
