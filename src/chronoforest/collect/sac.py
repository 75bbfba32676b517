"""Soft actor-critic for several seeds at once: every layer is one batched product over all of them."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional

from chronoforest.errors import InvalidParameter

LOG_STD_RANGE = (-5.0, 2.0)


@dataclass(frozen=True)
class SacParams:
    """Networks and objective, by OGBench's recipe but for the first entropy coefficient.

    initial_entropy: first entropy coefficient; at OGBench's 1.0 the ant hardly moves for 60k steps.
    target_entropy: wished entropy per number of the action.
    """

    observation_dim: int = 29
    action_dim: int = 8
    width: int = 512
    num_layers: int = 3
    discount: float = 0.99
    initial_entropy: float = 0.01
    target_entropy: float = -0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.discount < 1.0:
            raise InvalidParameter(f"discount must lie in (0, 1), got {self.discount}")
        if self.initial_entropy <= 0:
            raise InvalidParameter(f"initial_entropy must be positive, got {self.initial_entropy}")


@dataclass(frozen=True)
class Batch:
    """Transitions of every seed, each [seeds, batch, …]; rewards and continues are [seeds, batch, 1]."""

    observations: torch.Tensor
    actions: torch.Tensor
    next_observations: torch.Tensor
    rewards: torch.Tensor
    continues: torch.Tensor


class StackedNet(nn.Module):
    """Networks of one shape, each with inputs of its own: [members, n, inputs] → [members, n, outputs].

    Linear, GELU (tanh form), LayerNorm for every layer but the last, whose weights are `final_scale` smaller.
    """

    def __init__(
        self, members: int, inputs: int, outputs: int, params: SacParams, final_scale: float = 1.0
    ) -> None:
        super().__init__()
        sizes = [inputs, *[params.width] * params.num_layers, outputs]
        scales = [1.0] * params.num_layers + [final_scale]
        shapes = list(zip(pairwise(sizes), scales, strict=True))
        self.weights = nn.ParameterList(_xavier(members, a, b, scale) for (a, b), scale in shapes)
        self.biases = nn.ParameterList(torch.zeros(members, 1, size) for size in sizes[1:])
        self.scales = nn.ParameterList(torch.ones(members, 1, size) for size in sizes[1:-1])
        self.shifts = nn.ParameterList(torch.zeros(members, 1, size) for size in sizes[1:-1])

    def forward(self, inputs: torch.Tensor, is_frozen: bool = False) -> torch.Tensor:
        """With `is_frozen` gradients reach the inputs but not the weights."""

        def read(parameters: nn.ParameterList) -> list[torch.Tensor]:
            return [value.detach() if is_frozen else value for value in parameters]

        *weights, last_weight = read(self.weights)
        *biases, last_bias = read(self.biases)
        layers = zip(weights, biases, read(self.scales), read(self.shifts), strict=True)
        hidden = inputs
        for weight, bias, scale, shift in layers:
            hidden = functional.gelu(torch.baddbmm(bias, hidden, weight), approximate="tanh")
            hidden = torch.addcmul(shift, functional.layer_norm(hidden, hidden.shape[-1:]), scale)
        return torch.baddbmm(last_bias, hidden, last_weight)

    def member(self, index: int) -> dict[str, torch.Tensor]:
        """One network's tensors, without the leading dimension: weights [a, b], the others [b]."""
        return {
            name: (value[index] if name.startswith("weights") else value[index, 0]).detach().clone()
            for name, value in self.named_parameters()
        }


def _xavier(members: int, rows: int, columns: int, scale: float) -> torch.Tensor:
    bound = math.sqrt(6.0 * scale / (rows + columns))
    return bound * (2.0 * torch.rand(members, rows, columns) - 1.0)


