import numpy as np
import pytest
import torch
from tiny import SCALING, WINDOW, make_denoiser

from benchmarks.peers.compositional import JointSampler
from chronoforest.models.denoiser import mirror, to_tokens, to_window
from chronoforest.models.params import SamplerParams
from chronoforest.models.sampler import SegmentSampler

START, GOAL = np.array([1.0, 2.0]), np.array([7.0, 5.0])


class Ruler(torch.nn.Module):
    """A denoiser that moves a fixed step per frame away from the clean boundary, ahead or back in time."""

    def __init__(self, net, step):
        super().__init__()
        self.params, self.scaling, self.window = net.params, net.scaling, net.window
        self.step = torch.tensor(step, dtype=torch.float32)

    def forward(self, tokens, levels):
        is_incoming = bool((levels[:, -1] == 0).all())
        outward = mirror(tokens) if is_incoming else tokens
        away = -self.step if is_incoming else self.step
        frames = torch.arange(self.window.horizon + 1)[None, :, None] * away
        clean = to_tokens(to_window(outward)[:, :1] + frames)
        return mirror(clean) if is_incoming else clean


def joint_sampler(net):
    return JointSampler(SegmentSampler(net, None, SamplerParams(num_steps=6)))


@pytest.mark.parametrize("num_segments", [1, 2, 5])
def test_chains_run_from_the_start_to_the_goal_through_shared_frames(num_segments):
    chains = joint_sampler(make_denoiser())(START, GOAL, num_segments, 3, np.random.default_rng(0))
    assert chains.shape == (3, num_segments * WINDOW.horizon + 1, 2)
    np.testing.assert_allclose(chains[:, 0], np.tile(START, (3, 1)), atol=1e-5)
    np.testing.assert_allclose(chains[:, -1], np.tile(GOAL, (3, 1)), atol=1e-5)


def test_the_seed_decides():
    sample = joint_sampler(make_denoiser())
    first, again, other = (sample(START, GOAL, 2, 2, np.random.default_rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("num_segments", [1, 3])
def test_segments_that_fit_between_the_ends_are_left_as_they_are(num_segments):
    """Segments that are straight and exactly as long as the chain needs make the straight line."""
    num_frames = num_segments * WINDOW.horizon
    step = (GOAL - START) / num_frames / SCALING.std.numpy()
    chains = joint_sampler(Ruler(make_denoiser(), step))(
        START, GOAL, num_segments, 2, np.random.default_rng(0)
    )
    line = START + np.linspace(0.0, 1.0, num_frames + 1)[:, None] * (GOAL - START)
    np.testing.assert_allclose(chains, np.stack([line, line]), atol=1e-4)
