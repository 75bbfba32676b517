import pytest
import torch
from tiny import WINDOW, clocks, make_denoiser

from chronoforest.errors import InvalidParameter
from chronoforest.models.denoiser import (
    add_noise,
    denoising_loss,
    draw_batch,
    draw_windows,
    mirror,
    sampling_levels,
    signal_table,
    signal_to_noise,
    to_tokens,
    to_window,
    token_levels,
)
from chronoforest.models.params import NUM_LEVELS, DenoiserParams, LevelMix, WindowParams, num_tokens


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def drawn(mix, num_rows=400):
    window = WindowParams(stride=1, horizon=20)
    tokens, levels = draw_batch(clocks(5, 41), num_rows, window, mix)
    return tokens, levels, window


def test_tokens_turn_back_into_the_window_they_came_from():
    window = torch.randn(7, 1 + WINDOW.horizon, 2)
    assert torch.equal(to_window(to_tokens(window)), window)


def test_the_boundary_token_repeats_the_boundary_frame():
    window = torch.randn(7, 1 + WINDOW.horizon, 2)
    tokens = to_tokens(window)
    assert tokens.shape == (7, num_tokens(WINDOW.horizon), 20)
    assert torch.equal(tokens[:, 0].reshape(7, 10, 2), window[:, :1].expand(7, 10, 2))


def test_mirroring_reverses_the_frames_and_twice_is_the_identity():
    tokens = torch.randn(7, 3, 20)
    frames = tokens.reshape(7, -1, 2)
    assert torch.equal(mirror(tokens).reshape(7, -1, 2), frames.flip(1))
    assert torch.equal(mirror(mirror(tokens)), tokens)


def test_a_leaving_window_has_a_clean_first_token_and_one_level_for_the_rest():
    _, levels, _ = drawn(LevelMix(independent=0.0, leaving=1.0, arriving=0.0))
    assert (levels[:, 0] == 0).all()
    assert (levels[:, 1:] > 0).all()
    assert (levels[:, 1:] == levels[:, 1:2]).all()


def test_an_arriving_window_is_a_recording_that_ends_at_its_clean_last_token():
    """Time runs forward in it, as in every recording, and it may be padded in front."""
    tokens, levels, window = drawn(LevelMix(0.0, 0.0, 1.0))
    assert (levels[:, -1] == 0).all()
    assert (levels[:, :-1] == levels[:, :1]).all()
    frames = tokens.reshape(len(tokens), -1, 2)
    boundary, steps = frames[:, -1], frames[:, : window.horizon, 1]
    assert (frames[:, -10:] == boundary[:, None]).all()
    assert (steps.diff(dim=1) >= 0).all()
    wanted = boundary[:, 1:] - window.stride * torch.arange(window.horizon, 0, -1)
    assert torch.equal(steps, wanted.clamp(min=0))


def test_independent_levels_leave_no_token_clean_and_free_ones_only_the_boundary():
    _, independent, _ = drawn(LevelMix(1.0, 0.0, 0.0))
    assert (independent > 0).all()
    _, free, _ = drawn(LevelMix(0.0, 0.0, 0.0))
    assert (free[:, 0] == 0).all()
    for levels in (independent, free):
        assert (levels[:, 1] != levels[:, 2]).float().mean() > 0.9


def test_a_mixed_batch_has_its_shares():
    _, levels, _ = drawn(LevelMix(0.3, 0.4, 0.15), num_rows=200)
    is_first, is_last = levels[:, 0] == 0, levels[:, -1] == 0
    assert int((~is_first & ~is_last).sum()) == 60
    assert int(is_last.sum()) == 30
    assert int(is_first.sum()) == 110
    assert levels.max() <= NUM_LEVELS


def test_a_batch_too_small_for_every_pattern_is_drawn_all_the_same():
    for num_rows in (1, 2, 3):
        tokens, levels, _ = drawn(LevelMix(), num_rows=num_rows)
        assert (len(tokens), len(levels)) == (num_rows, num_rows)


def test_no_windows_make_no_tokens_and_back():
    nothing = to_tokens(torch.zeros(0, 21, 2))
    assert nothing.shape == mirror(nothing).shape == (0, 3, 20)
    assert to_window(nothing).shape == (0, 21, 2)


def test_the_network_keeps_the_shape_and_is_not_causal():
    net = make_denoiser().eval()
    tokens = torch.randn(2, 3, 20, requires_grad=True)
    clean = net(tokens, torch.full((2, 3), 500))
    assert clean.shape == tokens.shape
    (first,) = torch.autograd.grad(clean[0, 0].sum(), tokens)
    assert (first[0].abs().sum(dim=-1) > 0).all()
    assert (first[1] == 0).all()


def test_the_network_sees_levels_and_positions():
    net = make_denoiser().eval()
    tokens = torch.randn(1, 3, 20).expand(2, 3, 20)
    levels = torch.tensor([[0, 500, 500], [0, 500, 900]])
    one, other = net(tokens, levels)
    assert not torch.allclose(one, other)
    swapped = net(tokens[:1].flip(1), levels[:1].flip(1)).flip(1)
    assert not torch.allclose(swapped[0], one)


