"""The closed loop: solve the route on the evidence, spend the round where it matters, search, repeat."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from chronoforest.assembly import AssemblyParams, bridge_path, joined, shorten
from chronoforest.errors import InvalidParameter, InvalidProblem, UnknownVariant
from chronoforest.models.sampler import SegmentSampler
from chronoforest.pictures import Support, TreePicture
from chronoforest.result import Certificate, PlanResult
from chronoforest.routing.acceptance import accept, is_complete, unmet
from chronoforest.routing.bridges import Bridges, Closure, closure, direct
from chronoforest.routing.budget import BudgetParams, ExhaustiveBudget, PairBudget, RouteBudget
from chronoforest.routing.certificates import certify, width
from chronoforest.routing.solver import AutoSolver, FixedOrder, SolverParams, order_from_names
from chronoforest.search.expand import Expansion, SearchModels, SearchParams, expand, revisit, root_leaves
from chronoforest.search.scoring import straight_ranking
from chronoforest.search.tree import Forest, Tree, plant
from chronoforest.types import (
    Calibration,
    Density,
    Distance,
    FloatArray,
    Leg,
    Meeting,
    Pair,
    Plan,
    Problem,
    RoundStats,
    RouteSolver,
    Sampler,
    StopCriterion,
    path_length,
)

RoundObserver = Callable[[RoundStats, Problem], None]


@dataclass(frozen=True)
class PlannerParams:
    """Everything about planning that is not learned; `is_reversible` says that any recorded motion could
    have been made backward, so that one tree serves both directions; an anchor may lie `anchor_tolerance`
    world units outside the data's support; `stride` is the steps between frames."""

    search: SearchParams = field(default_factory=SearchParams)
    budget: BudgetParams = field(default_factory=BudgetParams)
    solver: SolverParams = field(default_factory=SolverParams)
    assembly: AssemblyParams = field(default_factory=AssemblyParams)
    is_reversible: bool = True
    anchor_tolerance: float = 0.5
    stride: int = 5
    max_rounds: int = 60


class PlanningModels(Protocol):
    """The learned models a planner needs."""

    @property
    def sampler(self) -> Sampler:
        """Generates segments."""
        ...

    @property
    def distance(self) -> Distance:
        """Tells travel time."""
        ...

    @property
    def density(self) -> Density:
        """Tells where recordings went."""
        ...

    @property
    def calibration(self) -> Calibration:
        """Tells how far the distance may be trusted."""
        ...

    @property
    def support(self) -> Support:
        """The supported region, for pictures."""
        ...

    @property
    def step_length(self) -> float:
        """World units that hardly any recording exceeded in one step."""
        ...


class ForestMemory:
    """Trees remembered by the place of their anchor, so that re-planning grows only what moved."""

    def __init__(self) -> None:
        self._trees: dict[tuple[float, float, bool], Tree] = {}

    def recall(self, forest: Forest) -> Forest:
        """The forest with remembered trees in the place of bare ones."""
        known = {id(tree): self._recalled(tree) for tree in forest.trees}
        return Forest(
            {anchor: known[id(tree)] for anchor, tree in forest.outgoing.items()},
            {anchor: known[id(tree)] for anchor, tree in forest.incoming.items()},
        )

    def remember(self, forest: Forest) -> None:
        """Keep the trees of a finished search."""
        self._trees.update({_place(tree): tree for tree in forest.trees})

    def _recalled(self, tree: Tree) -> Tree:
        found = copy.copy(self._trees.get(_place(tree), tree))
        found.anchor = tree.anchor
        return found


def _place(tree: Tree) -> tuple[float, float, bool]:
    return float(tree.state[0, 0]), float(tree.state[0, 1]), tree.is_incoming


@dataclass(frozen=True)
class MaxRounds:
    """Stop after so many rounds."""

    count: int

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        return len(rounds) >= self.count


