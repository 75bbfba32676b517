"""Named configurations, as Python values, and the planners they make."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch

from chronoforest.data.goals import GoalParams
from chronoforest.errors import InvalidParameter, UnknownPreset
from chronoforest.models.distance import DistanceParams
from chronoforest.models.fit import ModelParams
from chronoforest.models.sampler import SamplerParams
from chronoforest.models.store import Models, load_models
from chronoforest.models.train import pick_device
from chronoforest.planner import Planner, PlannerParams
from chronoforest.result import PlanResult
from chronoforest.search.expand import SearchParams
from chronoforest.types import Problem

WEIGHTS = Path(__file__).parent / "weights"


@dataclass(frozen=True)
class Preset:
    """Everything one world needs: what is learned, how it is sampled and how it is searched."""

    name: str
    models: ModelParams = field(default_factory=ModelParams)
    sampler: SamplerParams = field(default_factory=SamplerParams)
    planner: PlannerParams = field(default_factory=PlannerParams)

    @property
    def weights(self) -> Path:
        """Folder of the weights that ship with the package."""
        return WEIGHTS / self.name

    def hurried(self) -> Preset:
        """The fast mode: eight denoising steps, half the samples and no second look at a met bridge, for
        slightly longer plans."""
        junction = replace(self.planner.search.junction, num_samples=6)
        search = replace(self.planner.search, junction=junction)
        return replace(
            self,
            sampler=replace(self.sampler, num_steps=8),
            planner=replace(self.planner, search=search, max_doubts=0),
        )


def _pointmaze(size: str) -> Preset:
    return Preset(f"pointmaze-{size}-stitch-v0")


def _teleport() -> Preset:
    return Preset(
        "pointmaze-teleport-stitch-v0",
        models=ModelParams(
            distance=DistanceParams(is_directed=True, width=128),
            goals=GoalParams(future_share=0.55, current_share=0.1),
        ),
        planner=PlannerParams(search=SearchParams(uncertainty_weight=10.0), is_reversible=False),
    )


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (*(_pointmaze(size) for size in ("medium", "large", "giant")), _teleport())
}


def get_preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise UnknownPreset(name, choices=sorted(PRESETS))
    return PRESETS[name]


class PresetPlanner(Planner):
    """A planner that knows its preset and all its models, the tracker included.

    It plans on `num_threads` CPU threads whatever torch is set to: rounding depends on their number, and so
    would the plan; and on a busy machine more threads than free cores are slower than one.
    """

    def __init__(self, preset: Preset, models: Models, num_threads: int = 1) -> None:
        super().__init__(models, preset.planner, preset.name)
        self.preset = preset
        self.models: Models = models
        self.num_threads = num_threads

    def plan(self, problem: Problem, **options: Any) -> PlanResult:
        """`Planner.plan`, on this planner's number of threads."""
        before = torch.get_num_threads()
        torch.set_num_threads(self.num_threads)
        try:
            return super().plan(problem, **options)
        finally:
            torch.set_num_threads(before)


def load_planner(
    name: str,
    device: str = "cpu",
    weights: str | Path | None = None,
    mode: Literal["default", "fast"] = "default",
    num_threads: int = 1,
) -> PresetPlanner:
    """A planner for a preset, from the weights that ship with the package or from a folder of your own."""
    preset = get_preset(name)
    if mode not in ("default", "fast"):
        raise InvalidParameter(f"mode must be 'default' or 'fast', got {mode!r}")
    if num_threads < 1:
        raise InvalidParameter(f"num_threads must be ≥ 1, got {num_threads}")
    if mode == "fast":
        preset = preset.hurried()
    folder = Path(weights) if weights is not None else preset.weights
    models = load_models(folder, name, preset.sampler, pick_device(device))
    return PresetPlanner(preset, models, num_threads)
