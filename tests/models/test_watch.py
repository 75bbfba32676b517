import math

import pytest
import torch
from test_train import CPU, LOOP, Pupil, assert_same, state
from torch import nn

from chronoforest.models.train import Training
from chronoforest.models.watch import NUM_LOOKS, TOLERANCE, Watch, early_end, kept_step, same_draws


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


def test_a_loss_that_falls_to_the_end_is_never_stopped():
    one = Scripted([1.0 / k for k in range(1, 51)])
    assert one.train() == 100
    one.watch.keep_best()
    assert one.net.weight.item() == 100.0
    assert early_end(one.watch.to_dict()) == ""


def test_without_patience_the_last_weights_stay():
    one = Scripted([1.0, *[2.0] * 49], patience=0.0)
    assert one.train() == 100
    one.watch.keep_best()
    assert one.net.weight.item() == 100.0
    assert one.watch.to_dict()["kept_step"] == 100
    assert early_end(one.watch.to_dict()) == early_end({}) == ""


def test_a_good_look_at_a_network_that_has_hardly_learned_does_not_count():
    """Half of the steps pass before anything counts, and patience begins there."""
    one = Scripted([0.1, *[3.0] * 24, 2.0, *[2.5] * 24], unripe=0.5)
    assert one.train() == 52 + 20
    one.watch.keep_best()
    assert one.net.weight.item() == one.watch.to_dict()["kept_step"] == 52


def test_looks_that_are_no_numbers_once_it_counts_end_in_patience():
    one = Scripted([0.1, *[math.nan] * 49], unripe=0.5)
    assert one.train() == 50 + 20
    one.watch.keep_best()
    assert one.net.weight.item() == 70.0


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