def test_the_loss_is_zero_where_every_noisy_token_is_right_and_nowhere_else():
    tokens, levels, _ = drawn(LevelMix(0.0, 1.0, 0.0))
    signal, wrong = signal_table(), tokens + 100.0 * (levels == 0).unsqueeze(-1)
    assert denoising_loss(lambda noisy, _: wrong, tokens, levels, signal) == 0
    assert denoising_loss(lambda noisy, _: tokens + 1, tokens, levels, signal) > 0


def test_weights_are_the_clipped_signal_to_noise_ratio():
    tokens = torch.zeros(1, 3, 20)
    signal = signal_table()
    for level in (1, 300, 900):
        levels = torch.tensor([[0, level, level]])
        loss = denoising_loss(lambda noisy, _: torch.ones_like(noisy), tokens, levels, signal)
        torch.testing.assert_close(loss, signal_to_noise(signal[level]).clamp(max=5.0))


@pytest.mark.parametrize(
    "broken",
    [
        lambda: DenoiserParams(width=30),
        lambda: num_tokens(9),
    ],
)
def test_parameters_that_do_not_fit_are_refused(broken):
    with pytest.raises(InvalidParameter, match="got"):
        broken()


def test_the_signal_falls_from_exactly_1_to_almost_nothing():
    signal = signal_table()
    assert signal.shape == (NUM_LEVELS + 1,)
    assert signal[0] == 1.0
    assert (signal.diff() < 0).all()
    assert 0 < signal[-1] < 1e-4


def test_level_0_is_exactly_clean_and_the_last_level_is_noise():
    torch.manual_seed(0)
    clean = 100 * torch.randn(50, 3, 8)
    levels = torch.tensor([0, 500, NUM_LEVELS]).expand(50, 3)
    noisy = add_noise(clean, levels, signal_table())
    assert torch.equal(noisy[:, 0], clean[:, 0])
    assert not torch.equal(noisy[:, 1], clean[:, 1])
    assert abs((noisy[:, 2] - clean[:, 2] * signal_table()[-1].sqrt()).std() - 1.0) < 0.1


def test_noise_keeps_unit_variance_at_every_level():
    torch.manual_seed(0)
    clean = torch.randn(4000, 5, 4)
    levels = torch.tensor([0, 10, 200, 600, 1000]).expand(4000, 5)
    noisy = add_noise(clean, levels, signal_table())
    torch.testing.assert_close(noisy.std(dim=(0, 2)), torch.ones(5), atol=0.03, rtol=0)


@pytest.mark.parametrize("num_steps", [1, 7, 20, 1000])
def test_a_sampler_visits_falling_levels_from_the_noisiest_to_the_clean_one(num_steps):
    levels = sampling_levels(num_steps)
    assert len(levels) == num_steps + 1
    assert (levels[0], levels[-1]) == (NUM_LEVELS, 0)
    assert list(levels) == sorted(set(levels), reverse=True)


def test_without_a_lag_all_tokens_are_lowered_together():
    levels = [1000, 600, 100, 0]
    assert token_levels(levels, num_tokens=3).T.tolist() == [levels] * 3


@pytest.mark.parametrize("lag", [1, 2])
def test_with_a_lag_every_token_goes_the_same_way_later_than_the_one_before_it(lag):
    levels = sampling_levels(10)
    table = token_levels(levels, num_tokens=4, lag=lag)
    for token, column in enumerate(table.T.tolist()):
        late = [NUM_LEVELS] * (lag * token)
        early = [0] * (lag * (3 - token))
        assert column == [*late, *levels, *early]


def cut(num_windows=2000, num_steps=101, **changes):
    params = WindowParams(stride=5, horizon=8)
    return draw_windows(clocks(7, num_steps), num_windows, params, **changes), params


def test_a_window_has_its_boundary_first_and_stays_in_one_recording():
    windows, params = cut()
    assert windows.shape == (2000, params.horizon + 1, 2)
    assert (windows[:, :, 0] == windows[:, :1, 0]).all()
    assert set(windows[:, 0, 0].tolist()) == set(range(7))


def test_frames_are_a_stride_apart_until_the_recording_ends_and_then_repeat_its_last():
    windows, params = cut(padded_share=0.5)
    wanted = windows[:, :1, 1] + params.stride * torch.arange(params.horizon + 1)
    assert torch.equal(windows[:, :, 1], wanted.clamp(max=101 - 1))


def test_without_padding_no_window_runs_over_the_end_and_all_starts_occur():
    windows, params = cut(padded_share=0.0)
    assert (windows[:, -1, 1] - windows[:, 0, 1] == params.span).all()
    assert set(windows[:, 0, 1].tolist()) == set(range(101 - params.span))


def test_with_padding_some_windows_start_late_and_most_shares_hold():
    windows, params = cut(num_windows=20_000, padded_share=0.4)
    is_late = windows[:, 0, 1] > 101 - 1 - params.span
    assert 0.02 < is_late.float().mean() < 0.4
    tails = (windows[:, -1, 1] - windows[:, 0, 1])[is_late]
    assert len(set(tails.tolist())) > 10


def test_recordings_shorter_than_a_window_are_padded():
    windows, _ = cut(num_steps=11, padded_share=0.0)
    assert (windows[:, 0, 1] == 0).all()
    assert (windows[:, 2:, 1] == 10).all()
