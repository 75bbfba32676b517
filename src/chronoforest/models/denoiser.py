"""The trajectory denoiser, a small non-causal transformer that predicts clean frames from noisy ones, and the
noise levels that training and sampling visit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from chronoforest.data.scaling import Scaling
from chronoforest.models.params import (
    FRAMES_PER_TOKEN,
    HEAD_WIDTH,
    NUM_LEVELS,
    DenoiserParams,
    LevelMix,
    WindowParams,
    num_tokens,
)


class Denoiser(nn.Module):
    """x̂_0 = f(X_t, levels): tokens [n, t, frames × dims] and their noise levels [n, t] → clean tokens.

    window: how the recordings were cut that it learned from.

    Frames are normalised by `scaling`, which travels with the weights. While training on CUDA the blocks
    run in bfloat16, the layers before and after them in float32.
    """

    def __init__(self, params: DenoiserParams, window: WindowParams, scaling: Scaling) -> None:
        super().__init__()
        token_dim = FRAMES_PER_TOKEN * 2  # a frame is a place in the plane
        self.params = params
        self.window = window
        self.scaling = scaling
        width = params.width
        self.embed = nn.Linear(token_dim, width)
        self.position = nn.Parameter(torch.empty(num_tokens(window.horizon), width))
        if not self.position.is_meta:  # where drawing would load torch's compiler
            nn.init.normal_(self.position, std=0.02)
        self.level = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.blocks = nn.ModuleList(_Block(params) for _ in range(params.num_layers))
        self.norm = nn.LayerNorm(params.width)
        self.head = nn.Linear(params.width, token_dim)

    def forward(self, tokens: torch.Tensor, levels: torch.Tensor) -> torch.Tensor:
        """Shapes as the class says."""
        half = self.params.width // 2
        rate = torch.exp(torch.arange(half, device=levels.device) * (-math.log(1e4) / (half - 1)))
        angle = levels.unsqueeze(-1).float() * rate
        level = self.level(torch.cat([angle.sin(), angle.cos()], dim=-1))
        hidden = self.embed(tokens) + self.position + level
        with torch.autocast("cuda", torch.bfloat16, enabled=self.training and hidden.is_cuda):
            for block in self.blocks:
                hidden = block(hidden)
        clean: torch.Tensor = self.head(self.norm(hidden.float()))
        return clean


class _Block(nn.Module):
    """Pre-norm attention and feed-forward."""

    def __init__(self, params: DenoiserParams) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(params.width)
        self.queries_keys_values = nn.Linear(params.width, 3 * params.width)
        self.merge = nn.Linear(params.width, params.width)
        self.norm_feed = nn.LayerNorm(params.width)
        wide = 4 * params.width
        self.feed = nn.Sequential(nn.Linear(params.width, wide), nn.GELU(), nn.Linear(wide, params.width))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Shapes as the class says."""
        hidden = hidden + self._attend(self.norm_attention(hidden))
        return hidden + self.feed(self.norm_feed(hidden))

    def _attend(self, hidden: torch.Tensor) -> torch.Tensor:
        """Written as products and sums: at five tokens that is faster than many tiny matrix products."""
        rows, tokens, width = hidden.shape
        split = self.queries_keys_values(hidden).view(rows, tokens, 3, -1, HEAD_WIDTH)
        query, key, value = split.unbind(2)
        scores = (query[:, :, None] * key[:, None]).sum(dim=-1) * query.shape[-1] ** -0.5
        weights = torch.softmax(scores, dim=2).unsqueeze(-1)
        mixed: torch.Tensor = self.merge((weights * value[:, None]).sum(dim=2).view(rows, tokens, width))
        return mixed


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


