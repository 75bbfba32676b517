"""Whether plans that are made together are those that are made alone.

`python -m benchmarks.together --device cuda --count 200` prints one line: on a processor they are the same
number by number; on CUDA a batch of another size is rounded otherwise, and this tells by how much.
Problems are random pairs as in suite `pairs`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import numpy as np
from tyro.conf import arg

from benchmarks.throughput import random_pairs
from chronoforest.cli import run_alone
from chronoforest.errors import require_at_least
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.planner import Planner
from chronoforest.planning.result import PlanResult
from chronoforest.types import FloatArray, Problem

Arrays = list[FloatArray]


@dataclass(frozen=True)
class Measurement:
    """preset, device: what plans; count: problems of `seed`."""

    preset: str = "point-giant"
    device: str = "cpu"
    count: int = 100
    seed: int = 3

    def __post_init__(self) -> None:
        require_at_least(self, 1, "count")


@dataclass(frozen=True)
class Agreement:
    """How alike the plans of `count` problems are: num_same_paths: those whose paths are equal number by
    number; num_same_evidence: whose legs are verified in the one and in the other; largest_path: units
    between two paths at most, where they have as many points; largest_segment: the same of segments that the
    denoiser generated, where it was asked alike; largest_length: share by which two lengths differ."""

    count: int
    num_same_paths: int
    num_same_evidence: int
    largest_path: float
    largest_segment: float
    largest_length: float


def main(measurement: Annotated[Measurement, arg(name="")]) -> None:
    """Print how alike the plans are."""
    planner = PlannerChoice(measurement.preset, device=measurement.device).load()
    problems = random_pairs(measurement.preset, measurement.seed, range(measurement.count))
    print(json.dumps({**asdict(measurement), **asdict(agreement(planner, problems))}))


def agreement(planner: Planner, problems: Sequence[Problem]) -> Agreement:
    """Plan problems together and each alone, with the same seeds."""
    together = planner.plan_many(problems, seeds=range(len(problems)))
    pairs = [
        (one, planner.plan(problem, seed=seed))
        for seed, (problem, one) in enumerate(zip(problems, together, strict=True))
        if isinstance(one, PlanResult)
    ]
    return Agreement(
        count=len(pairs),
        num_same_paths=sum(_apart(_paths(one), _paths(other)) == 0.0 for one, other in pairs),
        num_same_evidence=sum(_evidence(one) == _evidence(other) for one, other in pairs),
        largest_path=_largest((_paths(one), _paths(other)) for one, other in pairs),
        largest_segment=_largest((_segments(one), _segments(other)) for one, other in pairs),
        largest_length=max((abs(one.length / other.length - 1.0) for one, other in pairs), default=0.0),
    )


def _largest(pairs: Iterable[tuple[Arrays, Arrays]]) -> float:
    """Over those that can be compared."""
    apart = (_apart(one, other) for one, other in pairs)
    return max((units for units in apart if np.isfinite(units)), default=0.0)


def _apart(one: Arrays, other: Arrays) -> float:
    """Units between the points of arrays at most; infinite where they have not as many."""
    if [part.shape for part in one] != [part.shape for part in other]:
        return float("inf")
    return max(
        (float(np.linalg.norm(a - b, axis=-1).max(initial=0.0)) for a, b in zip(one, other, strict=True)),
        default=0.0,
    )


def _paths(plan: PlanResult) -> Arrays:
    return [route.path for route in plan.routes]


def _segments(plan: PlanResult) -> Arrays:
    return [tree.segments for tree in plan.trees]


def _evidence(plan: PlanResult) -> list[str]:
    return [leg.evidence for route in plan.routes for leg in route.legs]


if __name__ == "__main__":
    sys.exit(run_alone("python -m benchmarks.together", main))
