"""Trackers: observation and relative subgoal to action, what they learn from, and the kinds by name."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from chronoforest.data.scaling import Scaling
from chronoforest.errors import UnknownTracker
from chronoforest.models.distance import expectile_loss
from chronoforest.models.networks import Learner, StackedMLP, average_of
from chronoforest.models.params import CloningParams, SubgoalParams, TrackerParams, layer_sizes
from chronoforest.models.store import Stored
from chronoforest.typed import from_plain
from chronoforest.types import FloatArray

RANDOM_SHARE, FARTHEST_FRAME = 0.3, 6
"""Share of the subgoals that are drawn anywhere near, for the values alone; frames to the farthest other."""


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
    stride: int,
    random_share: float = RANDOM_SHARE,
) -> Steps:
    """observations [E, T, D], actions [E, T, A] → transitions with subgoals, those in hindsight one to
    `FARTHEST_FRAME` frames of `stride` steps ahead."""
    num_episodes, num_steps, _ = observations.shape
    device = observations.device
    episode = torch.randint(num_episodes, (num_draws,), device=device)
    step = torch.randint(num_steps - 1, (num_draws,), device=device)
    ahead = torch.randint(stride, FARTHEST_FRAME * stride + 1, (num_draws,), device=device)
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


DISCOUNT, EXPECTILE = 0.98, 0.7
"""Of the values that weigh the examples."""

TEMPERATURE, LARGEST_WEIGHT = 3.0, 50.0
"""An example weighs exp(TEMPERATURE · advantage), at most LARGEST_WEIGHT."""


class RegressionActor(nn.Module):
    """[n, D], [n, 2] relative subgoal → [n, A] in [−1, 1]."""

    def __init__(self, params: CloningParams, scaling: Scaling, action_dim: int = 2) -> None:
        super().__init__()
        self.params = params
        self.inputs = SubgoalInputs(params, scaling)
        sizes = pairwise(layer_sizes(len(scaling.mean), params.width, action_dim))
        layers = [layer for a, b in sizes for layer in (nn.Linear(a, b), nn.GELU())]
        self.body = nn.Sequential(*layers[:-1])

    def forward(self, observation: torch.Tensor, subgoal: torch.Tensor) -> torch.Tensor:
        """Shapes as the class says."""
        return self.act(self.inputs(observation, subgoal))

    def act(self, inputs: torch.Tensor) -> torch.Tensor:
        """The same from what `inputs` made, [n, D]."""
        return torch.tanh(self.body(inputs))


class CloningLearner(Learner):
    """The actor and its average."""

    def __init__(self, params: CloningParams, scaling: Scaling, action_dim: int = 2) -> None:
        super().__init__()
        self.actor = RegressionActor(params, scaling, action_dim)
        self.actor_average = average_of(self.actor)

    def loss(self, batch: Steps) -> torch.Tensor:
        """Squared error of the actions, over hindsight subgoals."""
        inputs = self.actor.inputs(batch.observation, batch.here)
        return self._regression(inputs, batch, batch.is_hindsight.float())

    def _regression(self, inputs: torch.Tensor, batch: Steps, weight: torch.Tensor) -> torch.Tensor:
        error = (self.actor.act(inputs) - batch.action.clamp(-1, 1)).square().mean(dim=-1)
        return weighted_mean(error, weight)


class TrackerLearner(CloningLearner):
    """The actor and the twin values that weigh its examples."""

    def __init__(self, params: TrackerParams, scaling: Scaling, action_dim: int = 2) -> None:
        super().__init__(params, scaling, action_dim)
        self.params = params
        self.values = StackedMLP(2, layer_sizes(len(scaling.mean), params.width, 1))
        self.values_average = average_of(self.values)

    def loss(self, batch: Steps) -> torch.Tensor:
        """Expectile values of reaching the subgoal; regression weighted by the advantage."""
        inputs = self.actor.inputs(batch.observation, batch.here)
        with torch.no_grad():
            ahead = self.values_average(self.actor.inputs(batch.next_observation, batch.there))
            backup = batch.backup(ahead.squeeze(-1).amin(dim=0), DISCOUNT, self.params.radius)
        error = backup - self.values(inputs).squeeze(-1)
        weight = torch.exp(TEMPERATURE * error.detach().mean(dim=0))
        weight = weight.clamp(max=LARGEST_WEIGHT) * batch.is_hindsight
        return expectile_loss(error, EXPECTILE) + self._regression(inputs, batch, weight)


class SubgoalTracker:
    """A trained actor behind the `Tracker` protocol; it stays on the CPU, where one row is quickest."""

    def __init__(self, actor: nn.Module) -> None:
        self.actor = actor.cpu().eval().requires_grad_(False)

    def __call__(self, observation: FloatArray, subgoal: FloatArray) -> FloatArray:
        """[D] or [n, D], relative subgoal [2] or [n, 2] → actions of the same leading shape."""
        with torch.inference_mode():
            inputs = (torch.from_numpy(np.asarray(v, dtype=np.float32)) for v in (observation, subgoal))
            return self.actor(*inputs).numpy().astype(np.float64)


def load_tracker(folder: Path, file: str = "tracker", preset: str | None = None) -> SubgoalTracker:
    """The tracker of a folder, checked to belong to the preset if one is named."""

    def actor(stored: Stored) -> nn.Module:
        kind = get_tracker(stored.card.get("tracker", TrackerParams.name))
        params = from_plain(kind.settings, stored.card["params"])
        return kind.actor(params, Scaling.unit(stored.card["observation_dim"]), stored.card["action_dim"])

    return SubgoalTracker(Stored.read(folder, "tracker", file, preset).filled(actor))


@dataclass(frozen=True)
class TrackerKind:
    """How one is made.

    settings: its parameters' class; learner: makes from (parameters, scaling, numbers of an action) a module
    with `actor`, `actor_average`, `averages()` and `loss(Steps)`; actor: makes an untrained actor to fill;
    clip: of the gradient's norm.
    """

    settings: type[SubgoalParams]
    learner: Callable[[Any, Scaling, int], Any]
    actor: Callable[[Any, Scaling, int], nn.Module]
    clip: float = math.inf

    def settings_for(self, preset: SubgoalParams) -> SubgoalParams:
        """Its defaults, with what it has in common with a preset's tracker as the preset has it."""
        common = next(base for base in self.settings.__mro__ if isinstance(preset, base))
        known = {field.name: getattr(preset, field.name) for field in fields(common)}
        return self.settings(**known)


TRACKERS: dict[str, TrackerKind] = {
    TrackerParams.name: TrackerKind(TrackerParams, TrackerLearner, RegressionActor),
    CloningParams.name: TrackerKind(CloningParams, CloningLearner, RegressionActor),
}


def get_tracker(name: str) -> TrackerKind:
    """The kind of that name; the paper's own tracker is found where the repository's benchmarks are on
    Python's path."""
    try:
        if name == "diffusion-ql":
            paper: TrackerKind = import_module("benchmarks.diffusion_ql").TRACKER
            return paper
        return TRACKERS[name]
    except (KeyError, ModuleNotFoundError) as error:
        raise UnknownTracker(name, choices=sorted(TRACKERS)) from error
