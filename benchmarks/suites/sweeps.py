"""Sweeps over what the paper does not give, one parameter at a time, on validation problems.

The problems are random ones with three waypoints and a seed of their own, which no reported table uses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.changes import changed
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import plan_random, random_cases
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial
from chronoforest.peers.choice import PlannerChoice

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

EPISODES = 20
VALIDATION = Case("multi", PlannerChoice("antmaze-giant-stitch-v0"), seed=777, num_waypoints=3)

SWEEPS: dict[str, tuple[str, tuple[float, ...]]] = {
    "pairs in a round": ("budget.num_pairs", (2, 4, 8)),
    "of them for coverage": ("budget.num_coverage", (0, 1, 2)),
    "τ, steps": ("budget.certified_gap", (10, 30, 100)),
    "leaves promoted per pair": ("search.num_expand", (1, 2, 3)),
    "samples per leaf": ("search.junction.num_samples", (4, 6, 12, 24)),
    "denoising steps": ("sampler.num_steps", (5, 10, 20, 50)),
    "α": ("calibration.alpha", (0.0, 0.0005, 0.002, 0.005)),
    "λ": ("search.uncertainty_weight", (0.0, 0.1, 1.0, 10.0)),
    "challenges of a link": ("max_challenges", (0, 1, 8)),
}
"""What is swept: the parameter's name for `changes`, and its values."""


def cases(request: Request) -> list[Case]:
    """Every value of every parameter on the same problems."""
    problems = random_cases(VALIDATION, request.episodes or EPISODES)
    return [
        replace(case, change=change(path, value))
        for path, values in SWEEPS.values()
        for value in values
        for case in problems
    ]


def change(path: str, value: float) -> str:
    """How a case says which parameter is set to what."""
    return f"{path}={value:g}"


def run_changed(case: Case, planner: PresetPlanner) -> Trial:
    """Plan with the one parameter set otherwise."""
    return plan_random(case, changed(planner, case.change))


SUITE = Suite("sweeps", "parameters the paper does not give", cases, run_changed, seconds=7.0)
