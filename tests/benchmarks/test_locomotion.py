import json
import os
import signal

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_ant import SAC

from benchmarks.expert.locomotion import ExpertRun, Learner, train_expert
from benchmarks.expert.params import ExpertParams
from benchmarks.expert.steadiness import SeedFigures, steadiest
from chronoforest.collect.expert import load_expert
from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.models import checkpoint

PARAMS = ExpertParams(
    num_seeds=2,
    num_steps=30,
    ants_per_seed=2,
    batch=8,
    most_random_steps=4,
    eval_ants=2,
    eval_steps=3,
    report_seconds=0.0,
    sac=SAC,
)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder, reports = tmp_path_factory.mktemp("expert"), []
    chosen, figures = train_expert(PARAMS, ExpertRun(folder, CPU, 1, on_report=reports.append))
    return folder, chosen, figures, reports


def test_a_training_reports_each_seed_and_writes_the_chosen_one(finished):
    folder, chosen, figures, reports = finished
    assert [report.step for report in reports] == list(range(2, 31, 2))
    assert all(len(report.speeds) == len(report.falls_per_1000) == 2 for report in reports)
    assert chosen == steadiest(figures)
    tensors, card = checkpoint.read(folder / "expert.safetensors", "expert")
    trained = load_file(folder / "training.safetensors")
    for name, tensor in tensors.items():
        torch.testing.assert_close(tensor, trained[f"module.sac.actor.{name}"][chosen].squeeze(0))
    assert (card["num_steps"], card["chosen"], card["is_finished"]) == (30, chosen, True)
    assert [SeedFigures(**figure) for figure in card["figures"]] == figures
    assert load_expert(folder / "expert.safetensors").layers[0][0].shape == (16, 29)


def test_the_card_shows_command_and_figures(finished):
    folder, chosen, figures, _ = finished
    text = (folder / "CARD.md").read_text()
    assert "`python -m benchmarks expert`" in text
    assert f"| {chosen} (chosen) | {figures[chosen].speed:.3f} |" in text
    assert "30 for each of 2 seeds" in text


def test_the_same_seed_gives_the_same_expert_with_any_number_of_workers(finished, tmp_path):
    folder, chosen, figures, _ = finished
    assert train_expert(PARAMS, ExpertRun(tmp_path, CPU, 2)) == (chosen, figures)
    before, after = (load_file(path / "training.safetensors") for path in (folder, tmp_path))
    for name, tensor in before.items():
        torch.testing.assert_close(after[name], tensor, rtol=0, atol=0)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A run that is told to end after 20 steps."""
    folder = tmp_path_factory.mktemp("stopped")

    def stop(report):
        if report.step == 20:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        train_expert(PARAMS, ExpertRun(folder, CPU, 1, on_report=stop))
    return folder


def copied(folder, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_a_stopped_run_leaves_a_usable_expert(stopped):
    assert checkpoint.read(stopped / "expert.safetensors", "expert")[1]["is_finished"] is False
    action = load_expert(stopped / "expert.safetensors")(np.zeros(27), np.array([1.0, 0.0]))
    assert np.abs(action).max() <= 1.0
    assert "Unfinished" in (stopped / "CARD.md").read_text()


def test_resume_continues_where_the_run_stopped(stopped, tmp_path):
    folder, steps = copied(stopped, tmp_path), []
    before = np.fromfile(folder / "replay.f32", dtype=np.float32)
    with (folder / "replay.f32").open("ab") as file:
        file.write(b"what a killed run had begun to add")
    run = ExpertRun(folder, CPU, 1, is_resumed=True, on_report=lambda report: steps.append(report.step))
    train_expert(PARAMS, run)
    assert steps == list(range(22, 31, 2))
    after = np.fromfile(folder / "replay.f32", dtype=np.float32)
    assert len(after) == 15 * 4 * (2 * 29 + 8 + 2)
    np.testing.assert_array_equal(after[: len(before)], before)
    card = json.loads(json.dumps(checkpoint.read(folder / "training.safetensors", "training")[1]))
    assert card["step"] == PARAMS.training.num_steps


def test_what_is_restored_is_what_was_saved(stopped, tmp_path):
    learner = Learner(PARAMS, ExpertRun(copied(stopped, tmp_path), CPU, 1))
    learner.resume()
    saved = load_file(tmp_path / "training.safetensors")
    for name, tensor in learner.training._state().items():
        torch.testing.assert_close(tensor, saved[name])
    assert learner.tick == 10
    assert learner.replay.rows[9].any()
    assert not learner.replay.rows[10].any()


def test_a_short_replay_is_refused(stopped, tmp_path):
    folder = copied(stopped, tmp_path)
    (folder / "replay.f32").write_bytes(b"\0" * 400)
    with pytest.raises(BadCheckpoint, match=r"holds 100 of the 2720 numbers"):
        Learner(PARAMS, ExpertRun(folder, CPU, 1)).resume()


def test_another_runs_save_is_refused(stopped, tmp_path):
    folder = copied(stopped, tmp_path)
    other = ExpertParams(**{**vars(PARAMS), "batch": 9})
    with pytest.raises(BadCheckpoint, match="batch = 8, this run has 9"):
        Learner(other, ExpertRun(folder, CPU, 1)).resume()


def test_resume_without_a_save_starts_anew(tmp_path):
    learner = Learner(PARAMS, ExpertRun(tmp_path, CPU, 1))
    learner.resume()
    assert learner.tick == 0


def figure(noisy_speed, noisy_falls):
    return SeedFigures(9.0, 0.0, noisy_speed, noisy_falls)


def test_the_steadiest_of_the_fast_seeds_is_chosen():
    assert steadiest([figure(1.5, 0.4), figure(1.4, 0.1), figure(1.3, 0.0)]) == 1
    assert steadiest([figure(1.4, 0.1), figure(1.5, 0.1)]) == 1
    assert steadiest([figure(1.0, 0.3)]) == 0
    assert steadiest([figure(-0.2, 0.0), figure(-0.1, 0.1)]) == 1  # before anything is learned


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"num_seeds": 0}, "num_seeds must be at least 1, got 0"),
        ({"num_steps": 0}, "num_steps must be at least 1, got 0"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"num_steps": 1, "ants_per_seed": 0}, "ants_per_seed must be at least 1"),
    ],
)
def test_bad_parameters_are_refused(changes, complaint):
    with pytest.raises(InvalidParameter, match=complaint):
        ExpertParams(**changes)
