import itertools
import math
from dataclasses import replace

import pytest
import torch
from tiny import TRAINING
from torch import nn

from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.models import checkpoint
from chronoforest.models.train import LoopParams, Training, pick_device

LOOP = LoopParams(**vars(TRAINING), warmup=5, clip=1.0)
CPU = torch.device("cpu")


class Pupil(nn.Module):
    """A network and its average, taught a noisy line."""

    def __init__(self, width=4):
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1))
        self.average = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1)).requires_grad_(
            False
        )
        self.average.load_state_dict(self.net.state_dict())

    def draw_loss(self):
        inputs = torch.randn(16, 2)
        return (self.net(inputs)[:, 0] - inputs.sum(dim=1)).square().mean()


def make_training(params=LOOP, about=None, width=4):
    pupil = Pupil(width)
    return Training(
        pupil,
        pupil.draw_loss,
        [(pupil.net, pupil.average)],
        params,
        CPU,
        about or {"model": "pupil", "data": "d"},
    )


def state(training):
    return {name: value.clone() for name, value in training._state().items()}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.safetensors"


@pytest.fixture
def straight(path):
    """A run from beginning to end without a break, and its last report."""
    reports = []
    training = make_training()
    training.run(path.with_name("straight.safetensors"), reports.append)
    return training, reports[-1]


@pytest.mark.parametrize("breaks", [(20,), (1,), (7, 8, 33)])
def test_a_resumed_run_ends_as_if_it_had_never_stopped(breaks, path, straight):
    """Weights, averages, optimiser state, random state: every tensor is the same to the bit."""
    for stop in (*breaks, None):
        torch.manual_seed(123)
        training = make_training()
        if path.exists():
            training.resume(path)
        training.run(path, until=stop)
    assert training.step_index == TRAINING.num_steps
    assert_same(state(training), state(straight[0]))


def test_the_loss_reported_after_a_resume_is_that_of_the_same_steps(path):
    losses = []
    for stops in ((20, 40), (20, None)):
        reports = []
        for stop in stops:
            training = make_training()
            if path.exists():
                training.resume(path)
            training.run(path, reports.append, until=stop)
        losses.append([report.loss for report in reports])
        path.unlink()
    assert losses[0] == losses[1]


def test_ctrl_c_saves_before_it_leaves_and_the_run_goes_on_from_there(path, straight, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("time.monotonic", lambda: 10.0 * next(clock))

    def interrupt(report):
        raise KeyboardInterrupt

    training = make_training()
    with pytest.raises(KeyboardInterrupt):
        training.run(path, interrupt)
    stopped_at = checkpoint.read(path, "training")[1]["step"]
    assert 0 < stopped_at < TRAINING.num_steps
    again = make_training()
    again.resume(path)
    assert again.step_index == stopped_at
    again.run(path)
    assert_same(state(again), state(straight[0]))


def test_ctrl_c_in_the_middle_of_a_step_repeats_or_loses_nothing(path, straight):
    """The signal comes while a batch is drawn: the step is finished first, then the run is saved."""
    import os
    import signal

    training = make_training()
    draw_loss = training.draw_loss

    def draw_and_interrupt():
        if training.step_index == 13:
            training.draw_loss = draw_loss
            os.kill(os.getpid(), signal.SIGINT)
        return draw_loss()

    training.draw_loss = draw_and_interrupt
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        training.run(path)
    assert signal.getsignal(signal.SIGINT) is before
    again = make_training()
    again.resume(path)
    assert again.step_index == 14
    again.run(path)
    assert_same(state(again), state(straight[0]))


def test_running_checkpoints_are_written_while_it_trains(path, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("time.monotonic", lambda: 10.0 * next(clock))
    saved = []
    training = make_training(replace(LOOP, checkpoint_seconds=15.0, num_steps=100))
    monkeypatch.setattr(training, "save", lambda path: saved.append(training.step_index))
    training.run(path)
    assert len(saved) > 2
    assert saved[-1] == 100


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"learning_rate": 0.5}, r"learning_rate = 0\.001.*0\.5"),
        ({"num_steps": 41}, r"num_steps = 40.*41"),
        ({"batch": 17}, r"batch = 16.*17"),
        ({"seed": 1}, r"seed = 0.*1"),
    ],
)
def test_a_run_with_another_setting_is_not_continued_and_the_setting_is_named(changes, named, path):
    make_training().run(path, until=3)
    with pytest.raises(BadCheckpoint, match=named):
        make_training(replace(LOOP, **changes)).resume(path)


