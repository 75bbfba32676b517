import pytest
import torch

from chronoforest.errors import InvalidParameter
from chronoforest.models.denoiser import draw_windows
from chronoforest.models.params import WindowParams

NUM_STEPS = 101


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def clocks(num_episodes=7, num_steps=NUM_STEPS):
    """Tracks [E, T, 2] whose frames say which episode and step they are."""
    episode, step = torch.meshgrid(torch.arange(num_episodes), torch.arange(num_steps), indexing="ij")
    return torch.stack([episode, step], dim=-1).float()


def drawn(num_windows=2000, num_steps=NUM_STEPS, **changes):
    params = WindowParams(stride=5, horizon=8)
    return draw_windows(clocks(num_steps=num_steps), num_windows, params, **changes), params


def test_a_window_has_its_boundary_first_and_stays_in_one_recording():
    windows, params = drawn()
    assert windows.shape == (2000, params.horizon + 1, 2)
    assert (windows[:, :, 0] == windows[:, :1, 0]).all()
    assert set(windows[:, 0, 0].tolist()) == set(range(7))


def test_frames_are_a_stride_apart_until_the_recording_ends_and_then_repeat_its_last():
    windows, params = drawn(padded_share=0.5)
    wanted = windows[:, :1, 1] + params.stride * torch.arange(params.horizon + 1)
    assert torch.equal(windows[:, :, 1], wanted.clamp(max=NUM_STEPS - 1))


def test_without_padding_no_window_runs_over_the_end_and_all_starts_occur():
    windows, params = drawn(padded_share=0.0)
    assert (windows[:, -1, 1] - windows[:, 0, 1] == params.span).all()
    assert set(windows[:, 0, 1].tolist()) == set(range(NUM_STEPS - params.span))


def test_with_padding_some_windows_start_late_and_most_shares_hold():
    windows, params = drawn(num_windows=20_000, padded_share=0.4)
    is_late = windows[:, 0, 1] > NUM_STEPS - 1 - params.span
    assert 0.02 < is_late.float().mean() < 0.4
    tails = (windows[:, -1, 1] - windows[:, 0, 1])[is_late]
    assert len(set(tails.tolist())) > 10


def test_recordings_shorter_than_a_window_are_padded():
    windows, _ = drawn(num_steps=11, padded_share=0.0)
    assert (windows[:, 0, 1] == 0).all()
    assert (windows[:, 2:, 1] == 10).all()


def test_the_same_seed_draws_the_same_windows():
    first = drawn()[0]
    torch.manual_seed(0)
    assert torch.equal(drawn()[0], first)


@pytest.mark.parametrize("broken", [{"stride": 0}, {"horizon": 0}])
def test_parameters_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match=str(next(iter(broken.values())))):
        WindowParams(**broken)
