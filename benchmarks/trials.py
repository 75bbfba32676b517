"""What came of a case: figures of the plan, against the map, and of the walk, and where they come from."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.ablations import named
from benchmarks.case import Case
from benchmarks.mazes import Maze
from benchmarks.problems import TIE
from benchmarks.references import bfs_matrix, geodesic_matrix
from chronoforest.envs.tasks import Env, make_env
from chronoforest.execution.journey import Journey, walk_task
from chronoforest.execution.rollout import MAX_STEPS, Rollout
from chronoforest.execution.route import Cause
from chronoforest.models.train import pick_device
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.result import PlanResult
from chronoforest.presets.loading import PresetPlanner
from chronoforest.presets.named import get_preset
from chronoforest.routing.solver import AutoSolver, best_two_costs, order_from_names
from chronoforest.typed import from_plain
from chronoforest.types import Problem

Figures = TypeVar("Figures")


@dataclass(frozen=True)
class PlanFigures:
    """A plan against the map; lengths in world units over all agents, those of the map 0 where there is none.

    bfs, geodesic: the least lengths in any order, over cells and at any angle with clearance 1.0;
    order_length: the geodesic length of the order chosen; runner_up: of the second-best order, None when
    there is only one; clearance: least distance to a wall; order: anchor names per agent; first_seconds:
    until all legs of a route were there for the first time, None if they never were; num_nodes: in the trees
    at the end, or pieces realised of a way over the roadmap; of plans measured before these two were, None;
    evidence: of every leg, empty in records that do not tell.
    """

    is_complete: bool
    crosses_wall: bool
    length: float
    raw_length: float
    bfs: float
    geodesic: float
    order_length: float
    runner_up: float | None
    clearance: float
    num_expanded: int
    num_rounds: int
    seconds: float
    order: tuple[tuple[str, ...], ...]
    first_seconds: float | None = None
    num_nodes: int | None = None
    evidence: tuple[str, ...] = ()

    def has_best_order(self, slack: float = 0.0) -> bool:
        """Whether the order is at most that share longer than the best one under the geodesic."""
        return self.order_length <= (1.0 + slack) * self.geodesic + TIE


@dataclass(frozen=True)
class WalkFigures:
    """A walk in short; units: how far it came along a fixed path, None where there is none."""

    cause: Cause
    steps: int
    num_replans: int
    seconds: float
    num_falls: int = 0
    units: float | None = None

    def success_within(self, cap: int) -> bool:
        """Whether the environment reported success in at most that many steps."""
        return self.cause == "none" and self.steps <= cap


@dataclass(frozen=True)
class Origin:
    """What made a trial: the version of the package, the device, and fingerprints of the weights and of the
    preset's values; "" where an older record does not tell."""

    version: str = ""
    device: str = ""
    weights: str = ""
    preset: str = ""

    @classmethod
    def of(cls, choice: PlannerChoice) -> Origin:
        """Here and now; files that the choice does without are left out."""
        device = str(pick_device(choice.device))
        return cls(version("chronoforest"), device, *cls._models(choice))

    def fits(self, choice: PlannerChoice) -> bool:
        """Whether a choice has the weights and the preset's values of this trial, where both are known."""
        made, now = (self.weights, self.preset), self._models(choice)
        return all(one == other or not (one and other) for one, other in zip(made, now, strict=True))

    @staticmethod
    def _models(choice: PlannerChoice) -> tuple[str, str]:
        """Fingerprints of the weights that are there and of the preset's values."""
        there = [path for path in choice.weight_files if path.is_file()]
        preset = get_preset(choice.preset)
        read = (preset.sampler, preset.planner, preset.execution, preset.world, preset.frame)
        # A function among the values is shown with its address, which differs from process to process.
        values = re.sub(r" at 0x[0-9a-f]+", "", repr(read))
        return fingerprint(*there), sha256(values.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Trial:
    """What came of a case; `refusal` is the planner's sentence when it would not even try; `figures`: what
    else a suite measured, a dataclass of its `figures`; `origin`: what made it."""

    case: Case
    plan: PlanFigures | None
    walk: WalkFigures | None = None
    refusal: str = ""
    figures: object = None
    origin: Origin = Origin()

    def to_json(self) -> str:
        """One line."""
        return json.dumps(_plain({**asdict(self), "case": self.case.to_dict()}))

    @classmethod
    def from_json(cls, line: str, kinds: Sequence[type] = ()) -> Trial:
        """The inverse of `to_json`, with the figures that are of one of these kinds."""
        values = json.loads(line)
        plan, walk, found = values["plan"], values["walk"], values["figures"]
        return cls(
            case=Case.from_dict(values["case"]),
            plan=None if plan is None else from_plain(PlanFigures, plan),
            walk=None if walk is None else from_plain(WalkFigures, walk),
            refusal=values["refusal"],
            figures=_figures(found, kinds) if found and kinds else None,
            origin=Origin(**values["origin"]),
        )


def figures_of(trials: Iterable[Trial], kind: type[Figures]) -> list[Figures]:
    """The figures of that kind, of the trials that have them."""
    return [trial.figures for trial in trials if isinstance(trial.figures, kind)]


def _figures(values: Mapping[str, Any], kinds: Sequence[type]) -> object:
    """A dataclass that has all of these fields, or the only one there is."""
    for kind in kinds:
        if len(kinds) == 1 or values.keys() <= {field.name for field in fields(kind)}:
            return from_plain(kind, values)
    raise ValueError(f"none of {[kind.__name__ for kind in kinds]} has the figures {sorted(values)}")


def _plain(value: Any) -> Any:
    """A value as JSON has it: null for what is infinite."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def fingerprint(*paths: Path) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of files, one after another; "" of none."""
    digest = sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16] if paths else ""


