import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from fakes import SPEED, EuclideanDistance
from tiny import DISTANCE, SCALING, make_distance

from chronoforest.models.distance import (
    COVERAGE,
    DistanceLearner,
    TemporalDistance,
    Transitions,
    calibrate,
    covering_alpha,
    draw_step_pairs,
    draw_transitions,
    expectile_loss,
    predict,
    thinned,
)
from chronoforest.models.params import DistanceParams, GoalParams

LOCAL = DistanceParams().local_window
JUMP = 1.5

either = pytest.mark.parametrize("is_directed", [False, True])


def places(count=30, seed=0):
    return np.random.default_rng(seed).uniform(0.0, 10.0, (count, 2))


def steps_between(distance, source, target):
    return distance.between(distance.encode(source), distance.encode(target))


def test_a_symmetric_distance_is_the_same_both_ways_and_zero_at_home():
    distance, here, there = make_distance(), places(), places(seed=1)
    np.testing.assert_array_equal(steps_between(distance, here, there), steps_between(distance, there, here))
    assert steps_between(distance, here, here).max() < 0.01


def test_a_directed_distance_is_not_the_same_both_ways():
    distance, here, there = make_distance(is_directed=True), places(), places(seed=1)
    assert not np.allclose(steps_between(distance, here, there), steps_between(distance, there, here))


@either
def test_few_pairs_are_compared_on_the_processor_wherever_the_network_lies(is_directed):
    """On a device that holds no numbers, nothing else could tell them."""
    near = make_distance(is_directed)
    far = TemporalDistance(copy.deepcopy(near.net), "meta")
    source, target = near.encode(places()), near.encode(places(seed=1))
    np.testing.assert_array_equal(far.between(source, target), near.between(source, target))
    np.testing.assert_array_equal(far.pairwise(source, target), near.pairwise(source, target))


@either
def test_all_pairs_are_what_single_pairs_are(is_directed):
    distance = make_distance(is_directed)
    source, target = distance.encode(places(20)), distance.encode(places(40, seed=1))
    table = distance.pairwise(source, target)
    assert table.shape == (20, 40)
    for row in range(20):
        line = distance.between(np.repeat(source[row : row + 1], 40, axis=0), target)
        np.testing.assert_allclose(table[row], line, atol=2e-3)


@either
def test_symmetric_codes_obey_the_triangle_inequality_in_value(is_directed):
    """A norm (and a one-sided norm) of differences is a metric (a quasi-metric) when ψ is φ."""
    net = make_distance(is_directed).net
    a, b, c = (net.encode(torch.as_tensor(places(seed=k), dtype=torch.float32))[..., :1, :] for k in range(3))
    assert (net.norms(a, c) <= net.norms(a, b) + net.norms(b, c) + 1e-5).all()


def test_steps_grow_with_the_norm_and_stop_at_the_reach():
    net = make_distance(reach=300.0).net
    norms = torch.linspace(0.0, 400.0, 2000, dtype=torch.float64)[:, None].expand(-1, 2)
    steps = net.to_steps(norms)
    assert (steps.diff() >= 0).all()
    assert steps[0] == 0
    torch.testing.assert_close(steps.max(), torch.tensor(300.0, dtype=torch.float64))
    assert torch.isfinite(steps).all()


@pytest.mark.parametrize("true_steps", [1.0, 40.0, 500.0])
def test_a_discounted_sum_over_n_steps_converts_back_to_n(true_steps):
    net = make_distance().net
    value = (1 - DISTANCE.discount**true_steps) / (1 - DISTANCE.discount)
    steps = net.to_steps(torch.full((1, 2), value, dtype=torch.float64))
    torch.testing.assert_close(float(steps), true_steps)


@either
@pytest.mark.parametrize("is_incoming", [False, True])
def test_downhill_is_the_direction_that_lowers_the_distance_fastest(is_directed, is_incoming):
    distance = make_distance(is_directed)
    points, targets = (torch.as_tensor(places(12, seed), dtype=torch.float32) for seed in (0, 1))
    flags = torch.full((12,), is_incoming)
    steps, direction = distance.downhill(points, distance.place_codes(targets), flags)
    torch.testing.assert_close(direction.norm(dim=1), torch.ones(12), atol=1e-3, rtol=0)

    def value(at):
        codes = distance.net.encode(at), distance.net.encode(targets)
        return distance.net.norms(*(codes[::-1] if is_incoming else codes)).sum(dim=-1)

    size = 2e-2
    along = (value(points + size * direction) - value(points - size * direction)) / (2 * size)
    sideways = torch.stack([-direction[:, 1], direction[:, 0]], dim=1)
    across = (value(points + size * sideways) - value(points - size * sideways)) / (2 * size)
    assert (along < 0).all()
    assert (across.abs() < 0.05 * along.abs() + 1e-3).all()
    ends = (points.numpy(), targets.numpy())
    told = steps_between(distance, *(ends[::-1] if is_incoming else ends))
    np.testing.assert_allclose(steps.numpy(), told, rtol=1e-4)


def test_an_expectile_above_a_half_punishes_pessimism():
    low, high = (expectile_loss(torch.tensor([error]), 0.9) for error in (1.0, -1.0))
    torch.testing.assert_close(low, torch.tensor(0.9))
    torch.testing.assert_close(high, torch.tensor(0.1))
    torch.testing.assert_close(expectile_loss(torch.tensor([2.0]), 0.5), torch.tensor(2.0))


