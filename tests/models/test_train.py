import itertools
import math
from dataclasses import replace

import pytest
import torch
from tiny import TRAINING
from torch import nn

from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.models import checkpoint
from chronoforest.models.train import (
    NUM_LOOKS,
    TOLERANCE,
    LoopParams,
    Training,
    Watch,
    early_end,
    kept_step,
    pick_device,
    same_draws,
)

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
        ({}, r"data = d.*other"),
    ],
)
def test_a_run_with_another_setting_or_other_data_is_not_continued_and_it_is_named(changes, named, path):
    make_training().run(path, until=3)
    about = None if changes else {"model": "pupil", "data": "other"}
    with pytest.raises(BadCheckpoint, match=named):
        make_training(replace(LOOP, **changes), about).resume(path)


def test_how_often_a_run_is_saved_may_change_between_its_parts(path):
    make_training().run(path, until=3)
    training = make_training(replace(LOOP, checkpoint_seconds=1.0))
    training.resume(path)
    assert training.step_index == 3


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


def test_the_rate_warms_up_then_falls_to_its_final_share():
    params = LoopParams(100, 1, 2.0, 0.001, warmup=10, final_share=0.1)
    rates = [params.rate(step) for step in range(101)]
    assert rates[0] == pytest.approx(0.2)
    assert rates[9] == rates[10] == 2.0
    assert rates[:10] == sorted(rates[:10])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[100] == pytest.approx(0.2)


@pytest.mark.parametrize("name", ["banana", "", "meta", "mps"])
def test_an_unknown_device_lists_the_choices(name):
    with pytest.raises(InvalidParameter, match=f"device must be auto, cpu or cuda, got '{name}'"):
        pick_device(name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_asking_for_cuda_where_there_is_none_says_what_to_use():
    with pytest.raises(InvalidParameter, match="no CUDA; use cpu or auto"):
        pick_device("cuda")


class Scripted:
    """A network of one weight, which tells the step, and losses that follow a list."""

    def __init__(self, losses, patience=0.2, num_steps=100, unripe=0.0):
        self.net = nn.Linear(1, 1, bias=False)
        self.losses = iter(losses)
        self.watch = Watch(self.net, lambda: next(self.losses), num_steps, patience, unripe)

    def train(self):
        for step in range(1, self.watch.num_steps + 1):
            with torch.no_grad():
                self.net.weight.fill_(float(step))
            self.watch.look(step)
            if self.watch.has_given_up(step):
                break
        return step


def test_it_looks_evenly_over_all_steps_and_at_the_last():
    one = Scripted(range(1000), patience=0.0, num_steps=1010)
    one.train()
    steps = [step for step, _ in one.watch.looks]
    assert steps == [*range(20, 1010, 20), 1010]
    assert len(steps) == NUM_LOOKS + 1


def test_training_ends_when_nothing_got_better_for_the_patience_and_the_best_weights_are_kept():
    one = Scripted([5.0, 3.0, 4.0, *[3.5] * 47])
    assert one.train() == 4 + 20
    one.watch.keep_best()
    assert one.net.weight.item() == 4.0
    card = one.watch.to_dict()
    assert card["kept_step"] == 4
    assert early_end(card) == (
        "ended early: the held-out error is no better since step 4, whose weights were kept"
    )


@pytest.mark.parametrize(
    ("losses", "patience"), [([1.0 / k for k in range(1, 51)], 0.2), ([1.0, *[2.0] * 49], 0.0)]
)
def test_what_gets_better_to_the_end_or_has_no_patience_keeps_its_last_weights(losses, patience):
    one = Scripted(losses, patience)
    assert one.train() == 100
    one.watch.keep_best()
    assert one.net.weight.item() == one.watch.to_dict()["kept_step"] == 100
    assert early_end(one.watch.to_dict()) == early_end({}) == ""


def test_a_good_look_at_a_network_that_has_hardly_learned_does_not_count():
    """Half of the steps pass before anything counts, and patience begins there."""
    one = Scripted([0.1, *[3.0] * 24, 2.0, *[2.5] * 24], unripe=0.5)
    assert one.train() == 52 + 20
    one.watch.keep_best()
    assert one.net.weight.item() == one.watch.to_dict()["kept_step"] == 52


def test_a_loss_that_is_no_number_is_never_the_best():
    one = Scripted([math.nan, 2.0, math.nan, *[3.0] * 47])
    one.train()
    assert kept_step(one.watch.looks) == 4


def test_of_looks_that_are_as_good_as_each_other_the_later_one_counts():
    """Noise must not choose: only a clearly worse look is left out, however long it creeps."""
    assert kept_step([(1, 0.5), (2, 0.5 + TOLERANCE), (3, 0.5 + 2.1 * TOLERANCE)]) == 2
    assert kept_step([(1, 0.5), (2, 0.3), (3, 0.31), (4, 0.4)]) == 3
    assert kept_step([(1, math.inf)]) == kept_step([]) == 0


def test_looking_changes_no_draw_and_sees_the_same_ones_every_time():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    seen = []
    for _ in range(2):
        with same_draws(CPU):
            seen.append(torch.rand(2))
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(*seen)


def watched(patience):
    """A training whose held-out error is least when the weights have come a little way from their start."""
    pupil = Pupil()
    begun = pupil.net[0].weight.detach().clone()

    def loss():
        return abs(float((pupil.net[0].weight.detach() - begun).norm()) - 0.01) * 10.0

    watch = Watch(pupil.average, loss, LOOP.num_steps, patience)
    about = {"model": "pupil"}
    return Training(pupil, pupil.draw_loss, [(pupil.net, pupil.average)], LOOP, CPU, about, watch)


@pytest.mark.parametrize("patience", [0.1, 0.0])
def test_a_resumed_run_looks_and_stops_as_if_it_had_never_stopped(patience, tmp_path):
    """The looks, the best weights and the step at which patience ends are those of a run without a break."""
    straight = watched(patience)
    straight.run(tmp_path / "straight.safetensors")
    path = tmp_path / "broken.safetensors"
    for stop in (3, 9, 10, None, None):
        torch.manual_seed(99)
        again = watched(patience)
        if path.exists():
            again.resume(path)
        again.run(path, until=stop)
    assert again.step_index == straight.step_index
    assert (again.step_index < LOOP.num_steps) == (patience > 0)
    assert again.watch.looks == straight.watch.looks
    assert_same(state(again), state(straight))
