import pytest
from tiny_ant import write_ant_expert

from chronoforest.cli import main
from chronoforest.collect.expert import load_expert
from chronoforest.data.episodes import load

NAME = "pointmaze-medium-stitch-v0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("data")
    options = ["--out-dir", str(out), "--episodes", "3", "--val-episodes", "1", "--workers", "1"]
    assert main(["data", "generate", NAME, *options]) == 0
    return out


def test_generate_writes_both_files(folder):
    train, validation = load(folder / f"{NAME}.npz"), load(folder / f"{NAME}-val.npz")
    assert (len(train), len(validation)) == (3, 1)
    assert train.metadata["split"] == "train"
    assert validation.metadata["split"] == "val"


def test_generate_again_keeps_the_files_and_says_so(folder, capsys):
    options = ["--out-dir", str(folder), "--episodes", "3", "--val-episodes", "1"]
    assert main(["data", "generate", NAME, *options]) == 0
    assert capsys.readouterr().out.count("was there already, kept") == 2


def test_generate_never_overwrites_other_data(folder, capsys):
    assert main(["data", "generate", NAME, "--out-dir", str(folder), "--seed", "1"]) == 2
    assert "was made otherwise" in capsys.readouterr().err


def test_generate_of_an_unknown_name_lists_the_known_ones(tmp_path, capsys):
    assert main(["data", "generate", "pointmaze-tiny-stitch-v0", "--out-dir", str(tmp_path / "new")]) == 2
    assert "pointmaze-giant-stitch-v0" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_inspect_prints_and_draws(folder, capsys):
    file, picture = folder / f"{NAME}.npz", folder / "pictures" / "coverage.png"
    assert main(["data", "inspect", str(file), "--png", str(picture)]) == 0
    printed = capsys.readouterr().out
    for word in ("3 of 201 steps", "units/step", "jumps", load(file).fingerprint, str(picture)):
        assert word in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_ants_expert_walks_and_inspect_tells_how(tmp_path, capsys):
    name = "antmaze-medium-stitch-v0"
    expert = write_ant_expert(tmp_path / "expert.safetensors")
    options = ["--out-dir", str(tmp_path), "--episodes", "2", "--val-episodes", "1", "--workers", "1"]
    assert main(["data", "generate", name, *options, "--expert", str(expert)]) == 0
    episodes = load(tmp_path / f"{name}.npz")
    assert episodes.observations.shape == (2, 201, 29)
    assert episodes.metadata["expert"] == load_expert(expert).name
    assert main(["data", "inspect", str(tmp_path / f"{name}.npz")]) == 0
    printed = capsys.readouterr().out
    for words in ("of 2", "within 0.5", "away from the goal", "at the end"):
        assert words in printed


def test_an_ant_without_an_expert_names_the_command_that_trains_one(tmp_path, capsys):
    missing = str(tmp_path / "expert.safetensors")
    assert main(["data", "generate", "antmaze-medium-stitch-v0", "--expert", missing]) == 2
    assert "`python -m benchmarks expert` trains one" in capsys.readouterr().err


def test_inspect_refuses_a_foreign_file(tmp_path, capsys):
    (tmp_path / "notes.npz").write_text("hello")
    assert main(["data", "inspect", str(tmp_path / "notes.npz")]) == 2
    assert "not an .npz dataset" in capsys.readouterr().err


def test_fetch_without_a_network_names_generate(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ogbench.utils.DATASET_URL", "http://127.0.0.1:9/ogbench")
    assert main(["data", "fetch", NAME, "--out-dir", str(tmp_path)]) == 2
    assert f"`chronoforest data generate {NAME}`" in capsys.readouterr().err