def to_tokens(window: torch.Tensor) -> torch.Tensor:
    """[n, 1 + horizon, d], boundary first → [n, t, frames × d]; the boundary frame fills its token."""
    rows, _, dims = window.shape
    boundary = window[:, :1].expand(rows, FRAMES_PER_TOKEN, dims)
    frames = torch.cat([boundary, window[:, 1:]], dim=1)
    return frames.reshape(rows, frames.shape[1] // FRAMES_PER_TOKEN, FRAMES_PER_TOKEN * dims)


def to_window(tokens: torch.Tensor) -> torch.Tensor:
    """The inverse of `to_tokens`: [n, t, frames × d] → [n, 1 + horizon, d]."""
    frames = _frames(tokens)
    return torch.cat([frames[:, :1], frames[:, FRAMES_PER_TOKEN:]], dim=1)


def mirror(tokens: torch.Tensor) -> torch.Tensor:
    """Read the same frames in the opposite order: first token last, last frame first."""
    return _frames(tokens).flip(1).reshape(tokens.shape)


def _frames(tokens: torch.Tensor) -> torch.Tensor:
    """[n, t, frames × d] → [n, t × frames, d]."""
    rows, count, size = tokens.shape
    return tokens.reshape(rows, count * FRAMES_PER_TOKEN, size // FRAMES_PER_TOKEN)


def draw_batch(
    tracks: torch.Tensor, num_rows: int, window: WindowParams, mix: LevelMix
) -> tuple[torch.Tensor, torch.Tensor]:
    """Clean tokens [n, t, f] and noise levels [n, t], one block of rows for each pattern of the mix.

    An arriving window is a leaving window of the reversed recording, read backward: the network always
    sees time running forward.
    """
    shares = (mix.independent, mix.leaving, mix.arriving)
    num_independent, num_leaving, num_arriving = (round(num_rows * share) for share in shares)
    num_forward = num_rows - num_arriving
    shape = num_rows, num_tokens(window.horizon)
    levels = torch.randint(1, NUM_LEVELS + 1, shape, device=tracks.device)
    levels[num_independent:, 0] = 0
    shared = slice(num_independent, num_independent + num_leaving)
    levels[shared, 1:] = levels[shared, 1:2].clone()
    levels[num_forward:, 1:] = levels[num_forward:, 1:2].clone()
    leaving = to_tokens(draw_windows(tracks, num_forward, window))
    arriving = to_tokens(draw_windows(tracks.flip(1), num_arriving, window))
    tokens = torch.cat([leaving, mirror(arriving)])
    return tokens, torch.cat([levels[:num_forward], levels[num_forward:].flip(1)])


def denoising_loss(
    model: nn.Module, tokens: torch.Tensor, levels: torch.Tensor, signal: torch.Tensor
) -> torch.Tensor:
    """Squared error of x̂_0, Min-SNR weighted (clip 5), averaged over the tokens that carry noise."""
    noisy = add_noise(tokens, levels, signal)
    error = (model(noisy, levels) - tokens).square().mean(dim=-1)
    weight = signal_to_noise(signal[levels]).clamp(max=5.0) * (levels > 0)
    return (weight * error).sum() / (levels > 0).sum()


PADDED_SHARE = 0.4
"""Of the windows may start late and are padded. Without them every tail lies exactly as far as the recordings
travel, so tree nodes would sit on a lattice and two trees might never meet."""


def draw_windows(
    tracks: torch.Tensor, num_windows: int, params: WindowParams, padded_share: float = PADDED_SHARE
) -> torch.Tensor:
    """tracks [E, T, D] → windows [num_windows, horizon + 1, D], boundary frame first.

    Frames past the end of a recording repeat its last one.
    """
    num_episodes, num_steps, _ = tracks.shape
    device = tracks.device
    latest = max(num_steps - 1 - params.span, 0)
    episode = torch.randint(num_episodes, (num_windows, 1), device=device)
    start = torch.randint(latest + 1, (num_windows, 1), device=device)
    late = torch.randint(round(0.4 * params.span) + 1, (num_windows, 1), device=device)
    is_padded = torch.rand(num_windows, 1, device=device) < padded_share
    start = torch.clamp(start + torch.where(is_padded, late, 0), max=num_steps - 1)
    steps = start + params.stride * torch.arange(params.horizon + 1, device=device)
    return tracks[episode, torch.clamp(steps, max=num_steps - 1)]