@dataclass(frozen=True)
class MaxExpansions:
    """Stop once so many leaves were promoted, or none in `patience` rounds: then the count may never come."""

    count: int
    patience: int = 20

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether they are spent."""
        spent = [stats.num_expanded for stats in rounds]
        is_stuck = len(spent) > self.patience and spent[-1] == spent[-1 - self.patience]
        return bool(spent) and (spent[-1] >= self.count or is_stuck)


@dataclass(frozen=True)
class MaxSeconds:
    """Stop once so much time went by."""

    seconds: float

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """Whether it is spent."""
        return bool(rounds) and rounds[-1].seconds >= self.seconds


@dataclass(frozen=True)
class Variant:
    """An ablation as a value: what it changes in the parameters, the sampler, the matrix and the budget."""

    adapt: Callable[[PlannerParams], PlannerParams] = lambda params: params
    guidance: dict[str, str] = field(default_factory=dict)
    hops: Callable[[FloatArray], Closure] = closure
    is_exhaustive: bool = False
    fixes_order: bool = False
    needs_order: bool = False


def _searching(**changes: object) -> Callable[[PlannerParams], PlannerParams]:
    return lambda params: replace(params, search=replace(params.search, **changes))  # type: ignore[arg-type]


def _single(params: PlannerParams) -> PlannerParams:
    junction = replace(params.search.junction, num_samples=1, scales=params.search.junction.scales[:1])
    return replace(params, search=replace(params.search, junction=junction))


VARIANTS: dict[str, Variant] = {
    "online": Variant(),
    "single": Variant(_single),
    "start-tree-only": Variant(_searching(grows_target=False)),
    "l2-root": Variant(_searching(ranking=straight_ranking)),
    "no-uncertainty": Variant(_searching(uncertainty_weight=0.0)),
    "temporal-fixed": Variant(fixes_order=True),
    "graph-fixed": Variant(needs_order=True),
    "exhaustive": Variant(is_exhaustive=True),
    "direct-matrix": Variant(hops=direct),
    "noisy-injection": Variant(guidance={"inject": "noisy"}),
    "sparse-guidance": Variant(guidance={"spread": "sparse"}),
}


class Planner:
    """Plans for one world from its learned models; the same seed gives the same plan."""

    def __init__(self, models: PlanningModels, params: PlannerParams, name: str = "custom") -> None:
        self.models = models
        self.params = params
        self.name = name

    def plan(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        stop: StopCriterion | None = None,
        on_round: RoundObserver | None = None,
        variant: str = "online",
        order: Sequence[Sequence[str]] | None = None,
        memory: ForestMemory | None = None,
    ) -> PlanResult:
        """Routes through all waypoints, complete when every leg is met before the budget ends.

        stop: ends planning early with the best partial plan; on_round: sees every round; order: names per
        agent, to plan for a given order; memory: reuses trees of earlier calls whose anchors did not move.
        """
        if variant not in VARIANTS:
            raise UnknownVariant(variant, choices=VARIANTS)
        if VARIANTS[variant].needs_order and order is None:
            raise InvalidParameter(f"variant {variant!r} needs `order`, for example [['S1', 'W1', 'G1']]")
        self._refuse_unsupported(problem)
        search = _Search(self, problem, VARIANTS[variant], order, memory, seed)
        search.run(stop or MaxRounds(self.params.max_rounds), on_round)
        return search.result(self.name, variant, seed)

    def _refuse_unsupported(self, problem: Problem) -> None:
        margin = self.models.density.margin(problem.anchors)
        for name, point, room in zip(problem.names, problem.anchors, margin, strict=True):
            if room <= -self.params.anchor_tolerance:
                raise InvalidProblem(
                    f"{name} at ({point[0]:g}, {point[1]:g}) lies outside the data's support; "
                    f"the nearest supported place is {_nearest(self.models.support, point)}"
                )


def _nearest(support: Support, point: FloatArray) -> str:
    places = support.origin + support.cell * np.argwhere(support.mask)
    x, y = places[np.argmin(np.linalg.norm(places - point, axis=1))]
    return f"({x:.1f}, {y:.1f})"


class _Search:
    """The state of one call of `plan`: forest, bridges, tentative route, accepted legs and the rounds."""

    def __init__(
        self,
        planner: Planner,
        problem: Problem,
        variant: Variant,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
    ) -> None:
        self.started = time.perf_counter()
        self.problem = problem
        self.params = variant.adapt(planner.params)
        self.hops = variant.hops
        self.is_exhaustive = variant.is_exhaustive
        self.memory = memory
        self.rng = np.random.default_rng(seed)
        self.source = planner.models
        self.models = _search_models(planner.models, variant, self.params)
        self.forest = plant(
            problem, self.models.sampler.horizon, self.models.distance, self.params.is_reversible
        )
        self.bridges = Bridges.from_roots(_root_costs(self.forest, problem, self.models))
        if memory is not None:
            self.forest = memory.recall(self.forest)
            found = revisit(self.forest, self.models, self.params.search)
            self.bridges = self.bridges.updated(found, self.params.is_reversible)
        self.solver = self._solver(variant, order)
        self.budget: PairBudget = (
            ExhaustiveBudget() if variant.is_exhaustive else RouteBudget(self.params.budget)
        )
        self.route = self.solver(self.hops(self.bridges.cost).cost, problem, None)
        self.accepted: frozenset[Pair] = frozenset()
        self.rounds: list[RoundStats] = []
        self.num_expanded = 0

    def _solver(self, variant: Variant, order: Sequence[Sequence[str]] | None) -> RouteSolver:
        solver = AutoSolver(self.params.solver)
        if order is not None:
            return FixedOrder(order_from_names(order, self.problem))
        if variant.fixes_order:
            return FixedOrder(solver(_raw_costs(self.forest, self.problem), self.problem, None))
        return solver

    def run(self, stop: StopCriterion, on_round: RoundObserver | None) -> None:
        """The paper's loop: route, budget, expansion, evidence, acceptance, until all is met."""
        waiting = root_leaves(self.forest, self.route.legs)
        while True:
            all_hop = self.hops(self.bridges.cost)
            self.route = self.solver(all_hop.cost, self.problem, self.route)
            self.accepted = accept(self.accepted, self.route, all_hop, self.bridges, self.problem)
            pairs = self._allocate(all_hop)
            if self._is_done(pairs) or stop(self.rounds):
                break
            found = expand(self.forest, pairs, waiting, self.models, self.params.search, self.rng)
            waiting = found.new_leaves
            self._update(found, pairs, all_hop, on_round)
        if self.memory is not None:
            self.memory.remember(self.forest)

    def _allocate(self, all_hop: Closure) -> tuple[Pair, ...]:
        links = all_hop.links_of(self.route.legs)
        met = all_hop.links_of(self.accepted)
        reversible = self.params.is_reversible
        pairs = self.budget(links, self.bridges, met, len(self.rounds), self.problem, reversible)
        return tuple(pair for pair in pairs if self.forest.has(pair))

    def _is_done(self, pairs: tuple[Pair, ...]) -> bool:
        """Complete; the exhaustive variant also wants every pair met."""
        return is_complete(self.route, self.accepted) and not (self.is_exhaustive and pairs)

    def _update(
        self, found: Expansion, pairs: tuple[Pair, ...], all_hop: Closure, on_round: RoundObserver | None
    ) -> None:
        self.bridges = self.bridges.updated(found.evidence, self.params.is_reversible)
        self.num_expanded += found.num_expanded
        stats = RoundStats(
            round_index=len(self.rounds),
            route=self.route,
            route_cost=self.route.cost(all_hop.cost),
            pairs=pairs,
            accepted=tuple(sorted(self._met_legs())),
            num_expanded=self.num_expanded,
            num_nodes=self.forest.num_nodes,
            seconds=time.perf_counter() - self.started,
        )
        self.rounds.append(stats)
        if on_round is not None:
            on_round(stats, self.problem)

    def _met_legs(self) -> Iterable[Pair]:
        met = self.hops(self.bridges.met_cost)
        return (leg for leg in self.route.legs if np.isfinite(met.cost[leg.source, leg.target]))

    def result(self, preset: str, variant: str, seed: int) -> PlanResult:
        """Assemble the routes from the accepted bridges."""
        met = self.hops(self.bridges.met_cost)
        routes = tuple(self._plan(order, met) for order in self.route.orders)
        names = self.problem.names
        certificate = certify(
            self.route,
            self.bridges,
            self.problem,
            self.models.calibration,
            self.params.budget.certified_gap,
        )
        return PlanResult(
            problem=self.problem,
            routes=routes,
            unmet=tuple((names[leg.source], names[leg.target]) for leg in unmet(self.route, self.accepted)),
            rounds=tuple(self.rounds),
            num_expanded=self.num_expanded,
            seconds=time.perf_counter() - self.started,
            seed=seed,
            variant=variant,
            preset=preset,
            certificate=Certificate(
                certificate.bound, certificate.margin, certificate.premises_hold, certificate.is_exact
            ),
            trees=tuple(TreePicture(names[tree.anchor], tree.segments()) for tree in self.forest.trees),
            meetings=np.array([self._meeting_place(m) for m in self._used_meetings(met)]).reshape(-1, 2),
            support=self.source.support,
        )

    def _plan(self, order: tuple[int, ...], met: Closure) -> Plan:
        """One agent's legs, up to the first one that is not met."""
        legs = [Pair(a, b) for a, b in pairwise(order)]
        raw: list[FloatArray] = []
        for leg in legs:
            if leg not in self.accepted:
                raw.append(self._best_effort(leg))
                break
            raw.append(
                np.concatenate([bridge_path(self.forest, self.bridges.meetings[x]) for x in met.links(leg)])
            )
        parts = [
            shorten(part, self.models.density, self.models.distance, self.params.assembly) for part in raw
        ]
        path, stops = joined(parts)
        return Plan(
            order=[self.problem.names[anchor] for anchor in order],
            path=path,
            legs=tuple(self._leg(leg, met) for leg in legs),
            raw_length=sum(path_length(part) for part in raw),
            stops=stops,
        )

    def _best_effort(self, leg: Pair) -> FloatArray:
        """The way to the outgoing tree's node that looks nearest to the leg's target."""
        source, target = self.forest.sides(leg)
        left = source.outward_pairwise(source.codes, target.codes).min(axis=1)
        node = int(np.argmin(source.cost + self.models.calibration.inflate(left)))
        return source.frame_state[source.prefix_frames(node)]

    def _leg(self, leg: Pair, met: Closure) -> Leg:
        names = self.problem.names
        is_met = leg in self.accepted
        chain = met.chain(leg) if is_met else (leg.source, leg.target)
        gaps = [self.bridges.smallest_gap(Pair(a, b)) for a, b in pairwise(chain)]
        cost = met.cost[leg.source, leg.target] if is_met else self.bridges.cost[leg.source, leg.target]
        return Leg(
            source=names[leg.source],
            target=names[leg.target],
            is_met=is_met,
            cost=float(cost),
            gap=max(gaps),
            width=sum(width(gap, self.models.calibration) for gap in gaps),
            chain=tuple(names[anchor] for anchor in chain),
        )

    def _used_meetings(self, met: Closure) -> list[Meeting]:
        links = met.links_of(self.accepted)
        return [self.bridges.meetings[link] for link in links if link in self.bridges.meetings]

    def _meeting_place(self, meeting: Meeting) -> FloatArray:
        place: FloatArray = self.forest.sides(meeting.pair)[0].frame_state[meeting.source_frame]
        return place


def _search_models(models: PlanningModels, variant: Variant, params: PlannerParams) -> SearchModels:
    sampler = models.sampler
    if variant.guidance and isinstance(sampler, SegmentSampler):
        sampler = sampler.guided_by(**variant.guidance)
    return SearchModels(
        sampler=sampler,
        distance=models.distance,
        density=models.density,
        calibration=models.calibration,
        largest_hop=models.step_length * params.stride,
        step_length=models.step_length,
    )


def _root_costs(forest: Forest, problem: Problem, models: SearchModels) -> FloatArray:
    """C_0: h(d) between roots; infinite where no bridge can exist."""
    return models.calibration.inflate(_raw_costs(forest, problem))


def _raw_costs(forest: Forest, problem: Problem) -> FloatArray:
    """[A, A] raw d between anchors."""
    cost = np.full((problem.num_anchors, problem.num_anchors), np.inf)
    for source, tree in forest.outgoing.items():
        for target, other in forest.incoming.items():
            cost[source, target] = tree.distance.between(tree.codes[:1], other.codes[:1])[0]
    return cost
