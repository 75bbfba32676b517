"""The tracker: observation and relative subgoal to action, regressed with weights on good choices."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from chronoforest.data.scaling import Scaling
from chronoforest.errors import InvalidParameter
from chronoforest.models.distance import expectile_loss
from chronoforest.types import FloatArray


@dataclass(frozen=True)
class TrackerParams:
    """An actor trained by advantage-weighted regression on hindsight subgoals.

    observation_dim counts all of the observation; the first two, the position, are not shown to the actor,
    which sees where the subgoal is instead. nearest, farthest: steps ahead a hindsight subgoal may lie;
    random_share of subgoals is drawn elsewhere, for the value alone; radius: a subgoal counts as reached.
    temperature 0 is plain behaviour cloning.
    """

    observation_dim: int = 2
    action_dim: int = 2
    width: int = 256
    num_layers: int = 3
    nearest: int = 5
    farthest: int = 30
    random_share: float = 0.3
    radius: float = 0.5
    discount: float = 0.98
    expectile: float = 0.7
    temperature: float = 3.0
    largest_weight: float = 50.0
    largest_subgoal: float = 4.0

    def __post_init__(self) -> None:
        if not 1 <= self.nearest <= self.farthest:
            raise InvalidParameter(
                f"subgoals need 1 ≤ nearest ≤ farthest, got {self.nearest} and {self.farthest}"
            )
        if self.temperature < 0:
            raise InvalidParameter(f"temperature must not be negative, got {self.temperature}")


@dataclass(frozen=True)
class Steps:
    """A batch: observation, next_observation [n, D]; action [n, A]; subgoal [n, 2] world position;
    is_hindsight [n], the subgoal lies in the same recording's near future."""

    observation: torch.Tensor
    next_observation: torch.Tensor
    action: torch.Tensor
    subgoal: torch.Tensor
    is_hindsight: torch.Tensor


def draw_steps(
    observations: torch.Tensor, actions: torch.Tensor, num_draws: int, params: TrackerParams
) -> Steps:
    """observations [E, T, D], actions [E, T, A] → transitions with subgoals."""
    num_episodes, num_steps, _ = observations.shape
    device = observations.device
    episode = torch.randint(num_episodes, (num_draws,), device=device)
    step = torch.randint(num_steps - 1, (num_draws,), device=device)
    ahead = torch.randint(params.nearest, params.farthest + 1, (num_draws,), device=device)
    hindsight = observations[episode, torch.clamp(step + ahead, max=num_steps - 1), :2]
    offset = 2.0 * params.largest_subgoal * (torch.rand(num_draws, 2, device=device) - 0.5)
    is_hindsight = torch.rand(num_draws, device=device) >= params.random_share
    observation = observations[episode, step]
    return Steps(
        observation=observation,
        next_observation=observations[episode, step + 1],
        action=actions[episode, step],
        subgoal=torch.where(is_hindsight[:, None], hindsight, observation[:, :2] + offset),
        is_hindsight=is_hindsight,
    )


def _mlp(inputs: int, params: TrackerParams, outputs: int, has_norm: bool) -> nn.Sequential:
    layers: list[nn.Module] = []
    for layer in range(params.num_layers):
        layers += [nn.Linear(inputs if layer == 0 else params.width, params.width)]
        layers += [nn.LayerNorm(params.width)] if has_norm else []
        layers += [nn.GELU()]
    return nn.Sequential(*layers, nn.Linear(params.width, outputs))


class Actor(nn.Module):
    """[n, D], [n, 2] relative subgoal → [n, A] in [−1, 1]."""

    def __init__(self, params: TrackerParams, scaling: Scaling) -> None:
        super().__init__()
        self.params = params
        self.inputs = _ActorInputs(params, scaling)
        self.body = _mlp(params.observation_dim, params, params.action_dim, has_norm=False)

    def forward(self, observation: torch.Tensor, subgoal: torch.Tensor) -> torch.Tensor:
        """Shapes as the class says."""
        return torch.tanh(self.body(self.inputs(observation, subgoal)))


class _ActorInputs(nn.Module):
    """Standardised observation without its position, and the clipped relative subgoal: [n, D]."""

    def __init__(self, params: TrackerParams, scaling: Scaling) -> None:
        super().__init__()
        self.params = params
        self.scaling = copy.deepcopy(scaling)

    def forward(self, observation: torch.Tensor, subgoal: torch.Tensor) -> torch.Tensor:
        """Shapes as the class says."""
        length = subgoal.norm(dim=-1, keepdim=True).clamp_min(1e-6)
        subgoal = subgoal * (length.clamp(max=self.params.largest_subgoal) / length)
        body = self.scaling.normalise(observation)[..., 2:]
        return torch.cat([body, subgoal / (0.5 * self.params.largest_subgoal)], dim=-1)


class TrackerLearner(nn.Module):
    """The actor and the twin values that weigh its examples."""

    def __init__(self, params: TrackerParams, scaling: Scaling) -> None:
        super().__init__()
        self.params = params
        self.actor = Actor(params, scaling)
        self.actor_average = copy.deepcopy(self.actor).requires_grad_(False)
        self.inputs = _ActorInputs(params, scaling)
        self.values = nn.ModuleList(_mlp(params.observation_dim, params, 1, has_norm=True) for _ in range(2))
        self.values_average = copy.deepcopy(self.values).requires_grad_(False)

    def averages(self) -> list[tuple[nn.Module, nn.Module]]:
        """(network, its average) pairs."""
        return [(self.actor, self.actor_average), (self.values, self.values_average)]

    def loss(self, batch: Steps) -> torch.Tensor:
        """Expectile values of reaching the subgoal; regression weighted by exp(temperature · advantage)."""
        here = batch.subgoal - batch.observation[:, :2]
        there = batch.subgoal - batch.next_observation[:, :2]
        is_reached = (there.norm(dim=-1) < self.params.radius).float()
        with torch.no_grad():
            ahead = self._value(self.values_average, batch.next_observation, there).amin(dim=-1)
            backup = -(1.0 - is_reached) + self.params.discount * (1.0 - is_reached) * ahead
        values = self._value(self.values, batch.observation, here)
        value_loss = expectile_loss(backup[:, None] - values, self.params.expectile)
        advantage = (backup[:, None] - values).mean(dim=-1).detach()
        weight = torch.exp(self.params.temperature * advantage).clamp(max=self.params.largest_weight)
        weight = weight * batch.is_hindsight
        error = (self.actor(batch.observation, here) - batch.action.clamp(-1, 1)).square().mean(dim=-1)
        return value_loss + (weight * error).sum() / weight.sum().clamp_min(1e-6)

    def _value(self, heads: nn.Module, observation: torch.Tensor, subgoal: torch.Tensor) -> torch.Tensor:
        inputs = self.inputs(observation, subgoal)
        assert isinstance(heads, nn.ModuleList)
        return torch.cat([head(inputs) for head in heads], dim=-1)


class SubgoalTracker:
    """A trained actor behind the `Tracker` protocol."""

    def __init__(self, actor: Actor, device: torch.device | str = "cpu") -> None:
        self.actor = actor.to(device).eval().requires_grad_(False)
        self.device = torch.device(device)

    def __call__(self, observation: FloatArray, subgoal: FloatArray) -> FloatArray:
        """[D] or [n, D], relative subgoal [2] or [n, 2] → actions of the same leading shape."""
        with torch.no_grad():
            inputs = (
                torch.as_tensor(np.asarray(v, dtype=np.float32), device=self.device)
                for v in (observation, subgoal)
            )
            action: FloatArray = self.actor(*inputs).double().cpu().numpy()
        return action
