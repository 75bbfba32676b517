"""How many problems are planned in a second, one after the other and many at a time.

`python -m benchmarks.throughput --count 1000 --workers 2` prints a line for every number of problems that are
planned at the same time; loading models is not counted. Problems are random pairs as in suite `pairs`.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from typing import Annotated

from tyro.conf import arg

from chronoforest.bench.case import Case
from chronoforest.bench.problems import random_problem
from chronoforest.cli import run_alone
from chronoforest.engines import LocalEngine, Places
from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning import flights
from chronoforest.planning.result import PlanResult
from chronoforest.presets.loading import PresetPlanner
from chronoforest.types import Problem


@dataclass(frozen=True)
class Throughput:
    """at_once: problems in flight in each process; seconds: from the first problem's begin to the last plan,
    models loaded before; verified: plans every leg of which is verified."""

    at_once: int
    count: int
    seconds: float
    verified: int

    @property
    def rate(self) -> float:
        """Plans a second."""
        return self.count / self.seconds


@dataclass(frozen=True)
class Measurement:
    """preset, device: what plans; count: problems of `seed`; at_once: how many are in flight, each number in
    turn; workers: processes that share the problems, each with a planner of its own."""

    preset: str = "point-giant"
    device: str = "cpu"
    count: int = 1000
    at_once: tuple[int, ...] = (1, 8, 64)
    workers: int = 1
    seed: int = 3

    def __post_init__(self) -> None:
        require_at_least(self, 1, "count", "workers")
        if not self.at_once or min(self.at_once) < 1:
            raise InvalidParameter(f"at_once must be numbers from 1 on, got {self.at_once}")


def main(measurement: Annotated[Measurement, arg(name="")]) -> None:
    """Print a line of JSON for each number of problems in flight."""
    PlannerChoice(measurement.preset, device=measurement.device).check()
    for at_once in measurement.at_once:
        found = measured(measurement, at_once)
        print(json.dumps({**asdict(found), "rate": round(found.rate, 2)}), flush=True)


def measured(measurement: Measurement, at_once: int) -> Throughput:
    """The throughput of all workers together, from when the first began until the last was done."""
    workers = range(measurement.workers)
    answers = LocalEngine(len(workers)).answers(partial(_share, measurement, at_once), workers)
    shares = [answer.result for answer in answers]
    begins, ends, verified = zip(*(share for share in shares if share is not None), strict=True)
    return Throughput(at_once, measurement.count, max(ends) - min(begins), sum(verified))


def throughput(planner: PresetPlanner, problems: list[Problem], seed: int, at_once: int) -> Throughput:
    """Plan problems in this process, so many at a time."""
    began, usual = time.time(), flights.IN_FLIGHT
    flights.IN_FLIGHT = at_once
    try:
        plans = planner.plan_many(problems, seeds=range(seed, seed + len(problems)))
    finally:
        flights.IN_FLIGHT = usual
    return Throughput(at_once, len(problems), time.time() - began, sum(map(_is_verified, plans)))


def random_pairs(preset: str, seed: int, numbers: range) -> list[Problem]:
    """Problems of suite `pairs` by their numbers."""
    choice = PlannerChoice(preset)
    return [random_problem(Case("pairs", choice, episode=number, seed=seed)) for number in numbers]


def _share(measurement: Measurement, at_once: int, worker: int, _: Places) -> tuple[float, float, int]:
    """When a worker began and ended its part of the problems, and how many plans are verified."""
    planner = _ready(measurement.preset, measurement.device)
    part = range(worker, measurement.count, measurement.workers)
    problems = random_pairs(measurement.preset, measurement.seed, part)
    began = time.time()
    found = throughput(planner, problems, measurement.seed, at_once)
    return began, time.time(), found.verified


@lru_cache(maxsize=1)
def _ready(preset: str, device: str) -> PresetPlanner:
    """A planner that has planned already."""
    planner = PlannerChoice(preset, device=device).load()
    planner.plan_many(random_pairs(preset, 0, range(4)))
    return planner


def _is_verified(plan: object) -> bool:
    return isinstance(plan, PlanResult) and all(
        leg.evidence == "verified" for route in plan.routes for leg in route.legs
    )


if __name__ == "__main__":
    sys.exit(run_alone("python -m benchmarks.throughput", main))
