"""Joint denoising of several segments in a row: neighbours share a boundary frame, both ends are given."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np
import torch

from chronoforest.models import schedule
from chronoforest.models.denoiser import mirror, to_tokens, to_window
from chronoforest.models.sampler import SegmentSampler
from chronoforest.types import FloatArray


class ChainSampler(Protocol):
    """Generates several segments in a row together, each beginning where the one before it ends."""

    def __call__(
        self,
        start: FloatArray,
        goal: FloatArray,
        num_segments: int,
        num_samples: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """[samples, segments · horizon + 1, 2] world units, from start [2] to goal [2]."""


class JointSampler:
    """The `ChainSampler` of a trained denoiser.

    In every denoising step each window is predicted twice, as a segment that leaves its first frame and as
    one that arrives at its last; either is trusted near the frame it was given, and neighbours meet halfway.
    """

    def __init__(self, sampler: SegmentSampler) -> None:
        self.sampler = sampler.in_full()
        self.horizon = sampler.horizon

    def __call__(
        self,
        start: FloatArray,
        goal: FloatArray,
        num_segments: int,
        num_samples: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """[samples, segments · horizon + 1, 2] world units, from start to goal."""
        scaling, signal = self.sampler.net.scaling, self.sampler.signal
        shape = (num_samples, num_segments * self.horizon + 1, len(start))
        ends = scaling.normalise(self._tensor(np.stack([start, goal])))
        share = torch.linspace(0.0, 1.0, shape[1], device=ends.device)[:, None]
        clean = (ends[0] + share * (ends[1] - ends[0])).expand(shape)
        with torch.no_grad():
            for level, _ in pairwise(schedule.sampling_levels(self.sampler.params.num_steps)):
                noise = self._tensor(rng.standard_normal(shape))
                noisy = signal[level].sqrt() * clean + (1.0 - signal[level]).sqrt() * noise
                clean = self._denoise(noisy, clean, level)
                clean[:, [0, -1]] = ends
        chains: FloatArray = scaling.restore(clean).double().cpu().numpy()
        return chains

    def _denoise(self, noisy: torch.Tensor, guess: torch.Tensor, level: int) -> torch.Tensor:
        """x̂_0 of chains [n, segments · horizon + 1, d]; windows are told the boundary frames of `guess`."""
        windows = noisy.unfold(1, self.horizon + 1, self.horizon).transpose(2, 3)
        bounds = guess[:, :: self.horizon]
        leaving = self._predict(windows, bounds[:, :-1], level)
        arriving = self._predict(windows.flip(2), bounds[:, 1:], level, is_incoming=True).flip(2)
        late = torch.linspace(0.0, 1.0, self.horizon + 1, device=noisy.device)[:, None]
        inner = (1.0 - late) * leaving + late * arriving
        shared = 0.5 * (leaving[:, :-1, -1] + arriving[:, 1:, 0])
        first, last = arriving[:, :1, 0], leaving[:, -1:, -1]
        corners = torch.cat([first, shared, last], dim=1)
        pieces = torch.cat([corners[:, :-1, None], inner[:, :, 1:-1]], dim=2)
        return torch.cat([pieces.flatten(1, 2), corners[:, -1:]], dim=1)

    def _predict(
        self, windows: torch.Tensor, boundary: torch.Tensor, level: int, is_incoming: bool = False
    ) -> torch.Tensor:
        """x̂_0 of windows [n, k, horizon + 1, d], outward from their boundary [n, k, d], which is kept."""
        net, dims = self.sampler.net, windows.shape[-1]
        outward = torch.cat([boundary[:, :, None], windows[:, :, 1:]], dim=2).flatten(0, 1)
        tokens = to_tokens(outward)
        levels = torch.full(tokens.shape[:2], level, device=tokens.device)
        levels[:, 0] = 0
        clean = mirror(net(mirror(tokens), levels.flip(1))) if is_incoming else net(tokens, levels)
        frames = to_window(clean)[:, 1:].reshape(*windows.shape[:2], self.horizon, dims)
        return torch.cat([boundary[:, :, None], frames], dim=2)

    def _tensor(self, values: FloatArray) -> torch.Tensor:
        return torch.as_tensor(np.asarray(values, dtype=np.float32), device=self.sampler.device)
