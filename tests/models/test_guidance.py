import pytest
import torch

from chronoforest.models import sampler as guidance
from chronoforest.models.denoiser import signal_table
from chronoforest.models.params import GuidanceParams

PARAMS = GuidanceParams()


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
    torch.testing.assert_close(guidance.rdf_gradient(tail, head, GuidanceParams(rdf_radius=radius)), slope)


def test_the_rdf_term_pushes_the_tail_away_and_only_while_it_is_near():
    head = torch.zeros(3, 2, dtype=torch.float64)
    tail = torch.tensor([[0.5, 0.0], [2.0, 0.0], [20.0, 0.0]], dtype=torch.float64)
    push = guidance.rdf_gradient(tail, head, GuidanceParams())[:, 0]
    assert push[0] > push[1] > 1e-3
    assert 0 <= push[2] < 1e-9


def test_the_step_grows_with_the_noise_up_to_its_bound():
    steps = guidance.step_size(signal_table())
    assert steps[0] == 0
    assert (steps.diff() >= 0).all()
    assert steps[-1] == guidance.LARGEST_STEP


def window_and_pull(count=6, frames=8):
    window = torch.randn(count, 1 + frames, 2).cumsum(dim=1)
    direction = torch.nn.functional.normalize(torch.randn(count, 2), dim=-1)
    return window, direction


def test_unguided_rows_are_left_alone_by_all_terms():
    window, direction = window_and_pull()
    scale = torch.tensor([0.0, 3.0] * 3)
    moved = guidance.correction(window, direction, scale, PARAMS)
    assert (moved[::2] == 0).all()
    assert (moved[1::2].abs().sum(dim=(1, 2)) > 0).all()


def test_the_ramp_moves_every_frame_in_proportion_and_the_sparse_form_the_tail_alone(monkeypatch):
    monkeypatch.setattr(guidance, "ANCHOR_WEIGHT", 0.0)
    window, direction = window_and_pull()
    scale = torch.full((6,), 3.0)
    ramp, sparse = (
        guidance.correction(window, direction, scale, GuidanceParams(spread=spread))
        for spread in ("ramp", "sparse")
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
            + guidance.ANCHOR_WEIGHT * anchor_score(head, window[:, 0])
        )

    torch.testing.assert_close(
        guidance.correction(window, direction, scale, params), gradient(score, window[:, 1:])
    )
