import numpy as np
import pytest
import torch
from tiny import DENOISER, SCALING, WINDOW, make_denoiser, make_distance

from chronoforest.errors import InvalidParameter
from chronoforest.models.denoiser import (
    sampling_levels,
    signal_table,
)
from chronoforest.models.params import GuidanceParams, SamplerParams
from chronoforest.models.sampler import (
    ANCHOR_WEIGHT,
    LARGEST_STEP,
    SegmentSampler,
    Student,
    correction,
    rdf_gradient,
    step_size,
)
from chronoforest.types import Query, SharedNoise

PARAMS = SamplerParams(num_steps=6)


class Homing:
    """A distance whose way downhill is the straight line, as a tiny untrained network's is not."""

    far = 200.0

    def place_codes(self, places):
        return places

    def downhill(self, points, targets, is_incoming):
        ahead = targets - points
        length = ahead.norm(dim=-1)
        return 10 * length, ahead / length[:, None].clamp_min(1e-8)


class Ideal(torch.nn.Module):
    """The perfect denoiser of frames that are independent normal numbers."""

    params, window = DENOISER, WINDOW

    def __init__(self):
        super().__init__()
        self.scaling = SCALING

    def forward(self, tokens, levels):
        return signal_table()[levels].sqrt().unsqueeze(-1) * tokens


