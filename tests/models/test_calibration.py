import numpy as np
import pytest
from fakes import SPEED, EuclideanDistance

from chronoforest.errors import InvalidParameter
from chronoforest.models.calibration import (
    COVERAGE,
    CalibrationParams,
    calibrate,
    covering_alpha,
    draw_step_pairs,
    predict,
    rank_correlation,
)

PARAMS = CalibrationParams()
JUMP = 1.5


def noisy_clock(seed=0, count=20_000, scale=1.0, spread=0.1):
    """Predictions up to 400 steps and recorded steps that scatter about `scale` times them."""
    rng = np.random.default_rng(seed)
    predicted = rng.uniform(0.0, 400.0, count)
    return predicted, scale * predicted * np.exp(rng.normal(0, spread, count))


def straight_walks(num_episodes=50, num_steps=100):
    """Walks of SPEED units a step that arrive after 80 steps and stay."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, num_episodes)
    direction = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    clock = np.minimum(np.arange(num_steps), 80)
    return SPEED * clock[None, :, None] * direction[:, None]


@pytest.mark.parametrize("coverage", [0.8, 0.95])
@pytest.mark.parametrize("scale", [0.9, 1.0, 1.3])
def test_the_inflated_distance_covers_the_wanted_share_of_far_costs(coverage, scale):
    fitted = calibrate(*noisy_clock(scale=scale, spread=0.15), PARAMS, coverage)
    predicted, steps = noisy_clock(seed=1, scale=scale, spread=0.15)
    is_far = predicted > PARAMS.local_window
    covered = steps[is_far] <= fitted.local_scale * fitted.inflate(predicted[is_far]) + 1e-9
    assert covered.mean() == pytest.approx(coverage, abs=0.02)


def test_the_local_scale_corrects_a_constant_factor():
    assert calibrate(*noisy_clock(scale=1.25), PARAMS).local_scale == pytest.approx(1.25, rel=0.01)


def test_an_exact_distance_needs_no_inflation_and_makes_no_error():
    steps = np.linspace(2.0, 400.0, 500)
    fitted = calibrate(steps, steps, PARAMS)
    assert (fitted.alpha, fitted.local_scale) == (0.0, pytest.approx(1.0))
    assert fitted.local_ratios == pytest.approx((1.0, 1.0))
    assert all(error == pytest.approx(0.0, abs=1e-9) for _, error in fitted.local_error)


def test_ratio_bands_hold_nine_tenths_of_new_pairs():
    fitted = calibrate(*noisy_clock(), PARAMS)
    predicted, steps = noisy_clock(seed=1)
    ratio = steps / (fitted.local_scale * fitted.inflate(predicted))
    is_local = (predicted <= PARAMS.local_window) & (predicted > 1) & (steps > 1)
    for mask, (low, high) in ((is_local, fitted.local_ratios), (predicted > 1, fitted.all_ratios)):
        assert ((ratio[mask] >= low) & (ratio[mask] <= high)).mean() == pytest.approx(0.9, abs=0.02)


def test_local_errors_rise_and_bound_the_wanted_share():
    fitted = calibrate(*noisy_clock(), PARAMS)
    predicted, steps = noisy_clock(seed=1)
    errors = [error for _, error in fitted.local_error]
    assert errors == sorted(errors)
    for gap, error in fitted.local_error:
        inside = np.abs(fitted.local_scale * predicted - steps)[predicted <= gap]
        assert (inside <= error).mean() > COVERAGE - 0.04


def test_alpha_is_never_negative_and_just_covers():
    predicted = np.full(100, 100.0)
    assert covering_alpha(predicted, np.linspace(10, 90, 100), 0.95) == 0.0
    alpha = covering_alpha(predicted, np.linspace(100, 200, 100), 0.95)
    assert (predicted + alpha * predicted**2)[0] == pytest.approx(195.0, abs=0.1)


def test_pairs_come_from_the_moving_part_of_recordings():
    """On straight walks the steps between two places are their distance; parked time would break that."""
    pairs = draw_step_pairs(straight_walks(), PARAMS, JUMP, num_pairs=4000)
    assert len(pairs.steps) > 0.9 * 4000
    assert pairs.steps.min() >= 1
    way = np.linalg.norm(pairs.source - pairs.target, axis=1) / SPEED
    np.testing.assert_allclose(pairs.steps, way, atol=1e-6)
    np.testing.assert_allclose(predict(EuclideanDistance(), pairs), pairs.steps, atol=1e-6)


def test_pairs_across_a_jump_are_left_out():
    walks = straight_walks()
    walks[:, 40:] += [50.0, 0.0]
    pairs = draw_step_pairs(walks, PARAMS, JUMP)
    assert np.linalg.norm(pairs.source - pairs.target, axis=1).max() < 10.0
    assert len(pairs.steps) > 0


def test_recordings_that_never_move_give_a_calibration_all_the_same():
    pairs = draw_step_pairs(np.zeros((5, 30, 2)), PARAMS, JUMP)
    fitted = calibrate(predict(EuclideanDistance(), pairs), pairs.steps, PARAMS)
    assert fitted.alpha >= 0


def test_pairs_are_the_same_for_the_same_seed():
    first, again = (draw_step_pairs(straight_walks(), PARAMS, JUMP) for _ in range(2))
    np.testing.assert_array_equal(first.source, again.source)


def test_rank_correlation_sees_order_not_scale():
    values = np.random.default_rng(0).random(50)
    assert rank_correlation(values, np.exp(5 * values)) == pytest.approx(1.0)
    assert rank_correlation(values, -values) == pytest.approx(-1.0)


@pytest.mark.parametrize("broken", [{"local_window": -2.0}, {"arrival_radius": -3.0}])
def test_parameters_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match=str(next(iter(broken.values())))):
        CalibrationParams(**broken)