class Sac(nn.Module):
    """Actors [seeds], twin critics [2 · seeds] with their slow targets, and entropy coefficients [seeds]."""

    def __init__(self, num_seeds: int, params: SacParams) -> None:
        super().__init__()
        self.num_seeds, self.params = num_seeds, params
        inputs = params.observation_dim + params.action_dim
        self.actor = StackedNet(num_seeds, params.observation_dim, 2 * params.action_dim, params, 0.01)
        self.critic = StackedNet(2 * num_seeds, inputs, 1, params)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.log_entropy = nn.Parameter(torch.full((num_seeds, 1, 1), math.log(params.initial_entropy)))

    def mean_actions(self, observations: torch.Tensor) -> torch.Tensor:
        """[seeds, n, O] → [seeds, n, A] without exploration."""
        return self.actor(observations)[..., : self.params.action_dim].tanh()

    def sample(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions [seeds, n, A] and their log-densities [seeds, n, 1]."""
        mean, log_std = self.actor(observations).chunk(2, dim=-1)
        log_std = log_std.clamp(*LOG_STD_RANGE)
        noise = torch.randn_like(mean)
        raw = mean + log_std.exp() * noise
        gaussian = -0.5 * noise.square() - log_std - 0.5 * math.log(2.0 * math.pi)
        # log(1 − tanh²), in the form that does not underflow
        squash = 2.0 * (math.log(2.0) - raw - functional.softplus(-2.0 * raw))
        return raw.tanh(), (gaussian - squash).sum(dim=-1, keepdim=True)

    def loss(self, batch: Batch) -> torch.Tensor:
        """Critics, actors and entropy coefficients; each part moves its own parameters only.

        Summed over the seeds, so that a seed learns as it would alone.
        """
        num = batch.observations.shape[1]
        both = torch.cat([batch.observations, batch.next_observations], dim=1)
        actions, log_density = self.sample(both)
        new_actions, new_log_density = actions[:, :num], log_density[:, :num]
        entropy = self.log_entropy.exp()
        with torch.no_grad():
            soft = self._lower(self.target, batch.next_observations, actions[:, num:], is_frozen=True)
            soft = soft - entropy * log_density[:, num:]
            wanted = batch.rewards + self.params.discount * batch.continues * soft
        estimates = self._twins(self.critic, batch.observations, batch.actions)
        critic_loss = (estimates - wanted[None]).square().mean(dim=(0, 2, 3)).sum()
        value = self._lower(self.critic, batch.observations, new_actions, is_frozen=True)
        actor_loss = (entropy.detach() * new_log_density - value).mean(dim=(1, 2)).sum()
        surplus = -new_log_density.detach() - self.params.target_entropy * self.params.action_dim
        entropy_loss = (entropy * surplus).mean(dim=(1, 2)).sum()
        return critic_loss + actor_loss + entropy_loss

    def _lower(
        self, net: StackedNet, observations: torch.Tensor, actions: torch.Tensor, is_frozen: bool
    ) -> torch.Tensor:
        return torch.minimum(*self._twins(net, observations, actions, is_frozen))

    def _twins(
        self, net: StackedNet, observations: torch.Tensor, actions: torch.Tensor, is_frozen: bool = False
    ) -> torch.Tensor:
        """Both critics of every seed, [2, seeds, n, 1]."""
        inputs = torch.cat([observations, actions], dim=-1).repeat(2, 1, 1)
        return net(inputs, is_frozen).unflatten(0, (2, self.num_seeds))


class Replay(nn.Module):
    """Every transition of every seed on the device: rows [ticks, seeds · ants, numbers], filled in order.

    Only the number of filled ticks is part of the module's state.
    """

    rows: torch.Tensor
    num_filled: torch.Tensor
    lanes: torch.Tensor

    def __init__(
        self, num_ticks: int, num_seeds: int, num_ants: int, params: SacParams, device: torch.device
    ) -> None:
        super().__init__()
        self.shape = (num_seeds, num_ants)
        self.sizes = [params.observation_dim, params.action_dim, params.observation_dim, 1, 1]
        rows = torch.zeros(num_ticks, num_seeds * num_ants, sum(self.sizes), device=device)
        self.register_buffer("rows", rows, persistent=False)
        self.register_buffer("num_filled", torch.zeros((), device=device))
        lanes = torch.arange(num_seeds, device=device)[:, None] * num_ants
        self.register_buffer("lanes", lanes, persistent=False)

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
        return Batch(*picked.split(self.sizes, dim=-1))
