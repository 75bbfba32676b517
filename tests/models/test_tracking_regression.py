from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import SCALING, TRACKER, clocks, least_cosine, noisy_walks

from chronoforest.data.scaling import Scaling
from chronoforest.models import tracking
from chronoforest.models.params import CloningParams
from chronoforest.models.tracking import (
    CloningLearner,
    RegressionActor,
    SubgoalTracker,
    TrackerLearner,
    draw_steps,
)

CLONING = CloningParams(width=16)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_actions_stay_in_bounds_whatever_is_asked():
    tracker = SubgoalTracker(RegressionActor(TRACKER, SCALING))
    rng = np.random.default_rng(0)
    action = tracker(rng.normal(0, 100, (200, 2)), rng.normal(0, 1000, (200, 2)))
    assert action.shape == (200, 2)
    assert (np.abs(action) <= 1.0).all()


def test_one_state_and_a_batch_of_states_get_the_same_actions():
    tracker = SubgoalTracker(RegressionActor(TRACKER, SCALING))
    observation, subgoal = np.random.default_rng(0).normal(size=(2, 5, 2))
    batch = tracker(observation, subgoal)
    for row in range(5):
        np.testing.assert_allclose(tracker(observation[row], subgoal[row]), batch[row], atol=1e-6)


def test_only_the_relative_subgoal_matters_to_a_point():
    tracker = SubgoalTracker(RegressionActor(TRACKER, SCALING))
    np.testing.assert_array_equal(tracker(np.zeros(2), np.ones(2)), tracker(np.full(2, 30.0), np.ones(2)))


def test_the_body_of_an_observation_matters_and_its_place_does_not():
    tracker = SubgoalTracker(RegressionActor(TRACKER, Scaling.unit(5)))
    here, elsewhere, bent = np.zeros((3, 5))
    elsewhere[:2], bent[3] = 9.0, 1.0
    np.testing.assert_array_equal(tracker(here, np.ones(2)), tracker(elsewhere, np.ones(2)))
    assert not np.allclose(tracker(here, np.ones(2)), tracker(bent, np.ones(2)))


def test_subgoals_beyond_the_largest_are_seen_at_its_length_in_their_direction():
    tracker = SubgoalTracker(RegressionActor(TRACKER, SCALING))
    edge = np.array([0.6, 0.8]) * TRACKER.largest_subgoal
    np.testing.assert_allclose(tracker(np.zeros(2), edge), tracker(np.zeros(2), 50 * edge), atol=1e-6)
    assert not np.allclose(tracker(np.zeros(2), edge), tracker(np.zeros(2), 0.5 * edge))


def test_a_subgoal_at_the_agent_gives_a_finite_action():
    assert np.isfinite(SubgoalTracker(RegressionActor(TRACKER, SCALING))(np.zeros(2), np.zeros(2))).all()


@pytest.mark.parametrize(("learner", "params"), [(TrackerLearner, TRACKER), (CloningLearner, CLONING)])
def test_training_teaches_a_point_to_walk_toward_its_subgoal(learner, params):
    """Recorded actions move the point by a fifth of themselves, with noise."""
    assert least_cosine(trained(learner, params, *noisy_walks())) > 0.8


def trained(kind, params, observations, moves):
    """A tracker after 250 steps."""
    learner = kind(params, Scaling.fit(observations.numpy()))
    optimizer = torch.optim.Adam([p for p in learner.parameters() if p.requires_grad], lr=3e-3)
    for _ in range(250):
        optimizer.zero_grad()
        learner.loss(draw_steps(observations, moves, 128, params, stride=1)).backward()
        optimizer.step()
    return SubgoalTracker(learner.actor)


def test_weights_prefer_what_led_to_the_subgoal_sooner():
    """The point steps or rests by chance; for a subgoal one step away, resting was often recorded too."""
    stepped = (torch.rand(200, 60) < 0.5).float()
    moves = torch.stack([stepped, torch.zeros_like(stepped)], dim=-1)
    observations = torch.cat([torch.zeros(200, 1, 2), 0.2 * moves[:, :-1].cumsum(dim=1)], dim=1)
    weighted, plain = (
        trained(kind, replace(params, radius=0.1), observations, moves)
        for kind, params in ((TrackerLearner, TRACKER), (CloningLearner, CLONING))
    )
    one_step = np.array([0.2, 0.0])
    assert plain(np.zeros(2), one_step)[0] < 0.75
    assert weighted(np.zeros(2), one_step)[0] > plain(np.zeros(2), one_step)[0] + 0.1


def test_examples_that_are_not_hindsight_do_not_teach_the_actor():
    tracks = clocks()
    learner = TrackerLearner(TRACKER, SCALING)
    learner.loss(draw_steps(tracks, tracks, 64, TRACKER, 1, random_share=1.0)).backward()
    assert all((p.grad == 0).all() for p in learner.actor.parameters())
    assert any((p.grad != 0).any() for p in learner.values.parameters())


def test_plain_cloning_weighs_all_hindsight_alike(monkeypatch):
    """Temperature 0 of the weighted regression is plain cloning: the actor's part of the loss is the same."""
    monkeypatch.setattr(tracking, "TEMPERATURE", 0.0)
    tracks = clocks()
    weighted = TrackerLearner(TRACKER, SCALING)
    plain = CloningLearner(CLONING, SCALING)
    plain.actor.load_state_dict(weighted.actor.state_dict())
    batch = draw_steps(tracks, tracks, 64, TRACKER, stride=1)
    for learner in (weighted, plain):
        learner.loss(batch).backward()
    for mine, theirs in zip(weighted.actor.parameters(), plain.actor.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)