def plan_problem(case: Case, planner: PresetPlanner, problem: Problem, **watchers: Any) -> PlanResult:
    """Plan as the case says, with what `plan` calls back; the order of `graph-fixed` is solved on the map."""
    order, variant = None, named(case.variant)
    if variant.needs_order:
        order = AutoSolver()(bfs_matrix(case.maze, problem.anchors), problem, None).named(problem)
    return planner.plan(problem, seed=case.seeds[1], variant=variant, order=order, **watchers)


def measure_plan(result: PlanResult, maze: Maze) -> PlanFigures:
    """Everything that the map tells about a plan."""
    problem, paths = result.problem, [route.path for route in result.routes if len(route.path)]
    true, grid = geodesic_matrix(maze, problem.anchors), bfs_matrix(maze, problem.anchors)
    names = [route.order for route in result.routes]
    _, second = best_two_costs(true, problem)
    return replace(
        measure_unmapped(result),
        crosses_wall=any(maze.crosses_wall(path) for path in paths),
        bfs=AutoSolver()(grid, problem, None).cost(grid),
        geodesic=AutoSolver()(true, problem, None).cost(true),
        order_length=order_from_names(names, problem).cost(true),
        runner_up=second if np.isfinite(second) else None,
        clearance=min((maze.path_clearance(path) for path in paths), default=0.0),
    )


def measure_unmapped(result: PlanResult) -> PlanFigures:
    """What a plan tells of itself, in a world without a map."""
    num_legs = result.problem.num_waypoints + result.problem.num_agents
    rounds = (one for one in result.rounds[:-1] if len(one.route.legs) == num_legs)
    firsts = (one.seconds for one in rounds if {*one.route.legs} <= {*one.accepted})
    return PlanFigures(
        is_complete=result.complete,
        crosses_wall=False,
        length=result.length,
        raw_length=result.raw_length,
        num_expanded=result.num_expanded,
        num_rounds=result.num_rounds,
        seconds=result.seconds,
        order=tuple(tuple(route.order) for route in result.routes),
        # If no round followed, only the finished plan was there to use, shortened and put together.
        first_seconds=next(firsts, result.seconds) if result.complete else None,
        num_nodes=result.rounds[-1].num_nodes if result.rounds else None,
        evidence=tuple(leg.evidence for route in result.routes for leg in route.legs),
        **dict.fromkeys(("bfs", "geodesic", "order_length", "clearance"), 0.0),
        runner_up=None,
    )


def measure_walk(rollout: Rollout, units: float | None = None) -> WalkFigures:
    """The figures of a record."""
    return WalkFigures(
        rollout.cause, rollout.steps, rollout.num_replans, rollout.seconds, rollout.num_falls, units
    )


def walk_case(case: Case, planner: PresetPlanner) -> Journey:
    """The official protocol; one walk with the longer cap tells about both."""
    reset_seed, plan_seed = case.seeds
    variant, env = named(case.variant), official_env(case.preset, MAX_STEPS)
    seeds = {"seed": reset_seed, "plan_seed": plan_seed}
    order = [["S1", "G1"]] if variant.needs_order else None
    return walk_task(planner, env, case.task, **seeds, variant=variant, order=order, replans=case.replans)


@cache
def official_env(preset: str, max_steps: int) -> Env:
    """One environment per process and cap."""
    return make_env(preset, max_episode_steps=max_steps)
