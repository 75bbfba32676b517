import os

import pytest

from chronoforest.cli import main
from chronoforest.files import locked

NAME = "pointmaze-medium-stitch-v0"


def test_inspect_refuses_a_foreign_file(tmp_path, capsys):
    (tmp_path / "notes.npz").write_text("hello")
    assert main(["data", "inspect", str(tmp_path / "notes.npz")]) == 2
    assert "not an .npz dataset" in capsys.readouterr().err


def test_fetch_without_a_network_names_generate(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ogbench.utils.DATASET_URL", "http://127.0.0.1:9/ogbench")
    assert main(["data", "fetch", NAME, "--out-dir", str(tmp_path)]) == 2
    assert f"`python -m benchmarks generate {NAME}`" in capsys.readouterr().err


def test_a_second_import_to_one_file_is_refused_while_the_first_runs(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("t,x,y\n" + "".join(f"{k},{k},{k % 7}\n" for k in range(40)))
    out = tmp_path / "a.npz"
    command = ["data", "import", str(tmp_path / "a.csv"), "--out", str(out)]
    with locked(out):
        assert main(command) == 2
    assert f"{out} is in use by process {os.getpid()}" in capsys.readouterr().err
    assert not out.exists()
    assert main(command) == 0


LONG = "x" * 400


@pytest.mark.parametrize(
    "words",
    [
        ["data", "inspect", f"{LONG}.npz"],
        ["preset", "new", "own", "--data", f"{LONG}.npz"],
        ["train", "density", "--preset", NAME, "--data", LONG],
        ["run", "--preset", NAME, "--task", "1", "--weights", LONG],
    ],
)
def test_a_path_too_long_for_a_file_is_refused(words, capsys):
    assert main(words) == 2
    assert LONG in capsys.readouterr().err


@pytest.mark.parametrize("picture", ["-inf", "nan", "a.mp4"])
def test_a_picture_of_another_ending_is_refused_before_the_dataset_is_read(picture, capsys):
    assert main(["data", "inspect", "nowhere.npz", f"--png={picture}"]) == 2
    assert picture in capsys.readouterr().err
