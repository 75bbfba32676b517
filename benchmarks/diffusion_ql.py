"""Diffusion Q-learning (Wang et al. 2023) with the ensemble of critics that the paper names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional

from chronoforest.data.scaling import Scaling
from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.models.networks import Learner, StackedMLP, average_of
from chronoforest.models.params import SubgoalParams
from chronoforest.models.tracking import Steps, SubgoalInputs, TrackerKind, weighted_mean


@dataclass(frozen=True)
class DiffusionQLParams(SubgoalParams):
    """An actor that denoises an action, and an ensemble of critics that judges actions.

    discount: of the critics; width: hidden units of the actor and of each critic; num_layers: their hidden
    layers; level_width: numbers that tell the noise level; num_levels: denoising steps; lowest_rate,
    highest_rate: of the variance-preserving noise; num_critics: in the ensemble; pessimism: deviations below
    the critics' mean that an action is judged by; cloning_weight: of the denoising loss against the
    judgement, in units of its own mean size.
    """

    name: ClassVar[str] = "diffusion-ql"

    discount: float = 0.99
    width: int = 256
    num_layers: int = 3
    level_width: int = 16
    num_levels: int = 5
    lowest_rate: float = 0.1
    highest_rate: float = 10.0
    num_critics: int = 64
    pessimism: float = 4.0
    cloning_weight: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least(self, 1, "num_levels")
        require_at_least(self, 2, "num_critics")
        if self.level_width < 2 or self.level_width % 2:
            raise InvalidParameter(f"level_width must be even and positive, got {self.level_width}")

    def layers(self, inputs: int, outputs: int) -> list[int]:
        """Sizes of a network's layers."""
        return [inputs, *[self.width] * self.num_layers, outputs]


