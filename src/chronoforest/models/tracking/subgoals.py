"""What every tracker learns from: recorded steps with subgoals, and how an actor is shown them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from chronoforest.data.scaling import Scaling
from chronoforest.errors import InvalidParameter

RANDOM_SHARE = 0.3
"""Of the subgoals drawn anywhere near, for the values alone."""


@dataclass(frozen=True)
class SubgoalParams:
    """The body and its subgoals, whatever learns to reach them.

    observation_dim: counts all of the observation; the first two, the position, are not shown to the actor,
    which sees where the subgoal is instead; action_dim: numbers per action; nearest: fewest steps ahead that
    a hindsight subgoal may lie; farthest: most steps ahead; radius: world units; a subgoal counts as reached;
    largest_subgoal: world units; those beyond look as far away as this.
    """

    name: ClassVar[str]

    observation_dim: int = 2
    action_dim: int = 2
    nearest: int = 5
    farthest: int = 30
    radius: float = 0.5
    largest_subgoal: float = 4.0

    def __post_init__(self) -> None:
        if not 1 <= self.nearest <= self.farthest:
            raise InvalidParameter(
                f"subgoals need 1 ≤ nearest ≤ farthest, got {self.nearest} and {self.farthest}"
            )


@dataclass(frozen=True)
class Steps:
    """A batch: observation, next_observation [n, D]; action [n, A]; subgoal [n, 2] world position;
    is_hindsight [n], the subgoal lies in the same recording's near future."""

    observation: torch.Tensor
    next_observation: torch.Tensor
    action: torch.Tensor
    subgoal: torch.Tensor
    is_hindsight: torch.Tensor

    @property
    def here(self) -> torch.Tensor:
        """[n, 2] the subgoal relative to the agent before the step."""
        return self.subgoal - self.observation[:, :2]

    @property
    def there(self) -> torch.Tensor:
        """[n, 2] the subgoal relative to the agent after the step."""
        return self.subgoal - self.next_observation[:, :2]

    def backup(self, ahead: torch.Tensor, discount: float, radius: float) -> torch.Tensor:
        """−1 + discount · ahead, or 0 where the step came within `radius`; `ahead` [..., n] values there."""
        is_on_its_way = (self.there.norm(dim=-1) >= radius).float()
        return is_on_its_way * (discount * ahead - 1.0)


def draw_steps(
    observations: torch.Tensor,
    actions: torch.Tensor,
    num_draws: int,
    params: SubgoalParams,
    random_share: float = RANDOM_SHARE,
) -> Steps:
    """observations [E, T, D], actions [E, T, A] → transitions with subgoals."""
    num_episodes, num_steps, _ = observations.shape
    device = observations.device
    episode = torch.randint(num_episodes, (num_draws,), device=device)
    step = torch.randint(num_steps - 1, (num_draws,), device=device)
    ahead = torch.randint(params.nearest, params.farthest + 1, (num_draws,), device=device)
    hindsight = observations[episode, torch.clamp(step + ahead, max=num_steps - 1), :2]
    offset = 2.0 * params.largest_subgoal * (torch.rand(num_draws, 2, device=device) - 0.5)
    is_hindsight = torch.rand(num_draws, device=device) >= random_share
    observation = observations[episode, step]
    return Steps(
        observation=observation,
        next_observation=observations[episode, step + 1],
        action=actions[episode, step],
        subgoal=torch.where(is_hindsight[:, None], hindsight, observation[:, :2] + offset),
        is_hindsight=is_hindsight,
    )


class SubgoalInputs(nn.Module):
    """Standardised observation without its position, and the clipped relative subgoal: [n, D]."""

    def __init__(self, params: SubgoalParams, scaling: Scaling) -> None:
        super().__init__()
        self.params = params
        self.scaling = copy.deepcopy(scaling)

    def forward(self, observation: torch.Tensor, subgoal: torch.Tensor) -> torch.Tensor:
        """[n, D], [n, 2] relative subgoal → [n, D]."""
        body = self.scaling.normalise(observation)[..., 2:]
        # The largest subgoal is seen two units long, and so is any beyond it.
        length = subgoal.norm(dim=-1, keepdim=True).clamp_min(self.params.largest_subgoal)
        return torch.cat([body, subgoal * (2.0 / length)], dim=-1)


def weighted_mean(error: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Mean of `error` [n] by `weight` [n]."""
    return (weight * error).sum() / weight.sum().clamp_min(1e-6)
