"""The trackers there are, by name: what each is trained by and what its settings are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from torch import nn

from chronoforest.data.scaling import Scaling
from chronoforest.errors import UnknownTracker
from chronoforest.models.tracking.diffusion_ql import DiffusionActor, DiffusionQLearner, DiffusionQLParams
from chronoforest.models.tracking.regression import (
    CloningLearner,
    CloningParams,
    RegressionActor,
    TrackerLearner,
    TrackerParams,
)
from chronoforest.models.tracking.subgoals import SubgoalParams


@dataclass(frozen=True)
class TrackerKind:
    """How one is made.

    settings: its parameters' class; learner: makes from (parameters, scaling) a module with `actor`,
    `actor_average`, `averages()` and `loss(Steps)`; actor: makes an untrained actor to fill; clip: of the
    gradient's norm.
    """

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
    TrackerParams.name: TrackerKind(TrackerParams, TrackerLearner, RegressionActor),
    CloningParams.name: TrackerKind(CloningParams, CloningLearner, RegressionActor),
    DiffusionQLParams.name: TrackerKind(DiffusionQLParams, DiffusionQLearner, DiffusionActor, clip=7.0),
}


def get_tracker(name: str) -> TrackerKind:
    """The kind of that name."""
    if name not in TRACKERS:
        raise UnknownTracker(name, choices=sorted(TRACKERS))
    return TRACKERS[name]
