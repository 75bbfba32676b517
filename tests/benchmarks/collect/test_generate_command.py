"""`python -m benchmarks generate`, and what `chronoforest data inspect` tells of its files."""

import pytest
from tiny_ant import write_ant_expert

from benchmarks.__main__ import main
from benchmarks.collect.expert import load_expert
from chronoforest.data.episodes import load

NAME = "pointmaze-medium-stitch-v0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("data")
    options = ["--out-dir", str(out), "--episodes", "3", "--val-episodes", "1", "--workers", "1"]
    assert main(["generate", NAME, *options]) == 0
    return out


def test_generate_writes_both_files(folder):
    train, validation = load(folder / f"{NAME}.npz"), load(folder / f"{NAME}-val.npz")
    assert (len(train), len(validation)) == (3, 1)
    assert train.metadata["split"] == "train"
    assert validation.metadata["split"] == "val"


@pytest.mark.parametrize("option", ["--episodes", "--val-episodes"])
@pytest.mark.parametrize("count", ["0", "99999999999999999999"])
def test_generate_refuses_a_number_of_episodes_before_it_records_any(option, count, tmp_path, capsys):
    assert main(["generate", NAME, "--out-dir", str(tmp_path / "new"), option, count]) == 2
    assert f"got {count}" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_an_ants_expert_walks_and_generate_tells_how(tmp_path, capsys):
    name = "antmaze-medium-stitch-v0"
    expert = write_ant_expert(tmp_path / "expert.safetensors")
    options = ["--out-dir", str(tmp_path), "--episodes", "2", "--val-episodes", "1", "--workers", "1"]
    assert main(["generate", name, *options, "--expert", str(expert)]) == 0
    episodes = load(tmp_path / f"{name}.npz")
    assert episodes.observations.shape == (2, 201, 29)
    assert episodes.metadata["expert"] == load_expert(expert).name
    printed = capsys.readouterr().out
    for words in ("of 2", "within 0.5", "away from the goal", "at the end"):
        assert words in printed
