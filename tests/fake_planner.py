"""A planner that cheats: it knows the map. Plans are shortest ways in the best order; nothing is learned."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from benchmarks.mazes import Maze, maze_of
from benchmarks.references import geodesic_matrix, geodesics
from chronoforest.errors import UnknownVariant
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.result import PlanResult
from chronoforest.presets.named import get_preset
from chronoforest.routing.solver import solve_exact
from chronoforest.types import (
    Certificate,
    JointRoute,
    Leg,
    Plan,
    Problem,
    RoundStats,
    Snapshot,
    Support,
    TreePicture,
)

CLEARANCE = 1.0
VARIANTS = (DEFAULT_VARIANT, "online", "paper", "roadmap-only", "temporal-fixed", "graph-fixed")


class StraightTracker:
    """Walks straight toward the subgoal at full speed, slower when it is nearer than one step."""

    def __call__(self, observation, subgoal):
        return subgoal / max(0.2, np.linalg.norm(subgoal))


class StraightDistance:
    """Euclidean: wrong wherever there is a wall, which is what mismatched orders need."""

    reach = 1e9

    def encode(self, points):
        return np.asarray(points, dtype=float)

    def pairwise(self, source, target):
        return np.linalg.norm(source[:, None] - target, axis=-1)


@dataclass
class FakePlanner:
    """Behaves as `chronoforest.planning.planner.Planner` does; remembers what it was asked."""

    name: str = "pointmaze-giant-stitch-v0"
    is_blind: bool = False
    asked: list = field(default_factory=list)

    def __post_init__(self):
        self.preset = get_preset(self.name)
        self.models = SimpleNamespace(distance=StraightDistance())
        self.tracker, self.execution = StraightTracker(), self.preset.execution

    def plan(
        self,
        problem,
        *,
        snap=False,
        depart=None,
        seed=0,
        seconds=None,
        stop=None,
        on_round=None,
        on_snapshot=None,
        variant=DEFAULT_VARIANT,
        order=None,
        memory=None,
    ) -> PlanResult:
        variant = getattr(variant, "name", variant)
        if variant not in VARIANTS:
            raise UnknownVariant(variant, choices=VARIANTS)
        self.asked.append((problem, seed, variant, order, memory))
        maze = maze_of(self.name)
        codes = self.models.distance.encode(problem.anchors)
        raw = self.models.distance.pairwise(codes, codes)
        matrix = raw if variant == "temporal-fixed" else geodesic_matrix(maze, problem.anchors, CLEARANCE)
        route = solve_exact(matrix, problem)
        stats = RoundStats(0, route, route.cost(matrix), route.legs, route.legs, 3, 9, 0.01)
        if on_round is not None:
            on_round(stats, problem)
        result = straight_result(maze, problem, route, self.name, seed, variant, stats, not self.is_blind)
        if on_snapshot is not None:
            on_snapshot(bare_snapshot(result, solve_exact(raw, problem)))
            on_snapshot(grown_snapshot(result))
        return result


def bare_snapshot(result: PlanResult, guess: JointRoute) -> Snapshot:
    """Before the first round: roots and a route guessed on the raw distance."""
    stats = replace(result.rounds[0], round_index=-1, route=guess, accepted=(), num_expanded=0)
    trees = tuple(TreePicture(tree.anchor, tree.segments[:0]) for tree in result.trees)
    return Snapshot(result.problem, stats, trees, np.zeros((0, 0)), {}, {})


def grown_snapshot(result: PlanResult) -> Snapshot:
    """After the only round: every leg is met at its source."""
    stats, anchors = result.rounds[0], result.problem.anchors
    paths = {leg: anchors[[leg.source, leg.target]] for leg in stats.accepted}
    meetings = {way: anchors[leg.source] for leg in paths for way in (leg, leg.reversed)}
    return Snapshot(result.problem, stats, result.trees, np.zeros((0, 0)), meetings, paths)


def straight_result(
    maze: Maze, problem: Problem, route: JointRoute, name, seed, variant, stats, is_complete
) -> PlanResult:
    routes = tuple(_plan(maze, problem, order, is_complete) for order in route.orders)
    legs = () if is_complete else route.legs
    return PlanResult(
        problem=problem,
        routes=routes,
        unmet=tuple((problem.names[leg.source], problem.names[leg.target]) for leg in legs),
        rounds=(stats,),
        num_expanded=3,
        seconds=0.01,
        seed=seed,
        variant=variant,
        preset=name,
        certificate=Certificate(0.0, 1.0, True),
        trees=(TreePicture("S1", routes[0].path[None]),),
        meetings=problem.starts,
        support=support_of(maze),
    )


def support_of(maze: Maze, cell: float = 0.5) -> Support:
    left, right, bottom, top = maze.extent
    xs, ys = np.arange(left, right, cell) + cell / 2, np.arange(bottom, top, cell) + cell / 2
    points = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1)
    mask = maze.is_free(points.reshape(-1, 2)).reshape(points.shape[:2])
    return Support(points[0, 0], cell, mask)


def dense(path, spacing=0.25):
    """Points [T, 2] along a polyline, every `spacing` units and at its vertices."""
    parts = [
        np.linspace(a, b, max(2, int(np.ceil(np.linalg.norm(b - a) / spacing)) + 1))[1:]
        for a, b in pairwise(np.asarray(path, dtype=float))
    ]
    return np.concatenate([np.asarray(path[:1], dtype=float), *parts])


def _plan(maze: Maze, problem: Problem, order, is_complete) -> Plan:
    names = [problem.names[anchor] for anchor in order]
    legs = tuple(Leg(a, b, is_complete, 1.0, 0.0, 0.0, (a, b), "verified") for a, b in pairwise(names))
    if not is_complete:
        return Plan(names, problem.anchors[list(order[:1])], legs, 0.0, (0,))
    ways = [dense(geodesics(maze, CLEARANCE).path(*problem.anchors[[a, b]])) for a, b in pairwise(order)]
    path = np.concatenate([ways[0], *(way[1:] for way in ways[1:])])
    stops = np.cumsum([0, len(ways[0]) - 1, *(len(way) - 1 for way in ways[1:])])
    return Plan(names, path, legs, 0.0, tuple(int(stop) for stop in stops))
