"""Generated motion between two states of a body: (x, y, heading, speed) at both ends, and the time between.

A body moves alike wherever it is, so motion is learned in the frame of the first state. What is generated is
how far it departs from the cubic curve through both states; the ends stay as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from chronoforest.models import denoiser as schedule
from chronoforest.models.networks import Averaged
from chronoforest.types import FloatArray

NUM_FRAMES = 16
SHORTEST, LONGEST = 0.5, 4.0
"""Seconds between the ends of a segment."""
GROWTH = torch.tensor([2.0, 2.0, 1.0, 1.0])
"""Powers of the time with which departures in x, y, heading and speed grow, as under bounded acceleration."""


def wrapped(angle: FloatArray) -> FloatArray:
    """Angles in [-π, π)."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def seen_from(states: FloatArray, origin: FloatArray) -> FloatArray:
    """States [..., 4] in the frame of others [..., 4]."""
    cos, sin = np.cos(origin[..., 2]), np.sin(origin[..., 2])
    x, y = states[..., 0] - origin[..., 0], states[..., 1] - origin[..., 1]
    turn = wrapped(states[..., 2] - origin[..., 2])
    return np.stack([cos * x + sin * y, cos * y - sin * x, turn, states[..., 3]], axis=-1)


def placed_at(states: FloatArray, origin: FloatArray) -> FloatArray:
    """The inverse of `seen_from`."""
    cos, sin = np.cos(origin[..., 2]), np.sin(origin[..., 2])
    x = origin[..., 0] + cos * states[..., 0] - sin * states[..., 1]
    y = origin[..., 1] + sin * states[..., 0] + cos * states[..., 1]
    return np.stack([x, y, wrapped(states[..., 2] + origin[..., 2]), states[..., 3]], axis=-1)


def cubic(first: FloatArray, last: FloatArray, seconds: FloatArray, frames: int = NUM_FRAMES) -> FloatArray:
    """[n, frames, 4] cubic Hermite curves from states [n, 4] to others; heading and speed change evenly."""
    a, b = (np.repeat(state, frames, axis=0) for state in (first, last))
    u = np.tile(np.linspace(0.0, 1.0, frames), len(first))
    return _between(a, b, u, np.repeat(seconds, frames)).reshape(len(first), frames, 4)


def windows(
    drives: FloatArray, rate: float, count: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """[count, frames, 4] stretches of recordings [E, rows, 4] and their seconds [count]; between two rows lie
    the states of the cubic curve."""
    rows = rng.integers(round(SHORTEST * rate), round(LONGEST * rate) + 1, count)
    drive = rng.integers(len(drives), size=count)
    first = (rng.random(count) * (drives.shape[1] - rows)).astype(np.int64)
    at = first[:, None] + rows[:, None] * np.linspace(0.0, 1.0, NUM_FRAMES)
    low = np.minimum(at.astype(np.int64), drives.shape[1] - 2)
    before, after = (drives[drive[:, None], low + k].reshape(-1, 4) for k in (0, 1))
    between = _between(before, after, (at - low).ravel(), np.full(at.size, 1.0 / rate))
    return between.reshape(count, NUM_FRAMES, 4), rows / rate


def _between(a: FloatArray, b: FloatArray, u: FloatArray, seconds: FloatArray) -> FloatArray:
    """[n, 4] part-way [n] along the cubic curves from a to b."""
    u, ways = u[:, None], []
    for state in (a, b):
        ahead = np.stack([np.cos(state[:, 2]), np.sin(state[:, 2])], axis=1)
        ways.append((seconds * state[:, 3])[:, None] * ahead)
    place = (2 * u**3 - 3 * u**2 + 1) * a[:, :2] + (u**3 - 2 * u**2 + u) * ways[0]
    place += (3 * u**2 - 2 * u**3) * b[:, :2] + (u**3 - u**2) * ways[1]
    heading = a[:, 2:3] + u * wrapped(b[:, 2:3] - a[:, 2:3])
    return np.concatenate([place, heading, (1 - u) * a[:, 3:] + u * b[:, 3:]], axis=1)


@dataclass(frozen=True)
class MotionParams:
    """Size of the network, and how it learns."""

    width: int = 384
    num_blocks: int = 4
    batch: int = 512
    rate: float = 1e-3


class MotionNet(nn.Module):
    """Departures from the cubic curve [n, (frames − 2) × 4], noisy at levels [n], and conditions [n, c] →
    clean ones. All are divided by their usual size, `scale`."""

    def __init__(self, params: MotionParams) -> None:
        super().__init__()
        size, width = 4 * (NUM_FRAMES - 2), params.width
        self.params = params
        self.embed = nn.Linear(size + 12, width)
        self.level = nn.Sequential(nn.Linear(64, width), nn.SiLU(), nn.Linear(width, width))
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
            for _ in range(params.num_blocks)
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, size)
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.ones(size))

    def forward(self, noisy: torch.Tensor, levels: torch.Tensor, about: torch.Tensor) -> torch.Tensor:
        """Shapes as the class says."""
        rate = torch.exp(torch.arange(32) * (-math.log(1e4) / 31))
        angle = levels[:, None].float() * rate
        hidden = self.embed(torch.cat([noisy, about], dim=1)) + self.level(
            torch.cat([angle.sin(), angle.cos()], dim=1)
        )
        for block in self.blocks:
            hidden = hidden + block(hidden)
        clean: torch.Tensor = self.head(self.norm(hidden))
        return clean


