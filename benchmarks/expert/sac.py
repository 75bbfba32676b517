"""Soft actor-critic for several seeds at once: every layer is one batched product over all of them."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from benchmarks.collect.expert import ACTION_DIM, OBSERVATION_DIM, Float32Array
from chronoforest.errors import InvalidParameter, require_positive
from chronoforest.models.networks import Captured, StackedMLP

LOG_STD_RANGE = (-5.0, 2.0)
GELU = partial(functional.gelu, approximate="tanh")


@dataclass(frozen=True)
class SacParams:
    """Networks and objective, by OGBench's recipe but for the first entropy coefficient.

    width: of each layer; num_layers: hidden layers of actor and critics; discount: of the critics;
    initial_entropy: first entropy coefficient; at OGBench's 1.0 the ant hardly moves for 60k steps;
    target_entropy: wished entropy per number of the action.
    """

    observation_dim: int = OBSERVATION_DIM
    action_dim: int = ACTION_DIM
    width: int = 512
    num_layers: int = 3
    discount: float = 0.99
    initial_entropy: float = 0.01
    target_entropy: float = -0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.discount < 1.0:
            raise InvalidParameter(f"discount must lie in (0, 1), got {self.discount}")
        require_positive(self, "initial_entropy")


@dataclass(frozen=True)
class Batch:
    """Transitions of every seed, each [seeds, batch, …]; rewards and continues are [seeds, batch, 1].

    noise: [seeds, 2 · batch, A] standard normal, for the actions before and after the transitions.
    """

    observations: torch.Tensor
    actions: torch.Tensor
    next_observations: torch.Tensor
    rewards: torch.Tensor
    continues: torch.Tensor
    noise: torch.Tensor


class Sac(nn.Module):
    """Actors [seeds], twin critics [2 · seeds] with their slow targets, and entropy coefficients [seeds]."""

    def __init__(self, num_seeds: int, params: SacParams) -> None:
        super().__init__()
        self.num_seeds, self.params = num_seeds, params
        hidden = [params.width] * params.num_layers
        inputs = params.observation_dim + params.action_dim
        self.actor = StackedMLP(num_seeds, [params.observation_dim, *hidden, 2 * params.action_dim], GELU)
        self.critic = StackedMLP(2 * num_seeds, [inputs, *hidden, 1], GELU)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.log_entropy = nn.Parameter(torch.full((num_seeds, 1, 1), math.log(params.initial_entropy)))
        with torch.no_grad():
            self.actor.weights[-1].mul_(0.1)  # first actions near zero

    def mean_actions(self, observations: torch.Tensor) -> torch.Tensor:
        """[seeds, n, O] → [seeds, n, A] without exploration."""
        means: torch.Tensor = self.actor(observations)[..., : self.params.action_dim]
        return means.tanh()

    def sample(self, observations: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions [seeds, n, A] from standard normal noise of that shape, and log-densities [seeds, n, 1]."""
        mean, log_std = self.actor(observations).chunk(2, dim=-1)
        log_std = log_std.clamp(*LOG_STD_RANGE)
        raw = mean + log_std.exp() * noise
        gaussian = -0.5 * noise.square() - log_std - 0.5 * math.log(2.0 * math.pi)
        # log(1 − tanh²), in the form that does not underflow
        squash = 2.0 * (math.log(2.0) - raw - functional.softplus(-2.0 * raw))
        return raw.tanh(), (gaussian - squash).sum(dim=-1, keepdim=True)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Critics, actors and entropy coefficients; each part moves its own parameters only.

        Summed over the seeds, so that a seed learns as it would alone.
        """
        num = batch.rewards.shape[1]
        both = torch.cat([batch.observations, batch.next_observations], dim=1)
        actions, log_density = self.sample(both, batch.noise)
        new_actions, new_log_density = actions[:, :num], log_density[:, :num]
        entropy = self.log_entropy.exp()
        with torch.no_grad():
            following = self._twins(self.target, batch.next_observations, actions[:, num:])
            soft = torch.minimum(*following) - entropy * log_density[:, num:]
            wanted = batch.rewards + self.params.discount * batch.continues * soft
        estimates = self._twins(self.critic, batch.observations, batch.actions)
        critic_loss = (estimates - wanted).square().mean(dim=(0, 2, 3)).sum()
        value = torch.minimum(*self._twins(self.critic, batch.observations, new_actions, is_frozen=True))
        actor_loss = (entropy.detach() * new_log_density - value).mean(dim=(1, 2)).sum()
        surplus = -new_log_density.detach() - self.params.target_entropy * self.params.action_dim
        entropy_loss = (entropy * surplus).mean(dim=(1, 2)).sum()
        return critic_loss + actor_loss + entropy_loss

    def _twins(
        self, net: StackedMLP, observations: torch.Tensor, actions: torch.Tensor, is_frozen: bool = False
    ) -> torch.Tensor:
        """Both critics of every seed, [2, seeds, n, 1]; frozen, gradients reach the inputs only."""
        inputs = torch.cat([observations, actions], dim=-1).repeat(2, 1, 1)
        values: torch.Tensor = net(inputs, is_frozen)
        return values.unflatten(0, (2, self.num_seeds))


class Explorer:
    """Actions with exploration for every ant; on CUDA one captured graph."""

    def __init__(self, sac: Sac, device: torch.device) -> None:
        self.sac, self.device = sac, device
        self._run = Captured(self._actions) if device.type == "cuda" else self._actions

    def __call__(self, observations: Float32Array) -> Float32Array:
        """[seeds · ants, O] → [seeds · ants, A]."""
        inputs = torch.from_numpy(observations).unflatten(0, (self.sac.num_seeds, -1)).to(self.device)
        actions: Float32Array = self._run(inputs.transpose(0, 1)).transpose(0, 1).flatten(0, 1).cpu().numpy()
        return actions

    def _actions(self, observations: torch.Tensor) -> torch.Tensor:
        """[ants, seeds, O] → [ants, seeds, A]."""
        inputs = observations.transpose(0, 1)
        noise = torch.randn(*inputs.shape[:2], self.sac.params.action_dim, device=self.device)
        with torch.no_grad():
            return self.sac.sample(inputs, noise)[0].transpose(0, 1)


def member(net: StackedMLP, index: int) -> dict[str, torch.Tensor]:
    """One network's tensors without the leading dimension: weights [a, b], all others [b]."""
    return {name: value[index].squeeze(0).detach().clone() for name, value in net.named_parameters()}


