import numpy as np
import pytest
import torch
from tiny import SCALING, clocks, least_cosine, noisy_walks

from benchmarks.diffusion_ql import (
    DiffusionActor,
    DiffusionQLearner,
    DiffusionQLParams,
    denoising_steps,
    signal_left,
)
from chronoforest.data.scaling import Scaling
from chronoforest.models.tracking import SubgoalTracker, draw_steps

PARAMS = DiffusionQLParams(width=32, num_layers=2, num_critics=4)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_the_schedule_preserves_variance_from_clean_to_almost_noise():
    signal = signal_left(DiffusionQLParams())
    assert signal[0] == 1
    assert (signal.diff() < 0).all()
    torch.testing.assert_close(signal[-1], torch.exp(torch.tensor(-0.1 - 0.5 * 9.9)))


def test_each_step_keeps_the_variance_of_its_level():
    """Unit-variance clean actions and independent noise have the marginal of the level below afterwards."""
    signal = signal_left(PARAMS).double()
    for step in denoising_steps(PARAMS):
        before, after = signal[step.level], signal[step.level - 1]
        of_clean = step.to_clean + step.to_noisy * before.sqrt()
        of_noise = step.to_noisy**2 * (1 - before) + step.fresh_noise**2
        torch.testing.assert_close(of_clean, after.sqrt(), atol=1e-6, rtol=0)
        torch.testing.assert_close(of_noise, 1 - after, atol=1e-6, rtol=0)


def test_the_body_of_an_observation_matters_and_its_place_does_not():
    tracker = SubgoalTracker(DiffusionActor(PARAMS, Scaling.unit(5)))
    here, elsewhere, bent = np.zeros((3, 5))
    elsewhere[:2], bent[3] = 9.0, 1.0
    np.testing.assert_array_equal(tracker(here, np.ones(2)), tracker(elsewhere, np.ones(2)))
    assert not np.allclose(tracker(here, np.ones(2)), tracker(bent, np.ones(2)))


def test_training_teaches_a_point_to_walk_toward_its_subgoal():
    observations, moves = noisy_walks()
    learner = DiffusionQLearner(PARAMS, Scaling.fit(observations.numpy()))
    optimizer = torch.optim.Adam([p for p in learner.parameters() if p.requires_grad], lr=3e-3)
    for _ in range(250):
        optimizer.zero_grad()
        learner.loss(draw_steps(observations, moves, 128, PARAMS, stride=1)).backward()
        optimizer.step()
        with torch.no_grad():
            for network, average in learner.averages():
                torch._foreach_lerp_(list(average.parameters()), list(network.parameters()), 0.05)
    assert least_cosine(SubgoalTracker(learner.actor)) > 0.7


def test_the_actor_does_not_train_the_critics_nor_they_the_actor():
    tracks = clocks()
    batch = draw_steps(tracks, tracks, 64, PARAMS, stride=1)
    learner = DiffusionQLearner(PARAMS, SCALING)
    with_actor = gradients(learner, batch, learner.critics)
    with torch.no_grad():
        for parameter in learner.actor.parameters():
            parameter.add_(1.0)
    for mine, theirs in zip(gradients(learner, batch, learner.critics), with_actor, strict=True):
        torch.testing.assert_close(mine, theirs)
    assert all(p.grad is None for p in learner.critics_average.parameters())


def gradients(learner, batch, network):
    torch.manual_seed(1)
    learner.zero_grad()
    learner.loss(batch).backward()
    return [p.grad.clone() for p in network.parameters()]