def conditions(last: FloatArray, first_speed: FloatArray, seconds: FloatArray) -> torch.Tensor:
    """[n, 12] what is known of a segment: its last state [n, 4] as seen from the first, and the time."""
    x, y, turn, speed = last.T
    middle = 0.5 * (first_speed + speed) * seconds
    columns = [
        x / 5,
        y / 5,
        np.cos(turn),
        np.sin(turn),
        speed / 2,
        first_speed / 2,
        seconds - 2,
        1 / seconds - 1,
        x / seconds / 2,
        y / seconds / 2,
        (x - middle) / seconds**2,
        (speed - first_speed) / seconds,
    ]
    return torch.as_tensor(np.stack(columns, axis=1), dtype=torch.float32)


def _departures(frames: FloatArray, seconds: FloatArray) -> torch.Tensor:
    """[n, (frames − 2) × 4] of windows seen from their first state, by the growth with time."""
    gap = frames - cubic(frames[:, 0], frames[:, -1], seconds)
    gap[..., 2] = wrapped(gap[..., 2])
    growth = torch.as_tensor(seconds, dtype=torch.float32)[:, None, None] ** GROWTH
    return (torch.as_tensor(gap[:, 1:-1], dtype=torch.float32) / growth).flatten(1)


@dataclass(frozen=True, eq=False)
class MotionSampler:
    """Generates segments between states."""

    net: MotionNet
    num_steps: int = 8

    @torch.no_grad()
    def __call__(
        self, first: FloatArray, last: FloatArray, seconds: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """[n, frames, 4] from states [n, 4] to others that are so many seconds later; a deterministic sampler
        (DDIM) from noise that is drawn once."""
        end = seen_from(last, first)
        start = np.zeros_like(end)
        start[:, 3] = first[:, 3]
        about, signal = conditions(end, first[:, 3], seconds), schedule.signal_table()
        levels = schedule.sampling_levels(self.num_steps)
        noisy = torch.as_tensor(rng.standard_normal((len(first), len(self.net.scale))), dtype=torch.float32)
        for now, then in pairwise(levels):
            clean = self.net(noisy, torch.full((len(first),), now), about)
            noise = (noisy - signal[now].sqrt() * clean) / (1 - signal[now]).sqrt()
            noisy = signal[then].sqrt() * clean + (1 - signal[then]).sqrt() * noise
        growth = torch.as_tensor(seconds, dtype=torch.float32)[:, None, None] ** GROWTH
        gap = (noisy * self.net.scale).view(len(first), -1, 4) * growth
        frames = cubic(start, end, seconds)
        frames[:, 1:-1] += gap.numpy()
        return placed_at(frames, first[:, None])


def train(
    drives: FloatArray,
    rate: float,
    params: MotionParams,
    num_steps: int,
    seed: int,
    folder: Path,
    every: int = 2000,
) -> MotionSampler:
    """Learn from recordings [E, rows, 4] with `rate` rows a second; written to `folder` now and then."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    learner = Averaged(MotionNet(params))
    net: MotionNet = learner.net
    average, signal = learner.net_average, schedule.signal_table()

    def draw(count: int) -> tuple[torch.Tensor, torch.Tensor]:
        frames, seconds = windows(drives, rate, count, rng)
        frames = seen_from(frames, frames[:, :1])
        return _departures(frames, seconds), conditions(frames[:, -1], frames[:, 0, 3], seconds)

    scale = draw(20_000)[0].std(dim=0)
    net.scale.copy_(scale)
    average.scale.copy_(scale)
    optimiser = torch.optim.AdamW(net.parameters(), lr=params.rate, weight_decay=1e-4)
    rises = torch.optim.lr_scheduler.OneCycleLR(optimiser, params.rate, num_steps, pct_start=0.05)
    for step in range(num_steps):
        clean, about = draw(params.batch)
        clean = clean / scale
        levels = torch.randint(1, len(signal), (len(clean),))
        noisy = schedule.add_noise(clean[:, None], levels[:, None], signal)[:, 0]
        weight = schedule.signal_to_noise(signal[levels]).clamp(max=5.0)
        loss = (weight * (net(noisy, levels, about) - clean).square().mean(dim=1)).mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        rises.step()
        keep = min(0.999, (step + 1) / (step + 10))
        with torch.no_grad():
            for own, mean in zip(net.parameters(), average.parameters(), strict=True):
                mean.lerp_(own, 1.0 - keep)
        if (step + 1) % every == 0 or step + 1 == num_steps:
            save(average, folder / "motion.safetensors")
            print(f"{step + 1} steps, loss {loss.item():.4f}", flush=True)
    return MotionSampler(average)


def save(net: MotionNet, path: Path) -> None:
    """Write a network."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(
        net.state_dict(), path, {"width": str(net.params.width), "num_blocks": str(net.params.num_blocks)}
    )


def load(path: Path) -> MotionSampler:
    """Read one."""
    with safe_open(path, framework="pt") as file:
        about = file.metadata()
        net = MotionNet(MotionParams(int(about["width"]), int(about["num_blocks"])))
        net.load_state_dict({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    return MotionSampler(net.eval().requires_grad_(False))