class DiffusionActor(nn.Module):
    """[n, D], [n, 2] relative subgoal → [n, A] in [−1, 1], by denoising from level num_levels to 0."""

    signal: torch.Tensor
    waves: torch.Tensor

    def __init__(self, params: DiffusionQLParams, scaling: Scaling, action_dim: int = 2) -> None:
        super().__init__()
        self.params = params
        self.action_dim = action_dim
        self.inputs = SubgoalInputs(params, scaling)
        level = params.level_width
        self.level = nn.Sequential(nn.Linear(level, 2 * level), nn.Mish(), nn.Linear(2 * level, level))
        sizes = params.layers(len(scaling.mean) + action_dim + level, action_dim)
        layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.Mish())]
        self.body = nn.Sequential(*layers[:-1])
        self.register_buffer("signal", signal_left(params), persistent=False)
        half = level // 2  # [num_levels + 1, level_width] sines and cosines that tell the levels apart
        pitch = torch.exp(torch.arange(half) * (-math.log(10_000.0) / max(half - 1, 1)))
        phase = torch.arange(params.num_levels + 1).unsqueeze(-1) * pitch
        self.register_buffer("waves", torch.cat([phase.sin(), phase.cos()], dim=-1), persistent=False)
        self.steps = denoising_steps(params)

    def forward(self, observation: torch.Tensor, subgoal: torch.Tensor) -> torch.Tensor:
        """Shapes as the class says; the same for the same input."""
        return self._denoise(self.inputs(observation, subgoal), torch.zeros_like)

    def sample(self, inputs: torch.Tensor) -> torch.Tensor:
        """Random actions [n, A] for inputs [n, D]."""
        return self._denoise(inputs, torch.randn_like)

    def cloning_error(self, inputs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        """Squared error [n] of the noise seen in recorded actions [n, A], at a random level each."""
        level = torch.randint(1, self.params.num_levels + 1, action.shape[:1], device=action.device)
        kept = self.signal[level].unsqueeze(-1)
        noise = torch.randn_like(action)
        noisy = kept.sqrt() * action + (1.0 - kept).sqrt() * noise
        seen = self.body(torch.cat([noisy, self.level(self.waves)[level], inputs], dim=-1))
        return (seen - noise).square().mean(dim=-1)

    def _denoise(self, inputs: torch.Tensor, draw: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        """Ancestral sampling (DDPM) with noise from `draw`; the last step adds none."""
        noisy = draw(inputs.new_empty(*inputs.shape[:-1], self.action_dim))
        marks = self.level(self.waves).unbind()
        for step in self.steps:
            mark = marks[step.level].expand(*inputs.shape[:-1], -1)
            seen = self.body(torch.cat([noisy, mark, inputs], dim=-1))
            clean = (step.scale * noisy - step.shrink * seen).clamp(-1.0, 1.0)
            noisy = step.to_clean * clean + step.to_noisy * noisy
            if step.fresh_noise > 0.0:
                noisy = noisy + step.fresh_noise * draw(noisy)
        return noisy


@dataclass(frozen=True)
class DenoisingStep:
    """From one level to the one below: clean = scale · noisy − shrink · noise seen; then
    to_clean · clean + to_noisy · noisy + fresh_noise · ε."""

    level: int
    scale: float
    shrink: float
    to_clean: float
    to_noisy: float
    fresh_noise: float


def denoising_steps(params: DiffusionQLParams) -> list[DenoisingStep]:
    """The mean and deviation of DDPM's posterior for every level, from the noisiest."""
    signal = signal_left(params).tolist()
    steps = []
    for level in range(params.num_levels, 0, -1):
        before, after = signal[level], signal[level - 1]
        kept = before / after
        steps.append(
            DenoisingStep(
                level=level,
                scale=before**-0.5,
                shrink=(1.0 / before - 1.0) ** 0.5,
                to_clean=after**0.5 * (1.0 - kept) / (1.0 - before),
                to_noisy=kept**0.5 * (1.0 - after) / (1.0 - before),
                fresh_noise=((1.0 - after) / (1.0 - before) * (1.0 - kept)) ** 0.5,
            )
        )
    return steps


def signal_left(params: DiffusionQLParams) -> torch.Tensor:
    """ᾱ of the variance-preserving schedule, [num_levels + 1]; level 0 is exactly clean."""
    count = params.num_levels
    level = torch.arange(1, count + 1, dtype=torch.float64, device="cpu")
    growth = 0.5 * (params.highest_rate - params.lowest_rate) * (2.0 * level - 1.0) / count**2
    kept = torch.exp(-params.lowest_rate / count - growth)
    return torch.cat([torch.ones_like(kept[:1]), torch.cumprod(kept, dim=0)]).float()


class DiffusionQLearner(Learner):
    """The actor, the critics [critics, n] of (observation, subgoal, action), and their averages."""

    def __init__(self, params: DiffusionQLParams, scaling: Scaling, action_dim: int = 2) -> None:
        super().__init__()
        self.params = params
        self.actor = DiffusionActor(params, scaling, action_dim)
        self.actor_average = average_of(self.actor)
        sizes = params.layers(len(scaling.mean) + action_dim, 1)
        self.critics = StackedMLP(params.num_critics, sizes, functional.mish, has_norm=False)
        self.critics_average = average_of(self.critics)

    def loss(self, batch: Steps) -> torch.Tensor:
        """Each critic backs up its own average; the actor repeats recordings and pleases the critics."""
        inputs = self.actor.inputs(batch.observation, batch.here)
        action = batch.action.clamp(-1.0, 1.0)
        with torch.no_grad():
            following = self.actor.inputs(batch.next_observation, batch.there)
            ahead = _judge(self.critics_average, following, self.actor_average.sample(following))
            backup = batch.backup(ahead, self.params.discount, self.params.radius)
        critic_loss = (_judge(self.critics, inputs, action) - backup).square().mean()
        cloning = weighted_mean(self.actor.cloning_error(inputs, action), batch.is_hindsight.float())
        judged = _judge(self.critics_average, inputs, self.actor.sample(inputs))
        bound = judged.mean(dim=0) - self.params.pessimism * judged.std(dim=0)
        approval = bound.mean() / bound.detach().abs().mean().clamp_min(1e-6)
        return critic_loss + self.params.cloning_weight * cloning - approval


def _judge(critics: nn.Module, inputs: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """[n, D], [n, A] → [critics, n]."""
    values: torch.Tensor = critics(torch.cat([inputs, action], dim=-1))
    return values.squeeze(-1)


# The gradient is clipped at the norm that the paper gives.
TRACKER = TrackerKind(DiffusionQLParams, DiffusionQLearner, DiffusionActor, clip=7.0)
