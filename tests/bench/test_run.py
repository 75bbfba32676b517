import gzip
import json
import os
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest
from fake_planner import FakePlanner
from protocol_runs import make_cases

from chronoforest.bench.case import Case
from chronoforest.bench.protocol import PAIRS, load_walker
from chronoforest.bench.run import read_records, read_trials, run_cases
from chronoforest.bench.trials import Origin, Trial, fingerprint
from chronoforest.engines import Answer
from chronoforest.errors import (
    BadCheckpoint,
    BadResult,
    CannotWrite,
    ChronoForestError,
    InvalidParameter,
    UnknownPreset,
)
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.named import get_preset

GIANT = "pointmaze-giant-stitch-v0"
CASES = make_cases(Case("pairs", PlannerChoice(GIANT)), 6)


def load_fake(choice):
    return FakePlanner(choice.preset)


def load_nothing(choice):
    raise UnknownPreset(choice.preset, choices=["another"])


FAKE = replace(PAIRS, load=load_fake)
REFUSED = replace(PAIRS, load=load_nothing)


def failing_after(num_trials):
    """A planner whose process is killed after some trials."""
    planner = FakePlanner(GIANT)
    original = planner.plan

    def plan(*args, **options):
        if len(planner.asked) == num_trials:
            raise KeyboardInterrupt
        return original(*args, **options)

    planner.plan = plan
    return replace(PAIRS, load=lambda choice: planner)


def test_an_interrupted_run_continues_and_equals_an_uninterrupted_one(tmp_path):
    whole = run_cases(FAKE, CASES, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run_cases(failing_after(4), CASES, tmp_path / "parts")
    assert len(read_trials(tmp_path / "parts" / "pairs.jsonl")) == 4
    seen = []
    parts = run_cases(FAKE, CASES, tmp_path / "parts", on_progress=lambda *counts: seen.append(counts))
    assert parts == whole
    assert seen == [(5, 6), (6, 6)]
    assert (tmp_path / "parts" / "pairs.jsonl").read_text() == (
        tmp_path / "whole" / "pairs.jsonl"
    ).read_text()


def test_a_torn_last_line_is_run_again(tmp_path):
    path = tmp_path / "pairs.jsonl"
    whole = run_cases(FAKE, CASES, tmp_path)
    text = path.read_text()
    path.write_text(text[:-40])
    assert len(read_trials(path)) == 5
    assert run_cases(FAKE, CASES, tmp_path) == whole
    assert path.read_text() == text


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "pairs.jsonl"
    run_cases(FAKE, CASES[:2], tmp_path)
    first, second, _ = path.read_text().split("\n")
    path.write_text(f"{first[:50]}\n{second}\n")
    with pytest.raises(BadResult, match="line 1 is not a trial"):
        run_cases(FAKE, CASES, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "3",
        "{}",
        '{"case": [], "plan": null, "walk": null, "refusal": ""}',
        '{"case": {"suite": "pairs"}, "plan": null, "walk": null, "refusal": ""}',
        '{"case": {"suite": [], "preset": "x"}, "plan": null, "walk": null, "refusal": ""}',
        '{"case": {"suite": "pairs", "preset": "", "data": 3}, "plan": null, "walk": null, "refusal": ""}',
    ],
)
def test_a_line_that_is_no_trial_is_named(tmp_path, line):
    path = tmp_path / "pairs.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(BadResult, match="line 1 is not a trial"):
        read_trials(path)


def test_workers_give_the_same_trials_in_the_same_order(tmp_path):
    alone = run_cases(FAKE, CASES, tmp_path / "alone")
    together = run_cases(FAKE, CASES, tmp_path / "together", workers=2)
    assert together == alone
    lines = (tmp_path / "together" / "pairs.jsonl").read_text().splitlines()
    assert len(lines) == len(CASES)
    assert all(json.loads(line)["case"]["suite"] == "pairs" for line in lines)


def test_variants_share_a_file(tmp_path):
    path = tmp_path / "pairs.jsonl"
    run_cases(FAKE, CASES[:2], tmp_path)
    others = [replace(case, variant="temporal-fixed") for case in CASES[:2]]
    assert [trial.case for trial in run_cases(FAKE, others, tmp_path)] == others
    assert len(read_trials(path)) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_is_its_sentence(tmp_path, workers):
    with pytest.raises(ChronoForestError, match=r"unknown preset .* available: another"):
        run_cases(REFUSED, CASES, tmp_path / "trials", workers)


class DeadlyEngine:
    """Every second item ends its workers."""

    def answers(self, work, items, files=()):
        for index, item in reversed(list(enumerate(items))):
            is_fatal = index % 2 == 1
            result = None if is_fatal else work(item, lambda path: path)
            yield Answer(index, result, "it died" if is_fatal else "")