@pytest.mark.parametrize("key", ["model", "data"])
def test_a_run_on_other_data_or_of_another_model_is_not_continued(key, path):
    make_training().run(path, until=3)
    other = {"model": "pupil", "data": "d"} | {key: "other"}
    with pytest.raises(BadCheckpoint, match=f"{key} = .*other"):
        make_training(about=other).resume(path)


def test_how_often_a_run_is_saved_may_change_between_its_parts(path):
    make_training().run(path, until=3)
    training = make_training(replace(LOOP, checkpoint_seconds=1.0))
    training.resume(path)
    assert training.step_index == 3


def test_a_run_of_another_shape_is_not_continued(path):
    make_training().run(path, until=3)
    with pytest.raises(BadCheckpoint, match="does not fit this model"):
        make_training(width=5).resume(path)


def test_finished_weights_are_no_run_to_continue(path):
    checkpoint.write(path, {"a": torch.zeros(1)}, {"kind": "distance"})
    with pytest.raises(BadCheckpoint, match="holds a 'distance', expected a 'training'"):
        make_training().resume(path)


def test_training_lowers_the_loss_and_the_average_follows_slowly(path):
    reports = []
    training = make_training(replace(LOOP, num_steps=600, learning_rate=1e-2))
    begun = [p.clone() for p in training.module.average.parameters()]
    for stop in (20, 600):
        training.run(path, reports.append, until=stop)
    assert reports[-1].loss < 0.5 * reports[0].loss
    for start, average, now in zip(
        begun, training.module.average.parameters(), training.module.net.parameters(), strict=True
    ):
        moved, left = (average - start).norm(), (now - average).norm()
        assert 0 < moved < left + moved


def test_making_a_training_changes_no_weight():
    before = Pupil().state_dict()
    assert_same(make_training().module.state_dict(), before)


def test_reports_count_up_to_the_end(path):
    reports = []
    make_training().run(path, reports.append)
    assert (reports[-1].step, reports[-1].num_steps) == (40, 40)
    assert math.isfinite(reports[-1].loss)


def test_the_rate_warms_up_then_falls_to_its_final_share():
    params = LoopParams(100, 1, 2.0, 0.001, warmup=10, final_share=0.1)
    rates = [params.rate(step) for step in range(101)]
    assert rates[0] == pytest.approx(0.2)
    assert rates[9] == rates[10] == 2.0
    assert rates[:10] == sorted(rates[:10])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[100] == pytest.approx(0.2)


@pytest.mark.parametrize("broken", [{"num_steps": 0}, {"batch": 0}, {"learning_rate": 0.0}])
def test_parameters_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match=next(iter(broken))):
        replace(LOOP, **broken)


def test_auto_finds_a_device_and_cpu_is_cpu():
    assert pick_device("auto").type in ("cpu", "cuda")
    assert pick_device("cpu") == CPU


@pytest.mark.parametrize("name", ["banana", "", "meta", "mps"])
def test_an_unknown_device_lists_the_choices(name):
    with pytest.raises(InvalidParameter, match=f"device must be auto, cpu or cuda, got '{name}'"):
        pick_device(name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_asking_for_cuda_where_there_is_none_says_what_to_use():
    with pytest.raises(InvalidParameter, match="no CUDA; use cpu or auto"):
        pick_device("cuda")
