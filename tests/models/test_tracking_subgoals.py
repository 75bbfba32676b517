import pytest
import torch
from tiny import SCALING, TRACKER, clocks

from chronoforest.data.scaling import Scaling
from chronoforest.errors import InvalidParameter
from chronoforest.models.params import SubgoalParams
from chronoforest.models.tracking import RANDOM_SHARE, Steps, SubgoalInputs, draw_steps, weighted_mean


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def steps_toward(subgoals, positions):
    """A batch of steps from the origin to positions [n, 2] with subgoals [n, 2]."""
    there = torch.tensor(positions)
    count = len(there)
    return Steps(
        torch.zeros(count, 2), there, torch.zeros(count, 2), torch.tensor(subgoals), torch.ones(count)
    )


def test_hindsight_subgoals_lie_the_allowed_number_of_steps_ahead():
    tracks = clocks()
    steps = draw_steps(tracks, tracks, 5000, TRACKER, stride=2)
    seen = steps.is_hindsight
    assert abs(seen.float().mean() - (1 - RANDOM_SHARE)) < 0.03
    start = steps.observation[seen]
    ahead = (steps.subgoal - steps.observation)[seen]
    assert (ahead[:, 0] == 0).all()
    is_early = start[:, 1] < tracks.shape[1] - 13
    assert ahead[is_early, 1].min() == 2
    assert ahead[is_early, 1].max() == 12
    assert (steps.subgoal[seen][:, 1] <= tracks.shape[1] - 1).all()


def test_random_subgoals_lie_in_the_square_around_the_agent():
    tracks = clocks()
    steps = draw_steps(tracks, tracks, 5000, TRACKER, 2, random_share=1.0)
    offset = steps.subgoal - steps.observation
    assert not steps.is_hindsight.any()
    assert offset.abs().max() <= TRACKER.largest_subgoal
    assert abs(offset.mean()) < 0.2


def test_a_step_costs_one_unless_it_comes_within_the_radius():
    batch = steps_toward([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], [[0.2, 0.0], [0.6, 0.0], [1.0, 0.0]])
    backup = batch.backup(torch.tensor([-5.0, -5.0, -5.0]), discount=0.9, radius=0.5)
    torch.testing.assert_close(backup, torch.tensor([-5.5, 0.0, 0.0]))


def test_subgoals_are_relative_to_the_place_before_and_after_the_step():
    batch = steps_toward([[3.0, 4.0]], [[1.0, 1.0]])
    torch.testing.assert_close(batch.here, torch.tensor([[3.0, 4.0]]))
    torch.testing.assert_close(batch.there, torch.tensor([[2.0, 3.0]]))


def test_inputs_hold_the_standardised_body_and_the_subgoal_in_halves_of_the_largest():
    scaling = Scaling(torch.arange(5).numpy(), torch.full((5,), 2.0).numpy())
    inputs = SubgoalInputs(SubgoalParams(largest_subgoal=4.0), scaling)
    shown = inputs(torch.tensor([9.0, 9.0, 4.0, 3.0, 2.0]), torch.tensor([0.0, 3.0]))
    torch.testing.assert_close(shown, torch.tensor([1.0, 0.0, -1.0, 0.0, 1.5]))
    far = inputs(torch.zeros(5), torch.tensor([0.0, 300.0]))
    torch.testing.assert_close(far[-2:], torch.tensor([0.0, 2.0]))


def test_a_weighted_mean_of_nothing_is_nothing():
    assert weighted_mean(torch.ones(3), torch.zeros(3)) == 0
    torch.testing.assert_close(
        weighted_mean(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 1.0])), torch.tensor(2.0)
    )


def test_the_scaling_travels_with_the_inputs():
    assert "scaling.mean" in SubgoalInputs(TRACKER, SCALING).state_dict()


@pytest.mark.parametrize("broken", [{"radius": 0.0}, {"largest_subgoal": -1.0}])
def test_subgoals_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match="got"):
        SubgoalParams(**broken)