class Replay:
    """Every transition of every seed on the device: rows [ticks, seeds · ants, numbers], filled in order."""

    def __init__(
        self, num_ticks: int, num_seeds: int, num_ants: int, params: SacParams, device: torch.device
    ) -> None:
        self.shape = (num_seeds, num_ants)
        self.sizes = [params.observation_dim, params.action_dim, params.observation_dim, 1, 1]
        self.rows = torch.zeros(num_ticks, num_seeds * num_ants, sum(self.sizes), device=device)
        self.num_filled = torch.zeros((), device=device)
        self.lanes = torch.arange(num_seeds, device=device)[:, None] * num_ants

    def put(self, tick: int, rows: torch.Tensor) -> None:
        """Store the transitions [seeds · ants, numbers] of a tick, in the order of `Batch`."""
        self.rows[tick].copy_(rows, non_blocking=True)
        self.num_filled.fill_(tick + 1)

    def draw(self, num: int) -> Batch:
        """`num` transitions of each seed, uniformly."""
        num_seeds, num_ants = self.shape
        device = self.rows.device
        ticks = (torch.rand(num_seeds, num, device=device) * self.num_filled).long()
        lanes = self.lanes + torch.randint(num_ants, (num_seeds, num), device=device)
        picked = self.rows.flatten(0, 1)[ticks * (num_seeds * num_ants) + lanes]
        noise = torch.randn(num_seeds, 2 * num, self.sizes[1], device=device)
        observations, actions, next_observations, rewards, continues = picked.split(self.sizes, dim=-1)
        return Batch(observations, actions, next_observations, rewards, continues, noise)
