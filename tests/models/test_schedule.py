import pytest
import torch

from chronoforest.models import schedule
from chronoforest.models.params import NUM_LEVELS


def test_the_signal_falls_from_exactly_1_to_almost_nothing():
    signal = schedule.signal_table()
    assert signal.shape == (NUM_LEVELS + 1,)
    assert signal[0] == 1.0
    assert (signal.diff() < 0).all()
    assert 0 < signal[-1] < 1e-4


def test_level_0_is_exactly_clean_and_the_last_level_is_noise():
    torch.manual_seed(0)
    clean = 100 * torch.randn(50, 3, 8)
    levels = torch.tensor([0, 500, NUM_LEVELS]).expand(50, 3)
    noisy = schedule.add_noise(clean, levels, schedule.signal_table())
    assert torch.equal(noisy[:, 0], clean[:, 0])
    assert not torch.equal(noisy[:, 1], clean[:, 1])
    assert abs((noisy[:, 2] - clean[:, 2] * schedule.signal_table()[-1].sqrt()).std() - 1.0) < 0.1


def test_noise_keeps_unit_variance_at_every_level():
    torch.manual_seed(0)
    clean = torch.randn(4000, 5, 4)
    levels = torch.tensor([0, 10, 200, 600, 1000]).expand(4000, 5)
    noisy = schedule.add_noise(clean, levels, schedule.signal_table())
    torch.testing.assert_close(noisy.std(dim=(0, 2)), torch.ones(5), atol=0.03, rtol=0)


def test_signal_to_noise_falls_with_the_level():
    assert (schedule.signal_to_noise(schedule.signal_table()).diff() < 0).all()


@pytest.mark.parametrize("num_steps", [1, 7, 20, 1000])
def test_a_sampler_visits_falling_levels_from_the_noisiest_to_the_clean_one(num_steps):
    levels = schedule.sampling_levels(num_steps)
    assert len(levels) == num_steps + 1
    assert (levels[0], levels[-1]) == (NUM_LEVELS, 0)
    assert list(levels) == sorted(set(levels), reverse=True)


def test_without_a_lag_all_tokens_are_lowered_together():
    levels = [1000, 600, 100, 0]
    assert schedule.token_levels(levels, num_tokens=3).T.tolist() == [levels] * 3


@pytest.mark.parametrize("lag", [1, 2])
def test_with_a_lag_every_token_goes_the_same_way_later_than_the_one_before_it(lag):
    levels = schedule.sampling_levels(10)
    table = schedule.token_levels(levels, num_tokens=4, lag=lag)
    for token, column in enumerate(table.T.tolist()):
        late = [NUM_LEVELS] * (lag * token)
        early = [0] * (lag * (3 - token))
        assert column == [*late, *levels, *early]
