"""The tracker: observation and relative subgoal to action, regressed with weights on good choices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from torch import nn

from chronoforest.data.scaling import Scaling
from chronoforest.models.distance import expectile_loss
from chronoforest.models.stacked import StackedMLP
from chronoforest.models.tracking.subgoals import Steps, SubgoalInputs, SubgoalParams, weighted_mean
from chronoforest.models.train import Learner, average_of
from chronoforest.types import FloatArray

NUM_LAYERS = 3
"""Hidden layers."""

DISCOUNT, EXPECTILE = 0.98, 0.7
"""Of the values that weigh the examples."""

TEMPERATURE, LARGEST_WEIGHT = 3.0, 50.0
"""An example weighs exp(TEMPERATURE · advantage), at most LARGEST_WEIGHT."""


@dataclass(frozen=True)
class CloningParams(SubgoalParams):
    """An actor that repeats what was recorded on the way to each hindsight subgoal.

    width: hidden units.
    """

    name: ClassVar[str] = "bc"

    width: int = 256

    def layers(self, outputs: int) -> list[int]:
        """Sizes of a network's layers."""
        return [self.observation_dim, *[self.width] * NUM_LAYERS, outputs]


@dataclass(frozen=True)
class TrackerParams(CloningParams):
    """The same actor by advantage-weighted regression: what led to the subgoal soonest counts most."""

    name: ClassVar[str] = "awr"


class RegressionActor(nn.Module):
    """[n, D], [n, 2] relative subgoal → [n, A] in [−1, 1]."""

    def __init__(self, params: CloningParams, scaling: Scaling) -> None:
        super().__init__()
        self.params = params
        self.inputs = SubgoalInputs(params, scaling)
        sizes = pairwise(params.layers(params.action_dim))
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

    def __init__(self, params: CloningParams, scaling: Scaling) -> None:
        super().__init__()
        self.actor = RegressionActor(params, scaling)
        self.actor_average = average_of(self.actor)

    def loss(self, batch: Steps) -> torch.Tensor:
        """Squared error of the actions, over hindsight subgoals."""
        return self._regression(
            self.actor.inputs(batch.observation, batch.here), batch, batch.is_hindsight.float()
        )

    def _regression(self, inputs: torch.Tensor, batch: Steps, weight: torch.Tensor) -> torch.Tensor:
        error = (self.actor.act(inputs) - batch.action.clamp(-1, 1)).square().mean(dim=-1)
        return weighted_mean(error, weight)


class TrackerLearner(CloningLearner):
    """The actor and the twin values that weigh its examples."""

    def __init__(self, params: TrackerParams, scaling: Scaling) -> None:
        super().__init__(params, scaling)
        self.params = params
        self.values = StackedMLP(2, params.layers(1))
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
            return self.actor(_tensor(observation), _tensor(subgoal)).numpy().astype(np.float64)


def _tensor(values: FloatArray) -> torch.Tensor:
    return torch.from_numpy(np.asarray(values, dtype=np.float32))