def line_batch(count=256, length=10):
    """Transitions one unit to the right on a line, with goals anywhere on it."""
    state = torch.randint(length, (count,)).float()
    goal = torch.randint(length + 1, (count,)).float()

    def at(x):
        return torch.stack([x, torch.zeros_like(x)], dim=1)

    return Transitions(at(state), at(state + 1), at(torch.ones(count)), at(goal), state == goal)


@pytest.mark.parametrize("has_action_values", [False, True])
@either
def test_learning_lowers_the_loss_and_moves_only_what_is_trained(has_action_values, is_directed):
    torch.manual_seed(0)
    params = replace(DISTANCE, has_action_values=has_action_values, discount=0.9)
    learner = DistanceLearner(params, SCALING, is_directed)
    averages = [average for _, average in learner.averages()]
    before = [parameter.clone() for average in averages for parameter in average.parameters()]
    optimizer = torch.optim.Adam([p for p in learner.parameters() if p.requires_grad], lr=3e-3)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = learner.loss(line_batch())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:5])
    after = [parameter for average in averages for parameter in average.parameters()]
    assert all(map(torch.equal, before, after))


@either
def test_only_a_directed_distance_lets_one_gain_for_free(is_directed):
    """Codes that lie below the target's in every coordinate cost nothing when only excess counts."""
    net = make_distance(is_directed).net
    target = net.encode(torch.as_tensor(places(), dtype=torch.float32))
    below = (target[..., -1:, :] - 1.0).expand_as(target)
    assert (net.norms(below, target).max() < 0.01) == is_directed
    assert net.norms(below + 2.0, target).min() > 1.0


def test_a_backup_of_several_steps_counts_and_reaches_as_many_times_farther():
    norms = torch.tensor([[3.0, 5.0], [1e6, 1e6]])
    single, several = (make_distance(backup=k, reach=100.0 * k).net for k in (1, 4))
    torch.testing.assert_close(several.to_steps(norms), 4 * single.to_steps(norms))
    assert several.to_steps(norms)[1] == pytest.approx(400.0, rel=1e-3)


@either
def test_the_code_of_a_place_does_not_depend_on_its_company(is_directed):
    distance, many = make_distance(is_directed=is_directed), places(100)
    codes = distance.encode(many)
    for count in (1, 2, 3, 7, 50):
        np.testing.assert_allclose(distance.encode(many[:count]), codes[:count], rtol=1e-6, atol=1e-6)
    assert len(distance.encode(many[:0])) == 0


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
    fitted = calibrate(*noisy_clock(scale=scale, spread=0.15), LOCAL, coverage)
    predicted, steps = noisy_clock(seed=1, scale=scale, spread=0.15)
    is_far = predicted > LOCAL
    covered = steps[is_far] <= fitted.local_scale * fitted.inflate(predicted[is_far]) + 1e-9
    assert covered.mean() == pytest.approx(coverage, abs=0.02)


def test_the_local_scale_corrects_a_constant_factor():
    assert calibrate(*noisy_clock(scale=1.25), LOCAL).local_scale == pytest.approx(1.25, rel=0.01)


def test_an_exact_distance_needs_no_inflation_and_makes_no_error():
    steps = np.linspace(2.0, 400.0, 500)
    fitted = calibrate(steps, steps, LOCAL)
    assert (fitted.alpha, fitted.local_scale) == (0.0, pytest.approx(1.0))
    assert fitted.local_ratios == pytest.approx((1.0, 1.0))
    assert all(error == pytest.approx(0.0, abs=1e-9) for _, error in fitted.local_error)


def test_ratio_bands_hold_nine_tenths_of_new_pairs():
    fitted = calibrate(*noisy_clock(), LOCAL)
    predicted, steps = noisy_clock(seed=1)
    ratio = steps / (fitted.local_scale * fitted.inflate(predicted))
    is_local = (predicted <= LOCAL) & (predicted > 1) & (steps > 1)
    for mask, (low, high) in ((is_local, fitted.local_ratios), (predicted > 1, fitted.all_ratios)):
        assert ((ratio[mask] >= low) & (ratio[mask] <= high)).mean() == pytest.approx(0.9, abs=0.02)


def test_local_errors_rise_and_bound_the_wanted_share():
    fitted = calibrate(*noisy_clock(), LOCAL)
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
    pairs = draw_step_pairs(straight_walks(), JUMP, num_pairs=4000)
    assert len(pairs.steps) > 0.9 * 4000
    assert pairs.steps.min() >= 1
    way = np.linalg.norm(pairs.source - pairs.target, axis=1) / SPEED
    np.testing.assert_allclose(pairs.steps, way, atol=1e-6)
    np.testing.assert_allclose(predict(EuclideanDistance(), pairs), pairs.steps, atol=1e-6)


def test_pairs_across_a_jump_are_left_out():
    walks = straight_walks()
    walks[:, 40:] += [50.0, 0.0]
    pairs = draw_step_pairs(walks, JUMP)
    assert np.linalg.norm(pairs.source - pairs.target, axis=1).max() < 10.0
    assert len(pairs.steps) > 0


def test_recordings_that_never_move_give_a_calibration_all_the_same():
    pairs = draw_step_pairs(np.zeros((5, 30, 2)), JUMP)
    fitted = calibrate(predict(EuclideanDistance(), pairs), pairs.steps, LOCAL)
    assert fitted.alpha >= 0


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
