"""ChronoForest: long-horizon routes for several agents, planned from short recordings."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chronoforest.errors import ChronoForestError
    from chronoforest.planner import ForestMemory, MaxExpansions, MaxRounds, MaxSeconds, Planner
    from chronoforest.presets import load_planner
    from chronoforest.result import PlanResult, load_result
    from chronoforest.types import Plan, Problem, RoundStats

_HOMES = {
    "ChronoForestError": "errors",
    "ForestMemory": "planner",
    "MaxExpansions": "planner",
    "MaxRounds": "planner",
    "MaxSeconds": "planner",
    "Plan": "types",
    "PlanResult": "result",
    "Planner": "planner",
    "Problem": "types",
    "RoundStats": "types",
    "load_planner": "presets",
    "load_result": "result",
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
    "load_planner",
    "load_result",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line starts without waiting for torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'chronoforest' has no attribute {name!r}")
    return getattr(import_module(f"chronoforest.{_HOMES[name]}"), name)
