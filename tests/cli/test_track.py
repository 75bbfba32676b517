"""Trackers on fixed paths, with the weights of the package."""

import pytest

from chronoforest.bench.run import read_trials
from chronoforest.cli import main

MEDIUM = "pointmaze-medium-stitch-v0"


def track(tmp_path, *options):
    return main(["bench", "track", "--preset", MEDIUM, "--episodes", "1", "--out", str(tmp_path), *options])


def test_a_tracker_follows_the_centres_and_the_record_names_it(tmp_path, capsys):
    assert track(tmp_path, "--markdown") == 0
    printed = capsys.readouterr().out
    assert "| all (5) | 100.0 %" in printed
    assert "falls per 1000 steps" in printed
    trials = read_trials(tmp_path / "track.jsonl")
    assert {(trial.case.choice.tracker, trial.case.reference) for trial in trials} == {("awr", "centres")}
    assert track(tmp_path, "--tracker", "awr") == 0
    assert "5 of 5 trials were there already" in capsys.readouterr().out
    assert track(tmp_path, "--look", "2") == 0
    assert len(read_trials(tmp_path / "track.jsonl")) == 10


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--tracker", "sac"], "unknown tracker 'sac'; available: awr, bc, diffusion-ql"),
        (["--tracker", "bc"], "tracker-bc.safetensors; "),
        (["--reference", "straight"], "unknown reference 'straight'; available: centres"),
        (["--look", "-1"], "look_ahead must be above 0, got -1"),
    ],
)
def test_what_cannot_be_tracked_is_said_in_one_line(options, sentence, tmp_path, capsys):
    assert track(tmp_path, *options) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
