"""A world with its planners: what is served."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.types import FloatArray, PlanningModels
from chronoforest.view.scenes import Scene, cell_heights, stored_example

if TYPE_CHECKING:
    from chronoforest.planning.planner import Planner

NUM_CANDIDATES = 240
FARTHEST_SHARE = 0.85


@dataclass(frozen=True)
class ServedPreset:
    """A planner for each mode, all of one preset."""

    planners: Mapping[str, Planner]

    @property
    def name(self) -> str:
        """The preset's."""
        return next(iter(self.planners.values())).name

    @property
    def models(self) -> PlanningModels:
        """Those of the first mode; the others have learned from the same recordings."""
        return next(iter(self.planners.values())).models

    @property
    def frame(self) -> Frame:
        """The coordinates of who recorded, the same for all modes."""
        return next(iter(self.planners.values())).frame

    @property
    def scene(self) -> Scene:
        """What the page shows of it."""
        models = self.models
        heights = cell_heights(models.density, models.support)
        has_tracker = getattr(models, "tracker", None) is not None
        return Scene(self.name, self.frame, heights, models.support, has_tracker)

    def planner(self, mode: str) -> Planner:
        """The planner of a mode."""
        if mode not in self.planners:
            raise InvalidParameter(f"mode must be one of {', '.join(self.planners)}, got {mode!r}")
        return self.planners[mode]

    def describe(self) -> dict[str, Any]:
        """Everything the page has to know before it can ask for a plan."""
        first = stored_example(self.name) or example(self.models, self.frame)
        return self.scene.describe(first, tuple(self.planners))


def example(
    models: PlanningModels, frame: Frame, num_agents: int = 2, num_waypoints: int = 4
) -> dict[str, Any]:
    """A first problem in the user's coordinates: places with room around them, far apart by the learned
    distance."""
    digits = max(1, int(np.ceil(-np.log10(models.support.cell))))
    chosen = _far_apart(models, 2 * num_agents + num_waypoints).round(digits)
    places = frame.to_user(chosen).round(frame.decimals).tolist()
    return {
        "starts": places[:num_agents],
        "goals": places[num_agents : 2 * num_agents],
        "waypoints": places[2 * num_agents :],
    }


def _far_apart(models: PlanningModels, count: int) -> FloatArray:
    """[count, 2] by farthest-first choice; places that are hard to reach or to leave are left out."""
    places = _roomy(models)
    codes = models.distance.encode(places)
    steps = models.distance.pairwise(codes, codes)
    effort = np.maximum(np.median(steps, axis=0), np.median(steps, axis=1))
    kept = np.argsort(effort)[: max(count, int(FARTHEST_SHARE * len(places)))]
    places, apart = places[kept], np.minimum(steps, steps.T)[np.ix_(kept, kept)]
    chosen = [int(apart.mean(axis=1).argmax())]
    while len(chosen) < count:
        chosen.append(int(apart[chosen].min(axis=0).argmax()))
    return places[chosen]


def _roomy(models: PlanningModels) -> FloatArray:
    """[n, 2] supported places spread at random, of those with the most room around them."""
    places = models.support.places
    room = models.density.margin(places)
    places = places[room >= np.median(room)]
    rng = np.random.default_rng(0)
    chosen: FloatArray = places[rng.permutation(len(places))[:NUM_CANDIDATES]]
    return chosen
