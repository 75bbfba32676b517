"""Trackers on fixed paths, with the weights of the package."""

from benchmarks.__main__ import main
from benchmarks.run import read_trials

MEDIUM = "pointmaze-medium-stitch-v0"


def track(tmp_path, *options):
    return main(["track", "--preset", MEDIUM, "--episodes", "1", "--out", str(tmp_path), *options])


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
