import pytest
import torch

from chronoforest.models.goals import draw_transitions, thinned
from chronoforest.models.params import GoalParams

NUM_EPISODES, NUM_STEPS = 50, 200


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def drawn(num_draws=20_000, **params):
    """Transitions of tracks whose states say which episode and step they are."""
    index = torch.meshgrid(torch.arange(NUM_EPISODES), torch.arange(NUM_STEPS), indexing="ij")
    tracks = torch.stack(index, dim=-1).float()
    return draw_transitions(tracks, 10 * tracks[..., 1:], num_draws, GoalParams(**params))


def test_a_transition_is_two_neighbouring_states_and_the_action_between():
    batch = drawn()
    assert torch.equal(batch.next_state - batch.state, torch.tensor([[0.0, 1.0]]).expand(len(batch.state), 2))
    assert torch.equal(batch.action[:, 0], 10 * batch.state[:, 1])


def test_a_goal_is_reached_exactly_where_it_is_the_state_itself():
    batch = drawn(current_share=0.2, future_share=0.5)
    assert torch.equal(batch.is_goal, (batch.state == batch.goal).all(dim=1))
    assert batch.is_goal.any()


def test_goals_are_shared_out_as_asked():
    batch = drawn(current_share=0.1, future_share=0.6)
    is_same = batch.goal[:, 0] == batch.state[:, 0]
    is_future = is_same & (batch.goal[:, 1] > batch.state[:, 1])
    chance = 1 / NUM_EPISODES
    assert abs(batch.is_goal.float().mean() - 0.1) < 0.01
    assert abs(is_future.float().mean() - (0.6 + 0.3 * chance / 2)) < 0.02
    assert abs(is_same.float().mean() - (0.7 + 0.3 * chance)) < 0.02


def test_future_goals_lie_ahead_in_the_same_recording_as_far_as_the_discount_says():
    batch = drawn(future_share=1.0, discount=0.9)
    ahead = batch.goal[:, 1] - batch.state[:, 1]
    assert torch.equal(batch.goal[:, 0], batch.state[:, 0])
    assert ahead.min() >= 1
    is_early = batch.state[:, 1] < NUM_STEPS // 2
    assert abs(ahead[is_early].mean() - 10.0) < 0.5


def test_past_goals_lie_behind_in_the_same_recording():
    batch = drawn(future_share=0.0, past_share=1.0, discount=0.9)
    assert torch.equal(batch.goal[:, 0], batch.state[:, 0])
    assert (batch.goal[:, 1] <= batch.state[:, 1]).all()
    is_late = batch.state[:, 1] > NUM_STEPS // 2
    assert abs((batch.state - batch.goal)[is_late, 1].mean() - 10.0) < 0.5


def test_without_future_or_current_goals_every_state_of_every_recording_may_be_one():
    batch = drawn(future_share=0.0)
    assert set(batch.goal[:, 0].tolist()) == set(map(float, range(NUM_EPISODES)))
    assert set(batch.goal[:, 1].tolist()) == set(map(float, range(NUM_STEPS)))


def test_thinned_recordings_keep_every_row_that_fills_one_and_their_order():
    tracks = torch.arange(2 * 11).reshape(2, 11, 1)
    thin = thinned(tracks, 3)
    assert thin.shape == (6, 3, 1)
    assert (torch.diff(thin, dim=1) == 3).all()
    assert sorted(thin[0::2].flatten().tolist()) == list(range(9))
    assert torch.equal(thinned(tracks, 1), tracks)
