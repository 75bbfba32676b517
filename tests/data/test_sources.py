"""Folders and archives: all files that can be read, and what could not be is told."""

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


def packed(folder):
    archive = folder.parent / "tracks.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.rglob("*.*"):
            file.write(path, path.relative_to(folder))
    return archive


def findings(result):
    return {finding.check: f"{finding.found} | {finding.done}" for finding in result.findings}


@pytest.mark.parametrize("is_packed", [False, True])
def test_all_files_below_a_folder_are_recordings_and_others_are_told(folder, is_packed):
    source = packed(folder) if is_packed else folder
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
    for path in (folder / "000").iterdir():
        path.write_text("1,2\n")
    with pytest.raises(BadDataset, match=r"000/1\.csv: the first row must name every column"):
        import_files([folder / "000"], Columns(), ImportParams())
