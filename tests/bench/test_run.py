import json
import os
from dataclasses import replace

import numpy as np
import pytest
from fake_planner import FakePlanner

from chronoforest.bench.run import ShippedWalker, read_trials, run_cases
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import make_cases
from chronoforest.errors import (
    BadCheckpoint,
    BadResult,
    CannotWrite,
    ChronoForestError,
    InvalidParameter,
    UnknownPreset,
)
from chronoforest.presets.named import get_preset

GIANT = "pointmaze-giant-stitch-v0"
CASES = make_cases(Case("pairs", GIANT, 0, 0), 6)


def load(preset, mode):
    return FakePlanner(preset)


def refuse(preset, mode):
    raise UnknownPreset(preset, choices=["another"])


def failing_after(num_trials):
    """A planner whose process is killed after some trials."""
    planner = FakePlanner(GIANT)
    original = planner.plan

    def plan(*args, **options):
        if len(planner.asked) == num_trials:
            raise KeyboardInterrupt
        return original(*args, **options)

    planner.plan = plan
    return lambda preset, mode: planner


def test_an_interrupted_run_continues_and_equals_an_uninterrupted_one(tmp_path):
    whole = run_cases(CASES, tmp_path / "whole.jsonl", load)
    with pytest.raises(KeyboardInterrupt):
        run_cases(CASES, tmp_path / "parts.jsonl", failing_after(4))
    assert len(read_trials(tmp_path / "parts.jsonl")) == 4
    seen = []
    parts = run_cases(CASES, tmp_path / "parts.jsonl", load, on_progress=lambda *counts: seen.append(counts))
    assert parts == whole
    assert seen == [(5, 6), (6, 6)]
    assert (tmp_path / "parts.jsonl").read_text() == (tmp_path / "whole.jsonl").read_text()


def test_a_torn_last_line_is_run_again(tmp_path):
    path = tmp_path / "trials.jsonl"
    whole = run_cases(CASES, path, load)
    text = path.read_text()
    path.write_text(text[:-40])
    assert len(read_trials(path)) == 5
    assert run_cases(CASES, path, load) == whole
    assert path.read_text() == text


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "trials.jsonl"
    run_cases(CASES[:2], path, load)
    first, second, _ = path.read_text().split("\n")
    path.write_text(f"{first[:50]}\n{second}\n")
    with pytest.raises(BadResult, match="line 1 is not a trial"):
        run_cases(CASES, path, load)


def test_workers_give_the_same_trials_in_the_same_order(tmp_path):
    alone = run_cases(CASES, tmp_path / "alone.jsonl", load)
    together = run_cases(CASES, tmp_path / "together.jsonl", load, workers=2)
    assert together == alone
    lines = (tmp_path / "together.jsonl").read_text().splitlines()
    assert len(lines) == len(CASES)
    assert all(json.loads(line)["case"]["suite"] == "pairs" for line in lines)


def test_variants_share_a_file(tmp_path):
    path = tmp_path / "trials.jsonl"
    run_cases(CASES[:2], path, load)
    others = [replace(case, variant="temporal-fixed") for case in CASES[:2]]
    assert [trial.case for trial in run_cases(others, path, load)] == others
    assert len(read_trials(path)) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_is_its_sentence(tmp_path, workers):
    with pytest.raises(ChronoForestError, match=r"unknown preset .* available: another"):
        run_cases(CASES, tmp_path / "trials.jsonl", refuse, workers)


def test_bad_requests_say_what_is_wrong(tmp_path):
    with pytest.raises(InvalidParameter, match="workers must be at least 1, got 0"):
        run_cases(CASES, tmp_path / "trials.jsonl", load, workers=0)
    (tmp_path / "file").write_text("")
    with pytest.raises((CannotWrite, BadResult)):
        run_cases(CASES[:1], tmp_path / "file" / "trials.jsonl", load)
    assert os.listdir(tmp_path) == ["file"]


def test_trackers_are_loaded_alone_and_by_name(tmp_path):
    """The weights of the package hold the preset's own; another folder may hold others."""
    walker = ShippedWalker()(GIANT, "default")
    assert walker.execution == get_preset(GIANT).execution
    assert walker.tracker(np.zeros(2), np.ones(2)).shape == (2,)
    with pytest.raises(BadCheckpoint, match=r"tracker-bc\.safetensors; .* has tracker\.safetensors"):
        ShippedWalker(tracker="bc")(GIANT, "default")
    own = get_preset(GIANT).weights / "tracker.safetensors"
    (tmp_path / "tracker-bc.safetensors").write_bytes(own.read_bytes())
    again = ShippedWalker(tmp_path, "bc")(GIANT, "default").tracker
    np.testing.assert_array_equal(again(np.zeros(2), np.ones(2)), walker.tracker(np.zeros(2), np.ones(2)))
    with pytest.raises(BadCheckpoint, match=f"was trained for '{GIANT}'"):
        ShippedWalker(tmp_path, "bc")(GIANT.replace("giant", "large"), "default")