class Watched(Ideal):
    """The same, which keeps what it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def forward(self, tokens, levels):
        self.asked.append((tokens.clone(), levels.clone()))
        return super().forward(tokens, levels)


def make_sampler(params=PARAMS, distance="homing"):
    return SegmentSampler(make_denoiser(), Homing() if distance == "homing" else distance, params)


def query(count=8, guidance=4.0, is_incoming=False, seed=0):
    rng = np.random.default_rng(seed)
    boundary = rng.uniform(2.0, 8.0, (count, 2))
    return Query(
        boundary=boundary,
        target=boundary + rng.normal(0.0, 30.0, (count, 2)),
        is_incoming=np.full(count, is_incoming),
        guidance=np.full(count, guidance),
    )


def sampled(sampler, asked, seed=0):
    return sampler(asked, np.random.default_rng(seed))


@pytest.mark.parametrize("is_incoming", [False, True])
@pytest.mark.parametrize("guidance", [0.0, 4.0])
def test_segments_begin_exactly_at_their_boundary_in_both_directions(is_incoming, guidance):
    asked = query(guidance=guidance, is_incoming=is_incoming)
    segments = sampled(make_sampler(), asked)
    assert segments.shape == (len(asked), WINDOW.horizon + 1, 2)
    np.testing.assert_array_equal(segments[:, 0], asked.boundary.astype(np.float32))
    assert np.isfinite(segments).all()


@pytest.mark.parametrize("randomness", [0.0, 0.5])
def test_one_seed_gives_one_batch_and_another_another(randomness):
    sampler = make_sampler(SamplerParams(num_steps=6, randomness=randomness))
    first, again, other = (sampled(sampler, query(), seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_sampling_does_not_touch_the_global_random_state():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    sampler = SegmentSampler(make_sampler().net, Homing(), PARAMS)
    torch.set_rng_state(before)
    sampled(sampler, query())
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("is_incoming", [False, True])
def test_guidance_moves_tails_toward_their_targets(is_incoming):
    sampler = SegmentSampler(Ideal(), Homing(), SamplerParams())
    free, guided = (
        sampled(sampler, query(guidance=scale, is_incoming=is_incoming))[:, -1] for scale in (0.0, 8.0)
    )
    target = query().target
    before, after = (np.linalg.norm(tail - target, axis=1) for tail in (free, guided))
    assert (after < before - 0.5).all()


def test_unguided_rows_are_the_same_whoever_shares_their_batch():
    asked = query()
    mixed = Query(asked.boundary, asked.target, asked.is_incoming, np.array([0.0, 4.0] * 4))
    free = Query(asked.boundary, asked.target, asked.is_incoming, np.zeros(8))
    with_guided, alone = (sampled(make_sampler(), rows) for rows in (mixed, free))
    np.testing.assert_allclose(with_guided[::2], alone[::2], atol=1e-5)
    assert not np.allclose(with_guided[1::2], alone[1::2])


def test_directions_may_be_mixed_in_one_batch():
    asked = query()
    flags = np.array([False, True] * 4)
    mixed = sampled(make_sampler(), Query(asked.boundary, asked.target, flags, asked.guidance))
    for rows, is_incoming in ((slice(0, None, 2), False), (slice(1, None, 2), True)):
        alone = sampled(make_sampler(), query(is_incoming=is_incoming))
        np.testing.assert_allclose(mixed[rows], alone[rows], atol=1e-5)


@pytest.mark.parametrize("change", [{"inject": "noisy"}, {"spread": "sparse"}])
def test_other_guidance_differs_from_the_default_and_leaves_the_default_as_it_was(change):
    sampler = make_sampler()
    default = sampled(sampler, query())
    other = sampled(sampler.guided_by(**change), query())
    assert not np.allclose(default, other)
    np.testing.assert_array_equal(sampled(sampler, query()), default)
    free = query(guidance=0.0)
    np.testing.assert_allclose(sampled(sampler, free), sampled(sampler.guided_by(**change), free), atol=1e-6)


def test_guidance_follows_the_distance_near_and_the_straight_line_far():
    """A distance that points the wrong way turns the guided segments; beyond its reliable range it cannot."""

    class Contrary(Homing):
        def downhill(self, points, targets, is_incoming):
            steps, direction = super().downhill(points, targets, is_incoming)
            return steps, -direction

    def tails(distance, reliable):
        distance.far = reliable
        return sampled(make_sampler(distance=distance), query())[:, -1]

    assert not np.allclose(tails(Homing(), 1e9), tails(Contrary(), 1e9))
    np.testing.assert_array_equal(tails(Homing(), 0.0), tails(Contrary(), 0.0))


def test_without_a_distance_free_samples_work_and_guided_ones_are_refused():
    sampler = make_sampler(distance=None)
    assert np.isfinite(sampled(sampler, query(guidance=0.0))).all()
    with pytest.raises(InvalidParameter, match="needs a temporal distance"):
        sampled(sampler, query())


@pytest.mark.parametrize("is_incoming", [False, True])
def test_the_network_is_told_that_the_boundary_is_clean_and_the_rest_is_not(is_incoming):
    """The boundary is the first token of a segment that leaves and the last of one that arrives."""
    asked = query(is_incoming=is_incoming)
    net = Watched()
    sampled(SegmentSampler(net, Homing(), PARAMS), asked)
    boundary = SCALING.normalise(torch.as_tensor(asked.boundary, dtype=torch.float32))
    clean, noisy = (-1, slice(0, -1)) if is_incoming else (0, slice(1, None))
    for tokens, levels in net.asked:
        assert (levels[:, clean] == 0).all()
        assert (levels[:, noisy] > 0).all()
        torch.testing.assert_close(tokens[:, clean].reshape(len(asked), -1, 2)[:, 0], boundary)


def test_tokens_that_lag_are_noisier_and_end_as_clean_as_the_others():
    net = Watched()
    segments = sampled(SegmentSampler(net, Homing(), SamplerParams(num_steps=4, token_lag=1)), query())
    seen = [levels[0].tolist() for _, levels in net.asked]
    assert seen == [[0, 1000, 1000], [0, 750, 1000], [0, 500, 750], [0, 250, 500], [0, 0, 250]]
    assert np.isfinite(segments).all()


@pytest.mark.parametrize("is_incoming", [False, True])
def test_a_token_that_is_done_stays_while_the_others_go_on(is_incoming):
    """The perfect denoiser of independent frames: what lags cannot change what does not."""
    asked = query(is_incoming=is_incoming, guidance=0.0)
    together, apart = (
        sampled(SegmentSampler(Ideal(), None, SamplerParams(num_steps=4, token_lag=lag)), asked)
        for lag in (0, 2)
    )
    np.testing.assert_allclose(apart, together, atol=1e-5)


def test_clean_tokens_are_said_to_be_at_the_stabilisation_level_and_scaled_to_it():
    asked, net = query(), Watched()
    params = SamplerParams(num_steps=3, token_lag=1, stabilisation=10)
    sampled(SegmentSampler(net, Homing(), params), asked)
    boundary = SCALING.normalise(torch.as_tensor(asked.boundary, dtype=torch.float32))
    for tokens, levels in net.asked:
        assert (levels[:, 0] == 10).all()
        assert (levels > 0).all()
        scaled = signal_table()[10].sqrt() * boundary
        torch.testing.assert_close(tokens[:, 0].reshape(len(asked), -1, 2)[:, 0], scaled)
    assert net.asked[-1][1][0].tolist() == [10, 10, 333]


def test_without_strength_nobody_is_guided():
    unguided = make_sampler(distance=None).guided_by(strength=0.0)
    free = sampled(make_sampler(), query(guidance=0.0))
    np.testing.assert_array_equal(sampled(unguided, query(guidance=4.0)), free)


def test_other_steps_are_taken_by_the_full_network():
    """A student learned the levels it visits and no others."""
    student = Student(make_denoiser(1), (1000, 500, 0))
    sampler = SegmentSampler(make_denoiser(), Homing(), PARAMS, "cpu", student)
    assert sampler.net is student.net
    assert sampler.guided_by(spread="sparse").net is student.net
    other = sampler.denoising_by(token_lag=1)
    assert (other.net, other.levels) == (sampler.teacher, sampling_levels(PARAMS.num_steps))


def test_other_parameters_leave_the_rest_as_it_was():
    sampler = make_sampler().guided_by(spread="sparse").denoising_by(randomness=0.1, token_lag=1)
    assert (sampler.params.guidance.spread, sampler.params.randomness) == ("sparse", 0.1)
    assert sampler.in_steps(3).params == SamplerParams(3, 0.1, 1, 0, sampler.params.guidance)
    assert sampler.in_steps(99).params.num_steps == PARAMS.num_steps


@pytest.mark.parametrize("randomness", [0.0, 0.5])
def test_rows_of_several_askers_get_the_segments_they_would_get_alone(randomness):
    sampler = make_sampler(SamplerParams(num_steps=6, randomness=randomness), make_distance())
    asked = query(12)
    noise = SharedNoise([(np.random.default_rng(seed), count) for seed, count in ((1, 2), (2, 9), (3, 1))])
    together = sampler(asked, noise)
    for seed, rows in ((1, slice(0, 2)), (2, slice(2, 11)), (3, slice(11, 12))):
        part = Query(*(getattr(asked, name)[rows] for name in asked.__dataclass_fields__))
        np.testing.assert_allclose(together[rows], sampled(sampler, part, seed), atol=1e-4)


@pytest.mark.parametrize("is_incoming", [False, True])
def test_rows_that_are_held_stand_at_their_target_and_leave_the_others_alone(is_incoming):
    """The network is told that their last token is clean; the rows beside them are as without them."""
    asked = query(is_incoming=is_incoming)
    is_held = np.arange(len(asked)) % 2 == 1
    mixed = Query(asked.boundary, asked.target, asked.is_incoming, np.where(is_held, np.inf, asked.guidance))
    net = Watched()
    free, held = (
        sampled(SegmentSampler(one, Homing(), PARAMS), rows) for one, rows in ((Ideal(), asked), (net, mixed))
    )
    np.testing.assert_allclose(
        held[is_held, -10:], np.repeat(asked.target[is_held, None], 10, axis=1), atol=1e-5
    )
    np.testing.assert_array_equal(held[~is_held], free[~is_held])
    far = 0 if is_incoming else -1
    assert all((levels[:, far] == 0).tolist() == is_held.tolist() for _, levels in net.asked)


GUIDANCE = GuidanceParams()


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def goal_score(tail: torch.Tensor, direction: torch.Tensor) -> torch.Tensor:
    """U_goal = ⟨tail, sg(direction)⟩, [n, 2] × [n, 2] → [n]."""
    return (tail * direction.detach()).sum(dim=-1)


def anchor_score(head: torch.Tensor, boundary: torch.Tensor) -> torch.Tensor:
    """U_anchor = −‖head − sg(boundary)‖², [n]."""
    return -(head - boundary.detach()).square().sum(dim=-1)


def rdf_score(tail: torch.Tensor, head: torch.Tensor, params: GuidanceParams) -> torch.Tensor:
    """U_rdf = ψ(‖tail − sg(head)‖) with ψ(d) = −exp(−d²/2σ²)/(d + ε), [n]."""
    gap = (tail - head.detach()).norm(dim=-1).clamp_min(1e-6)
    return -torch.exp(-gap.square() / (2.0 * params.rdf_radius**2)) / (gap + params.softness)


def points(count=20, spread=2.0):
    return spread * torch.randn(count, 2, dtype=torch.float64)


def gradient(score, at):
    at = at.clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(score(at).sum(), at)
    return slope


@pytest.mark.parametrize("radius", [0.5, 2.0])
def test_the_rdf_gradient_is_the_scores(radius):
    tail, head = points(), points()
    slope = gradient(lambda x: rdf_score(x, head, GuidanceParams(rdf_radius=radius)), tail)
    torch.testing.assert_close(rdf_gradient(tail, head, GuidanceParams(rdf_radius=radius)), slope)


def test_the_rdf_term_pushes_the_tail_away_and_only_while_it_is_near():
    head = torch.zeros(3, 2, dtype=torch.float64)
    tail = torch.tensor([[0.5, 0.0], [2.0, 0.0], [20.0, 0.0]], dtype=torch.float64)
    push = rdf_gradient(tail, head, GuidanceParams())[:, 0]
    assert push[0] > push[1] > 1e-3
    assert 0 <= push[2] < 1e-9


def test_the_step_grows_with_the_noise_up_to_its_bound():
    steps = step_size(signal_table())
    assert steps[0] == 0
    assert (steps.diff() >= 0).all()
    assert steps[-1] == LARGEST_STEP


def window_and_pull(count=6, frames=8):
    window = torch.randn(count, 1 + frames, 2).cumsum(dim=1)
    direction = torch.nn.functional.normalize(torch.randn(count, 2), dim=-1)
    return window, direction


def test_unguided_rows_are_left_alone_by_all_terms():
    window, direction = window_and_pull()
    scale = torch.tensor([0.0, 3.0] * 3)
    moved = correction(window, direction, scale, GUIDANCE)
    assert (moved[::2] == 0).all()
    assert (moved[1::2].abs().sum(dim=(1, 2)) > 0).all()


def test_the_ramp_moves_every_frame_in_proportion_and_the_sparse_form_the_tail_alone(monkeypatch):
    monkeypatch.setattr("chronoforest.models.sampler.ANCHOR_WEIGHT", 0.0)
    window, direction = window_and_pull()
    scale = torch.full((6,), 3.0)
    ramp, sparse = (
        correction(window, direction, scale, GuidanceParams(spread=spread)) for spread in ("ramp", "sparse")
    )
    torch.testing.assert_close(ramp[:, -1], sparse[:, -1])
    share = torch.arange(1, 9) / 8
    torch.testing.assert_close(ramp, share[None, :, None] * ramp[:, -1:])
    assert (sparse[:, :-1] == 0).all()


def test_the_correction_is_the_gradient_of_the_weighted_scores_at_head_and_tail():
    window, direction = window_and_pull()
    window, direction = window.double(), direction.double()
    scale = torch.full((6,), 3.0, dtype=torch.float64)
    params = GuidanceParams(spread="sparse")

    def score(frames):
        head, tail = frames[:, 0], frames[:, -1]
        return (
            scale * goal_score(tail, direction)
            + params.rdf_weight * rdf_score(tail, window[:, 0], params)
            + ANCHOR_WEIGHT * anchor_score(head, window[:, 0])
        )

    torch.testing.assert_close(correction(window, direction, scale, params), gradient(score, window[:, 1:]))
