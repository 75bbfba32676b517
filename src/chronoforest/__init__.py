"""ChronoForest: long-horizon routes for several agents, planned from short recordings."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chronoforest.errors import ChronoForestError
    from chronoforest.exports.saved import load_result
    from chronoforest.planning.planner import MaxExpansions, MaxRounds, MaxSeconds, Planner
    from chronoforest.planning.result import PlanResult
    from chronoforest.presets.learning import learn
    from chronoforest.presets.loading import load_planner
    from chronoforest.presets.options import TrainOptions
    from chronoforest.presets.training import train_preset
    from chronoforest.search.tree import ForestMemory
    from chronoforest.types import Plan, Problem, RoundStats
    from chronoforest.types.problem_files import load_problem

_HOMES = {
    "ChronoForestError": "errors",
    "ForestMemory": "search.tree",
    "MaxExpansions": "planning.planner",
    "MaxRounds": "planning.planner",
    "MaxSeconds": "planning.planner",
    "Plan": "types",
    "PlanResult": "planning.result",
    "Planner": "planning.planner",
    "Problem": "types",
    "RoundStats": "types",
    "TrainOptions": "presets.options",
    "learn": "presets.learning",
    "load_planner": "presets.loading",
    "load_problem": "types.problem_files",
    "load_result": "exports.saved",
    "train_preset": "presets.training",
}

__all__ = [
    "ChronoForestError",
    "ForestMemory",
    "MaxExpansions",
    "MaxRounds",
    "MaxSeconds",
    "Plan",
    "PlanResult",
    "Planner",
    "Problem",
    "RoundStats",
    "TrainOptions",
    "learn",
    "load_planner",
    "load_problem",
    "load_result",
    "train_preset",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line starts without waiting for torch."""
    if name == "__version__":
        from importlib.metadata import version

        return version("chronoforest")
    if name not in _HOMES:
        raise AttributeError(f"module 'chronoforest' has no attribute {name!r}")
    return getattr(import_module(f"chronoforest.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return [*__all__, "__version__"]
