"""What each part is worth: plans without it beside plans with it, on the same problems and seeds.

Every row of every table comes from one run: roadmap and forest, either alone, both without single parts, the
paper's settings and `dataset-graph`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.instances import find, stored_sets
from benchmarks.suites.hamiltonian import instance_cases
from chronoforest.bench.case import Case
from chronoforest.bench.problems import supported_problem
from chronoforest.bench.protocol import (
    NUM_WAYPOINTS_IN_ORDER,
    plan_order,
    plan_random,
    task_cases,
    walk_official,
)
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial, measure_plan, measure_unmapped, plan_problem
from chronoforest.envs.tasks import WORLDS
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.types import FloatArray, PlanningModels

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

GIANT = "pointmaze-giant-stitch-v0"
TELEPORT = ("antmaze-teleport-stitch-v0", "pointmaze-teleport-stitch-v0")
REPEATS = 3
"""Seeds, from 0."""

NUM_PAIRS, NUM_MULTI, NUM_TRIPLES, NUM_WALKS = 20, 7, 15, 2
"""Problems of a seed: pairs, several agents, easily misjudged triples, and walks of every official task."""


@dataclass(frozen=True)
class Part:
    """A row. lacks: the part that it does without, and whole: the row that has it; is_about_order: it differs
    only where there are stops to put in order."""

    label: str
    variant: str = "online"
    planner: str = CHRONOFOREST
    lacks: str = ""
    whole: str = ""
    is_about_order: bool = False

    def is_of(self, trial: Trial) -> bool:
        """Whether a trial belongs to the row."""
        return (trial.case.choice.planner, trial.case.variant) == (self.planner, self.variant)


BOTH, FOREST = "roadmap and forest", "forest only"

PARTS = (
    Part(BOTH, "verified"),
    Part("roadmap only", "roadmap-only", lacks="verification", whole=BOTH),
    Part(FOREST, "online", lacks="the roadmap", whole=BOTH),
    Part("both, without guidance", "verified-no-guidance", lacks="guidance of pieces", whole=BOTH),
    Part("both, without shortening", "verified-no-shortening", lacks="shortening of ways", whole=BOTH),
    Part("both, full network", "verified-no-student", lacks="distillation for pieces", whole=BOTH),
    Part("both, one sample", "verified-single", lacks="several samples of a piece", whole=BOTH),
    Part(
        "both, order fixed", "roadmap-fixed", lacks="solving the order again", whole=BOTH, is_about_order=True
    ),
    Part("forest, without guidance", "no-guidance", lacks="guidance of lookaheads", whole=FOREST),
    Part("forest, without shortening", "no-shortening", lacks="shortening of bridges", whole=FOREST),
    Part("forest, without challenges", "no-challenges", lacks="challenges", whole=FOREST),
    Part("forest, distance as learned", "learned-distance", lacks="far distances over hops", whole=FOREST),
    Part("forest, full network", "no-student", lacks="distillation", whole=FOREST),
    Part("forest, one sample", "single", lacks="several samples of a leaf", whole=FOREST),
    Part("forest, start tree only", "start-tree-only", lacks="the target's tree", whole=FOREST),
    Part(
        "forest, order fixed",
        "temporal-fixed",
        lacks="re-solving the order",
        whole=FOREST,
        is_about_order=True,
    ),
    Part("paper", "paper"),
    Part("dataset-graph", planner="dataset-graph"),
)


def cases(request: Request) -> list[Case]:
    """Every row on every problem; a template names another world than those that ship."""
    problems = _shipped(request) if request.template is None else _in_world(request.template, request)
    return [case for problem in problems for case in rows_of(problem)]


def rows_of(problem: Case) -> list[Case]:
    """A problem for every row that it can tell something about."""
    return [
        replace(problem.chosen(planner=part.planner), variant=part.variant)
        for part in PARTS
        if problem.num_waypoints or not part.is_about_order
    ]


def _shipped(request: Request) -> list[Case]:
    """Pairs, several agents, misjudged orders and instances in giant mazes, walks in teleport mazes."""
    stored = [
        case for one in stored_sets().values() for case in instance_cases(one, ("",), _once(request), (1, 2))
    ]
    walked = [case for preset in TELEPORT for case in _walks(Case("stitch", PlannerChoice(preset)), request)]
    return [*_planned(Case("", PlannerChoice(GIANT)), request), *stored, *walked]


def _in_world(template: Case, request: Request) -> list[Case]:
    """The same kinds of problems in another world, as far as it has a map and a body."""
    if template.preset not in WORLDS:
        return [*_pairs(template, "places", request), *_multi(template, "places", request)]
    return [*_planned(template, request), *_walks(template, request)]


def _planned(template: Case, request: Request) -> list[Case]:
    order = replace(template, suite="order", num_waypoints=NUM_WAYPOINTS_IN_ORDER)
    num_tasks = len(template.maze.tasks)
    triples = [
        replace(order, seed=seed, task=k % num_tasks + 1, episode=k // num_tasks)
        for seed in _seeds(request)
        for k in range(request.episodes or NUM_TRIPLES)
    ]
    return [*_pairs(template, "pairs", request), *_multi(template, "multi", request), *triples]


def _pairs(template: Case, suite: str, request: Request) -> list[Case]:
    return _random(replace(template, suite=suite), request.episodes or NUM_PAIRS, request)


def _multi(template: Case, suite: str, request: Request) -> list[Case]:
    several = replace(template, suite=suite, num_agents=2, num_waypoints=5)
    return _random(several, request.episodes or NUM_MULTI, request)


def _random(template: Case, count: int, request: Request) -> list[Case]:
    return [replace(template, seed=seed, episode=k) for seed in _seeds(request) for k in range(count)]


def _walks(template: Case, request: Request) -> list[Case]:
    own = replace(template, suite="stitch")
    return [
        case
        for seed in _seeds(request)
        for case in task_cases(replace(own, seed=seed), request.episodes or NUM_WALKS)
    ]


def _seeds(request: Request) -> Sequence[int]:
    return range(request.repeats or REPEATS)


def _once(request: Request) -> Request:
    """Stored problems are planned once unless more is asked for."""
    return replace(request, repeats=request.repeats or 1)


def run_part(case: Case, planner: PresetPlanner) -> Trial:
    """Plan, and walk where there is a body; what all plans of a variant share is made before, as a peer's
    graph is when it is loaded."""
    if case.choice.planner == CHRONOFOREST:
        _make_ready(planner, case.variant)
    return _KINDS[case.suite](case, planner)


def _make_ready(planner: PresetPlanner, variant: str) -> None:
    prepared = planner.prepared(variant)
    if prepared.variant.uses_roadmap:
        _ = prepared.checker if prepared.variant.verifies else prepared.roadmap


def _plan_stored(case: Case, planner: PresetPlanner) -> Trial:
    problem = find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    return Trial(case, measure_plan(plan_problem(case, planner, problem), case.maze))


def _plan_places(case: Case, planner: PresetPlanner) -> Trial:
    problem = supported_problem(case, planner.models, planner.params.assembly.edge)
    result = plan_problem(case, planner, problem.moved(planner.frame.to_user))
    paths = [planner.frame.to_local(route.path) for route in result.routes]
    return Trial(case, measure_unmapped(result), measures=strays(paths, planner.models))


def strays(paths: Sequence[FloatArray], models: PlanningModels) -> dict[str, float]:
    """Shares of a plan's way that lie outside the support, and that run against recorded motion."""
    hops = np.concatenate([np.stack([path[:-1], path[1:]]) for path in paths], axis=1)
    moves = hops[1] - hops[0]
    length = np.linalg.norm(moves, axis=-1)
    whole = max(float(length.sum()), 1e-9)
    middles = hops[0] + 0.5 * moves
    # The points of a way lie so near to each other that only a whole step has a direction.
    steps = models.step_length * moves / np.maximum(length, 1e-9)[:, None]
    return {
        "outside": float(length[models.density.margin(middles) < 0].sum()) / whole,
        "against": float(length[~models.density.follows(middles, steps)].sum()) / whole,
    }


_KINDS = {
    "pairs": plan_random,
    "multi": plan_random,
    "order": plan_order,
    "hamiltonian": _plan_stored,
    "stitch": walk_official,
    "places": _plan_places,
}


SUITE = Suite("parts", "what each part is worth", cases, run_part, seconds=3.0)
