"""The trackers there are, by name: what each is trained by and what its settings are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Protocol

import torch
from torch import nn

from chronoforest.data.scaling import Scaling
from chronoforest.errors import UnknownTracker
from chronoforest.models.diffusion_ql import DiffusionActor, DiffusionQLearner, DiffusionQLParams
from chronoforest.models.subgoals import Steps, SubgoalParams
from chronoforest.models.tracker import Actor, CloningLearner, CloningParams, TrackerLearner, TrackerParams


class Learner(Protocol):
    """A module that trains an actor together with whatever the actor needs to learn."""

    actor: Any
    actor_average: Any

    def averages(self) -> list[tuple[nn.Module, nn.Module]]:
        """(network, its average) pairs."""
        ...

    def loss(self, batch: Steps) -> torch.Tensor:
        """What to lower, on a batch."""
        ...

    def to(self, device: torch.device) -> Any:
        """The same module on a device."""
        ...


@dataclass(frozen=True)
class TrackerKind:
    """settings: its parameters' class; learner and actor are made from (parameters, scaling);
    clip: of the gradient's norm."""

    settings: type[Any]
    learner: Callable[[Any, Scaling], Any]
    actor: Callable[[Any, Scaling], nn.Module]
    clip: float = math.inf

    def settings_for(self, preset: SubgoalParams) -> SubgoalParams:
        """Its defaults, with what it has in common with a preset's tracker as the preset has it."""
        common = next(base for base in self.settings.__mro__ if isinstance(preset, base))
        settings: SubgoalParams = self.settings(
            **{field.name: getattr(preset, field.name) for field in fields(common)}
        )
        return settings


TRACKERS: dict[str, TrackerKind] = {
    TrackerParams.name: TrackerKind(TrackerParams, TrackerLearner, Actor),
    CloningParams.name: TrackerKind(CloningParams, CloningLearner, Actor),
    DiffusionQLParams.name: TrackerKind(DiffusionQLParams, DiffusionQLearner, DiffusionActor, clip=7.0),
}


def get_tracker(name: str) -> TrackerKind:
    """The kind of that name."""
    if name not in TRACKERS:
        raise UnknownTracker(name, choices=sorted(TRACKERS))
    return TRACKERS[name]
