"""Noise levels: how much of a frame is left at each level, and which levels training and sampling visit."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from chronoforest.models.params import NUM_LEVELS


def signal_table(device: torch.device | str = "cpu") -> torch.Tensor:
    """ᾱ of the linear schedule, [NUM_LEVELS + 1] float32; level 0 is exactly clean."""
    beta = torch.linspace(1e-4, 0.02, NUM_LEVELS, dtype=torch.float64)
    signal = torch.cat([torch.ones(1, dtype=torch.float64), torch.cumprod(1.0 - beta, dim=0)])
    return signal.float().to(device)


def signal_to_noise(signal: torch.Tensor) -> torch.Tensor:
    """SNR = ᾱ / (1 − ᾱ)."""
    return signal / (1.0 - signal).clamp_min(1e-8)


def sampling_levels(num_steps: int) -> tuple[int, ...]:
    """Levels visited by a sampler, from NUM_LEVELS down to 0: num_steps + 1 of them."""
    return tuple(round(level) for level in torch.linspace(NUM_LEVELS, 0, num_steps + 1).tolist())


def token_levels(levels: Sequence[int], num_tokens: int, lag: int = 0) -> torch.Tensor:
    """[rows, num_tokens] the level of every token before each step and after the last one.

    A token starts `lag` steps after the one before it: 0 lowers all together, 1 is the pyramid of Diffusion
    Forcing. Whoever waits stays at the first level, whoever is done at the last.
    """
    num_steps = len(levels) - 1
    behind = lag * torch.arange(num_tokens)
    rows = torch.arange(num_steps + lag * (num_tokens - 1) + 1)
    return torch.tensor(levels)[(rows[:, None] - behind).clamp(0, num_steps)]


def add_noise(clean: torch.Tensor, levels: torch.Tensor, signal: torch.Tensor) -> torch.Tensor:
    """X_t = √ᾱ X_0 + √(1−ᾱ) ε, tokens [n, t, f] at levels [n, t]."""
    kept = signal[levels].unsqueeze(-1)
    return kept.sqrt() * clean + (1.0 - kept).sqrt() * torch.randn_like(clean)
