"""`python -m benchmarks stitch` and the like, on a planner that draws straight lines."""

import importlib.util

import pytest
from fake_planner import FakePlanner

from benchmarks.__main__ import main
from benchmarks.run import read_trials

MEDIUM = "pointmaze-medium-stitch-v0"


@pytest.fixture(autouse=True)
def planners(monkeypatch):
    """The commands load the fake; returns the choices that they loaded it for."""
    asked = []

    def load(choice):
        asked.append(choice)
        return FakePlanner(choice.preset)

    monkeypatch.setattr("chronoforest.peers.registry.load", load)
    return asked


@pytest.mark.parametrize("suite", ["stitch", "pairs", "multi", "order"])
def test_bench_runs_prints_and_resumes(suite, tmp_path, capsys):
    command = [suite, "--preset", MEDIUM, "--episodes", "2", "--out", str(tmp_path), "--markdown"]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "| all (" in first
    trials = read_trials(tmp_path / f"{suite}.jsonl")
    assert len(trials) == (10 if suite == "stitch" else 2)
    assert main(command) == 0
    again = capsys.readouterr().out
    assert (
        again
        == f"{tmp_path / suite}.jsonl: {len(trials)} of {len(trials)} trials were there already, kept\n"
        + first
    )


def test_bench_refuses_bad_counts(tmp_path, capsys, planners):
    for options, sentence in (
        (["stitch", "--episodes", "0"], "episodes must be at least 1, got 0"),
        (["pairs", "--workers", "0"], "workers must be at least 1, got 0"),
        (["multi", "--agents", "0"], "got 0 agents"),
        (["stitch", "--preset", "nowhere"], "unknown preset 'nowhere'"),
    ):
        words = options if "--preset" in options else [*options, "--preset", MEDIUM]
        assert main([*words, "--out", str(tmp_path)]) == 2
        assert sentence in capsys.readouterr().err
    assert not planners


def test_a_peer_is_measured_by_name_and_its_records_carry_it(tmp_path, planners):
    peer = ["--preset", MEDIUM, "--planner", "dataset-graph", "--data", "recordings"]
    assert main(["pairs", *peer, "--episodes", "1", "--out", str(tmp_path)]) == 0
    assert [(choice.planner, str(choice.data)) for choice in planners] == [("dataset-graph", "recordings")]
    assert read_trials(tmp_path / "pairs.jsonl")[0].case.choice.planner == "dataset-graph"


def lack(monkeypatch, module):
    """Let a module look as if it were not installed."""
    found = importlib.util.find_spec
    monkeypatch.setattr("chronoforest.names.find_spec", lambda name: None if name == module else found(name))


def test_walks_need_no_library_of_videos(tmp_path, monkeypatch):
    lack(monkeypatch, "imageio_ffmpeg")
    assert main(["stitch", "--preset", MEDIUM, "--episodes", "1", "--out", str(tmp_path)]) == 0
