import gzip
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest
from fake_planner import FakePlanner
from protocol_runs import make_cases

from benchmarks.case import Case
from benchmarks.experiments.protocol import PROTOCOL_SUITES, load_walker
from benchmarks.run import read_records, read_trials, run_cases
from benchmarks.trials import Origin
from chronoforest.engines import Answer
from chronoforest.errors import BadCheckpoint, BadResult, UnknownPreset
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.named import get_preset

PAIRS = PROTOCOL_SUITES["pairs"]
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


@pytest.mark.parametrize(
    "line",
    [
        "3",
        "{}",
        '{"case": {"suite": "pairs", "preset": "", "data": 3}, "plan": null, "walk": null, "refusal": ""}',
    ],
)
def test_a_line_that_is_no_trial_is_named(tmp_path, line):
    path = tmp_path / "pairs.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(BadResult, match="line 1 is not a trial"):
        read_trials(path)


def test_what_cannot_be_loaded_ends_the_run(tmp_path):
    with pytest.raises(UnknownPreset, match="another"):
        run_cases(REFUSED, CASES, tmp_path / "trials")


def test_a_trial_that_raises_is_recorded_as_failed_with_its_cause_and_the_others_run(tmp_path):
    alone = run_cases(FAKE, CASES, tmp_path / "alone")

    def run(case, planner):
        if case == CASES[2]:
            raise RuntimeError("shape '[1, 2]' is invalid")
        return PAIRS.run(case, planner)

    trials = run_cases(replace(FAKE, run=run), CASES, tmp_path / "raising")
    assert [trial.refusal for trial in trials if trial.refusal] == ["RuntimeError: shape '[1, 2]' is invalid"]
    assert trials[2].plan is None
    assert trials[:2] + trials[3:] == alone[:2] + alone[3:]


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


def test_where_it_runs_does_not_make_another_trial_of_a_case(tmp_path):
    kept = run_cases(FAKE, CASES[:2], tmp_path / "pairs")
    elsewhere = [case.chosen(weights=tmp_path, data=tmp_path) for case in CASES[:2]]
    assert run_cases(FAKE, elsewhere, tmp_path / "pairs") == kept
    assert CASES[0].chosen(mode="fast").key != CASES[0].key


def test_trials_of_other_weights_or_of_another_preset_are_run_anew(tmp_path):
    kept = run_cases(FAKE, CASES[:2], tmp_path / "pairs")
    (tmp_path / "density.safetensors").write_bytes(b"another")
    others = [case.chosen(weights=tmp_path) for case in CASES[:2]]
    trials = run_cases(FAKE, others, tmp_path / "pairs")
    assert {trial.origin.weights for trial in trials}.isdisjoint(trial.origin.weights for trial in kept)
    assert read_trials(tmp_path / "pairs" / "pairs.jsonl") == trials
    for origin, is_kept in ((Origin(), True), (replace(kept[0].origin, preset="0" * 16), False)):
        trial = replace(kept[0], origin=origin, refusal="before")
        (tmp_path / "pairs" / "pairs.jsonl").write_text(trial.to_json() + "\n")
        assert (run_cases(FAKE, CASES[:1], tmp_path / "pairs") == [trial]) == is_kept
