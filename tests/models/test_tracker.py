from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import SCALING, TRACKER

from chronoforest.data.scaling import Scaling
from chronoforest.errors import InvalidParameter
from chronoforest.models.subgoals import draw_steps
from chronoforest.models.tracker import Actor, SubgoalTracker, TrackerLearner, TrackerParams

NUM_STEPS = 60


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def clocks(num_episodes=20):
    index = torch.meshgrid(torch.arange(num_episodes), torch.arange(NUM_STEPS), indexing="ij")
    return torch.stack(index, dim=-1).float()


def test_actions_stay_in_bounds_whatever_is_asked():
    tracker = SubgoalTracker(Actor(TRACKER, SCALING))
    rng = np.random.default_rng(0)
    action = tracker(rng.normal(0, 100, (200, 2)), rng.normal(0, 1000, (200, 2)))
    assert action.shape == (200, 2)
    assert (np.abs(action) <= 1.0).all()


def test_one_state_and_a_batch_of_states_get_the_same_actions():
    tracker = SubgoalTracker(Actor(TRACKER, SCALING))
    observation, subgoal = np.random.default_rng(0).normal(size=(2, 5, 2))
    batch = tracker(observation, subgoal)
    for row in range(5):
        np.testing.assert_allclose(tracker(observation[row], subgoal[row]), batch[row], atol=1e-6)


def test_only_the_relative_subgoal_matters_to_a_point():
    tracker = SubgoalTracker(Actor(TRACKER, SCALING))
    np.testing.assert_array_equal(tracker(np.zeros(2), np.ones(2)), tracker(np.full(2, 30.0), np.ones(2)))


def test_the_body_of_an_observation_matters_and_its_place_does_not():
    params = replace(TRACKER, observation_dim=5)
    tracker = SubgoalTracker(Actor(params, Scaling.unit(5)))
    here, elsewhere, bent = np.zeros((3, 5))
    elsewhere[:2], bent[3] = 9.0, 1.0
    np.testing.assert_array_equal(tracker(here, np.ones(2)), tracker(elsewhere, np.ones(2)))
    assert not np.allclose(tracker(here, np.ones(2)), tracker(bent, np.ones(2)))


def test_subgoals_beyond_the_largest_are_seen_at_its_length_in_their_direction():
    tracker = SubgoalTracker(Actor(TRACKER, SCALING))
    edge = np.array([0.6, 0.8]) * TRACKER.largest_subgoal
    np.testing.assert_allclose(tracker(np.zeros(2), edge), tracker(np.zeros(2), 50 * edge), atol=1e-6)
    assert not np.allclose(tracker(np.zeros(2), edge), tracker(np.zeros(2), 0.5 * edge))


def test_a_subgoal_at_the_agent_gives_a_finite_action():
    assert np.isfinite(SubgoalTracker(Actor(TRACKER, SCALING))(np.zeros(2), np.zeros(2))).all()


def test_hindsight_subgoals_lie_the_allowed_number_of_steps_ahead():
    tracks = clocks()
    steps = draw_steps(tracks, tracks, 5000, TRACKER)
    seen = steps.is_hindsight
    assert abs(seen.float().mean() - (1 - TRACKER.random_share)) < 0.03
    start = steps.observation[seen]
    ahead = (steps.subgoal - steps.observation)[seen]
    assert (ahead[:, 0] == 0).all()
    is_early = start[:, 1] < NUM_STEPS - 1 - TRACKER.farthest
    assert ahead[is_early, 1].min() == TRACKER.nearest
    assert ahead[is_early, 1].max() == TRACKER.farthest
    assert (steps.subgoal[seen][:, 1] <= NUM_STEPS - 1).all()


def test_random_subgoals_lie_in_the_square_around_the_agent():
    tracks = clocks()
    steps = draw_steps(tracks, tracks, 5000, replace(TRACKER, random_share=1.0))
    offset = steps.subgoal - steps.observation
    assert not steps.is_hindsight.any()
    assert offset.abs().max() <= TRACKER.largest_subgoal
    assert abs(offset.mean()) < 0.2


def test_training_teaches_a_point_to_walk_toward_its_subgoal():
    """Recorded actions move the point by a fifth of themselves, with noise."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(60, 1, 2))
    direction /= np.linalg.norm(direction, axis=2, keepdims=True)
    actions = np.clip(direction + rng.normal(0, 0.3, (60, NUM_STEPS, 2)), -1, 1)
    states = np.concatenate([np.zeros((60, 1, 2)), 0.2 * actions[:, :-1].cumsum(axis=1)], axis=1)
    observations, moves = (torch.as_tensor(x, dtype=torch.float32) for x in (states, actions))
    learner = TrackerLearner(TRACKER, Scaling.fit(states))
    optimizer = torch.optim.Adam([p for p in learner.parameters() if p.requires_grad], lr=3e-3)
    for _ in range(150):
        optimizer.zero_grad()
        learner.loss(draw_steps(observations, moves, 128, TRACKER)).backward()
        optimizer.step()
    angle = np.linspace(0, 2 * np.pi, 16)
    subgoals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    action = SubgoalTracker(learner.actor)(np.zeros((16, 2)), subgoals)
    cosine = (action * subgoals).sum(axis=1) / np.linalg.norm(action, axis=1)
    assert cosine.min() > 0.8


def test_examples_that_are_not_hindsight_do_not_teach_the_actor():
    tracks = clocks()
    learner = TrackerLearner(TRACKER, SCALING)
    learner.loss(draw_steps(tracks, tracks, 64, replace(TRACKER, random_share=1.0))).backward()
    assert all((p.grad == 0).all() for p in learner.actor.parameters())
    assert any((p.grad != 0).any() for p in learner.values.parameters())


@pytest.mark.parametrize("broken", [{"nearest": 0}, {"nearest": 9, "farthest": 8}, {"temperature": -1.0}])
def test_parameters_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match="got"):
        TrackerParams(**broken)
