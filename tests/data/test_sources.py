"""Folders and archives: all files that can be read, and what could not be is told."""

import io
import tarfile
import zipfile

import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
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
    if name.endswith((".tar.gz", ".tgz")):
        with tarfile.open(archive, "w:gz") as tar:
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
    with pytest.raises(BadDataset, match=r"a\.tar is damaged .*: nothing in it can be unpacked$"):
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
