"""Joint denoising of several segments in a row: every window sees its own noise, neighbours share a frame."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch

from chronoforest.models import schedule
from chronoforest.models.denoiser import to_window
from chronoforest.models.sampler import SegmentSampler
from chronoforest.types import FloatArray


class JointSampler:
    """The `ChainSampler` of a trained denoiser.

    In every denoising step each window is denoised on its own; then the last frame of a window and the
    boundary frame of the next one are replaced by their mean, and the frames before it follow along a ramp.
    """

    def __init__(self, sampler: SegmentSampler) -> None:
        self.sampler = sampler
        self.net = sampler.net
        self.per_token = sampler.net.params.frames_per_token

    def __call__(
        self,
        start: FloatArray,
        goal: FloatArray,
        num_segments: int,
        num_samples: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """[samples, segments, horizon + 1, 2] world units."""
        ends = torch.as_tensor(np.stack([start, goal]), dtype=torch.float32, device=self.sampler.device)
        ends = self.net.scaling.normalise(ends)
        num_slots = self.sampler.horizon + self.per_token
        noise = rng.standard_normal((num_samples, num_segments, num_slots, 2))
        slots = torch.as_tensor(noise, dtype=torch.float32, device=self.sampler.device)
        with torch.no_grad():
            for level, next_level in pairwise(schedule.sampling_levels(self.sampler.params.num_steps)):
                slots = self._step(slots, ends, level, next_level)
        tokens = slots.reshape(num_samples * num_segments, num_slots // self.per_token, -1)
        window = self.net.scaling.restore(to_window(tokens, self.per_token))
        chains: FloatArray = window.reshape(num_samples, num_segments, -1, 2).double().cpu().numpy()
        return chains

    def _step(self, slots: torch.Tensor, ends: torch.Tensor, level: int, next_level: int) -> torch.Tensor:
        """slots: [samples, segments, frames of all tokens, 2], normalised and noisy; one DDIM step, η = 0."""
        signal, next_signal = self.sampler.signal[level], self.sampler.signal[next_level]
        clean = self._tied(self._denoise(self._clamped(slots, ends), level), ends)
        noise = (slots - signal.sqrt() * clean) / (1.0 - signal).sqrt()
        stepped = next_signal.sqrt() * clean + (1.0 - next_signal).clamp_min(0).sqrt() * noise
        return self._clamped(stepped, ends) if next_level == 0 else stepped

    def _denoise(self, slots: torch.Tensor, level: int) -> torch.Tensor:
        """x̂_0 of every window; the first token of the first and the last token of the last are clean."""
        samples, segments, num_slots, dims = slots.shape
        tokens = slots.reshape(samples * segments, num_slots // self.per_token, self.per_token * dims)
        levels = torch.full(
            (samples, segments, tokens.shape[1]), level, dtype=torch.long, device=slots.device
        )
        levels[:, 0, 0] = 0
        levels[:, -1, -1] = 0
        return self.net(tokens, levels.flatten(0, 1)).reshape(slots.shape)

    def _clamped(self, slots: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """The start in the first token and the goal in the last one, whatever was there."""
        slots = slots.clone()
        slots[:, 0, : self.per_token] = ends[0]
        slots[:, -1, -self.per_token :] = ends[1]
        return slots

    def _tied(self, clean: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """Neighbouring windows agree on the frame they share."""
        clean = self._clamped(clean, ends)
        if clean.shape[1] == 1:
            return clean
        tail, head = clean[:, :-1, -1], clean[:, 1:, : self.per_token].mean(dim=2)
        shared = 0.5 * (tail + head)
        ramp = torch.linspace(0.0, 1.0, self.per_token + 1, device=clean.device)[1:, None]
        clean[:, :-1, -self.per_token :] += ramp * (shared - tail)[:, :, None]
        clean[:, 1:, : self.per_token] = shared[:, :, None]
        return clean