def test_a_case_that_ends_its_workers_is_recorded_as_failed_with_the_reason(tmp_path):
    alone = run_cases(FAKE, CASES, tmp_path / "alone")
    trials = run_cases(FAKE, CASES, tmp_path / "deadly", engine=DeadlyEngine())
    assert trials[::2] == alone[::2]
    assert [trial.case for trial in trials] == CASES
    assert {(trial.refusal, trial.plan) for trial in trials[1::2]} == {("it died", None)}
    assert trials[1].origin.version == version("chronoforest")
    assert run_cases(FAKE, CASES, tmp_path / "deadly") == trials  # they are not tried again


def test_bad_requests_say_what_is_wrong(tmp_path):
    with pytest.raises(InvalidParameter, match="workers must be at least 1, got 0"):
        run_cases(FAKE, CASES, tmp_path / "trials", workers=0)
    (tmp_path / "file").write_text("")
    with pytest.raises((CannotWrite, BadResult)):
        run_cases(FAKE, CASES[:1], tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]


def test_trackers_are_loaded_alone_and_by_name(tmp_path):
    """The weights of the package hold the preset's own; another folder may hold others."""
    walker = load_walker(PlannerChoice(GIANT))
    assert walker.execution == get_preset(GIANT).execution
    assert walker.tracker(np.zeros(2), np.ones(2)).shape == (2,)
    with pytest.raises(BadCheckpoint, match=r"tracker-bc\.safetensors; .* has tracker\.safetensors"):
        load_walker(PlannerChoice(GIANT, tracker="bc"))
    own = get_preset(GIANT).weights / "tracker.safetensors"
    (tmp_path / "tracker-bc.safetensors").write_bytes(own.read_bytes())
    again = load_walker(PlannerChoice(GIANT, tracker="bc", weights=tmp_path)).tracker
    np.testing.assert_array_equal(again(np.zeros(2), np.ones(2)), walker.tracker(np.zeros(2), np.ones(2)))
    with pytest.raises(BadCheckpoint, match=f"was trained for '{GIANT}'"):
        load_walker(PlannerChoice(GIANT.replace("giant", "large"), tracker="bc", weights=tmp_path))


def test_a_case_that_was_run_twice_counts_once_and_as_the_last(tmp_path):
    path = tmp_path / "pairs.jsonl"
    first, second = run_cases(FAKE, CASES[:2], tmp_path)
    again = replace(first, plan=replace(first.plan, seconds=99.0))
    with path.open("a") as file:
        file.write(again.to_json() + "\n")
    assert read_trials(path) == [again, second]
    assert read_records(tmp_path, FAKE) == [again, second]


def test_compressed_records_are_read_too_and_plain_ones_count_more(tmp_path):
    trials = run_cases(FAKE, CASES, tmp_path)
    path = tmp_path / FAKE.file
    (tmp_path / f"{FAKE.file}.gz").write_bytes(gzip.compress(path.read_bytes()))
    newer = replace(trials[0], refusal="newer")
    path.write_text(newer.to_json() + "\n")
    assert read_records(tmp_path, FAKE) == [newer, *trials[1:]]
    path.unlink()
    assert read_records(tmp_path, FAKE) == trials
    assert run_cases(REFUSED, CASES, tmp_path) == trials


def test_a_trial_tells_what_made_it(tmp_path):
    (trial,) = run_cases(FAKE, CASES[:1], tmp_path / "pairs")
    files = PlannerChoice(GIANT).weight_files
    assert [path.stem for path in files] == ["density", "distance", "denoiser", "student", "tracker"]
    assert trial.origin == Origin(version("chronoforest"), "cpu", fingerprint(*files))
    assert len(trial.origin.weights) == 16


def test_where_it_runs_does_not_make_another_trial_of_a_case(tmp_path):
    kept = run_cases(FAKE, CASES[:2], tmp_path / "pairs")
    elsewhere = [case.chosen(weights=tmp_path, data=tmp_path) for case in CASES[:2]]
    assert run_cases(FAKE, elsewhere, tmp_path / "pairs") == kept
    assert CASES[0].chosen(mode="fast").key != CASES[0].key


OLD = (
    '{"case": {"suite": "pairs", "preset": "pointmaze-giant-stitch-v0", "task": 0, "episode": 3, "seed": 0, '
    '"variant": "online", "mode": "fast", "num_agents": 1, "num_waypoints": 0, "tracker": "", '
    '"reference": "", "look_ahead": null, "planner": "dataset-graph"}, '
    '"plan": null, "walk": null, "refusal": "no"}'
)


def test_older_records_still_load_and_are_not_run_again():
    trial = Trial.from_json(OLD)
    choice = PlannerChoice(GIANT, mode="fast", planner="dataset-graph")
    assert trial.case == Case("pairs", choice, episode=3)
    assert (trial.origin, trial.measures) == (Origin(), {})
    assert Trial.from_json(trial.to_json()) == trial
    assert trial.case.chosen(device="cuda").key == trial.case.key
