"""Finds the problem that the viewer opens with: one whose order the learned distance alone gets wrong.

`python -m benchmarks.flips` draws problems, ranks them by how much longer the order of the distance alone is
on the roadmap, plans the best ones with three variants and prints a line for each. What it found is stored
in `view/examples.json`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from tyro.conf import arg

from chronoforest.cli import run_alone
from chronoforest.errors import require_at_least
from chronoforest.planning.planner import Planner
from chronoforest.presets.loading import load_planner
from chronoforest.roadmap.ways import join
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import FloatArray, Problem, RoundStats

VARIANTS = ("verified", "temporal-fixed", "online")


@dataclass(frozen=True)
class Search:
    """preset: the world; first, num_draws: seeds of the problems, each with two agents and four waypoints;
    apart: units between any two anchors, at least; num_planned: how many of the best are planned."""

    preset: str = "point-giant"
    first: int = 50_000
    num_draws: int = 10_614
    apart: float = 5.0
    num_planned: int = 23

    def __post_init__(self) -> None:
        require_at_least(self, 0, "first", "apart")
        require_at_least(self, 1, "num_draws", "num_planned")


def main(search: Annotated[Search, arg(name="")]) -> None:
    """Print the problems that were planned, as lines of JSON, those with the longest detour first."""
    planner = load_planner(search.preset)
    places = roomy(planner)
    draws = range(search.first, search.first + search.num_draws)
    problems = {draw: found for draw in draws if (found := drawn(places, draw, search.apart)) is not None}
    detours = {draw: detour(planner, problem) for draw, problem in problems.items()}
    for draw in sorted(detours, key=detours.__getitem__, reverse=True)[: search.num_planned]:
        line = {"draw": draw, "detour": detours[draw], **planned(planner, problems[draw])}
        print(json.dumps(line), flush=True)


def roomy(planner: Planner) -> FloatArray:
    """[n, 2] supported places with at least the median room, on a tenth of a unit."""
    places = planner.models.support.places
    room = planner.models.density.margin(places)
    kept: FloatArray = places[room >= np.median(room)].round(1)
    return kept


def drawn(places: FloatArray, draw: int, apart: float) -> Problem | None:
    """A problem for two agents with four waypoints; None where two of its anchors lie too close."""
    chosen = places[np.random.default_rng(draw).choice(len(places), 8, replace=False)]
    gaps = np.linalg.norm(chosen[:, None] - chosen, axis=-1)
    if gaps[~np.eye(8, dtype=bool)].min() < apart:
        return None
    return Problem(chosen[:2], chosen[2:4], chosen[4:])


def detour(planner: Planner, problem: Problem) -> float:
    """How many times longer the order of the learned distance alone is on the roadmap than the best order."""
    prepared, distance = planner.prepared("verified"), planner.models.distance
    cost = join(prepared.roadmap, problem.anchors, prepared.ground).ways().cost
    codes = distance.encode(problem.anchors)
    guess, best = (AutoSolver()(steps, problem, None) for steps in (distance.pairwise(codes, codes), cost))
    return guess.cost(cost) / best.cost(cost)


def planned(planner: Planner, problem: Problem) -> dict[str, object]:
    """The problem, and by variant the length of its plan and how often the order changed between rounds."""
    found: dict[str, object] = {
        name: getattr(problem, name).tolist() for name in ("starts", "goals", "waypoints")
    }
    for variant in VARIANTS:
        result = planner.plan(problem, variant=variant)
        found[variant] = {"length": result.length, "flips": num_flips(result.rounds)}
    return found


def num_flips(rounds: tuple[RoundStats, ...]) -> int:
    """Rounds whose order is not that of the round before."""
    return sum(one.route != other.route for one, other in pairwise(rounds))


if __name__ == "__main__":
    sys.exit(run_alone("python -m benchmarks.flips", main))
