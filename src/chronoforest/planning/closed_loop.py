"""The closed loop: solve the route on the evidence, spend the round where it matters, search, repeat."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from chronoforest.models.sampler import SegmentSampler
from chronoforest.planning.assembly import Bridge, Walkways, joined, resample
from chronoforest.planning.result import Certificate, PlanResult
from chronoforest.planning.variants import PlannerParams, Variant
from chronoforest.routing.acceptance import accept, is_complete, unmet
from chronoforest.routing.bridges import Bridges, Closure
from chronoforest.routing.budget import ExhaustiveBudget, PairBudget, RouteBudget
from chronoforest.routing.certificates import certify, width
from chronoforest.routing.solver import AutoSolver, FixedOrder, order_from_names
from chronoforest.search.expand import Expansion, SearchModels, expand, revisit, root_leaves
from chronoforest.search.landmarks import LandmarkDistance, scatter
from chronoforest.search.tree import Forest, Tree, plant
from chronoforest.types import (
    BoolArray,
    Calibration,
    Density,
    Distance,
    Evidence,
    FloatArray,
    Leg,
    Pair,
    Plan,
    Problem,
    RoundStats,
    RouteSolver,
    Sampler,
    Snapshot,
    StopCriterion,
    Support,
    TreePicture,
    path_length,
)

RoundObserver = Callable[[RoundStats, Problem], None]
SnapshotObserver = Callable[[Snapshot], None]


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


class ClosedLoop:
    """The state of one call of `plan`: forest, bridges, tentative route, accepted legs and the rounds."""

    def __init__(
        self,
        models: PlanningModels,
        params: PlannerParams,
        problem: Problem,
        variant: Variant,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
    ) -> None:
        self.started = time.perf_counter()
        self.problem = problem
        self.params = variant.adapt(params)
        self.hops = variant.hops
        self.is_exhaustive = variant.is_exhaustive
        self.memory = memory or ForestMemory()
        self.rng = np.random.default_rng(seed)
        self.support = models.support
        self.models = _search_models(models, variant, self.params)
        reversible = self.params.is_reversible
        bare = plant(problem, self.models.sampler.horizon, self.models.distance, reversible)
        self.guess = _apart(self.models.distance, bare, problem)
        self.solver = self._choose_solver(variant, order, _apart(models.distance, bare, problem))
        self.budget: PairBudget = (
            ExhaustiveBudget() if variant.is_exhaustive else RouteBudget(self.params.budget)
        )
        self.walkways = Walkways(models.density, models.distance, self.params.assembly, reversible)
        self.bridges = Bridges.from_roots(_inflated(self.guess, self.models.calibration))
        self.forest = self.memory.recall(bare)
        self._learn(revisit(self.forest, self.models, self.params.search))
        self.route = self.solver(self.hops(self.bridges.cost).cost, problem, None)
        self.accepted: frozenset[Pair] = frozenset()
        self.num_tries = np.zeros(self.guess.shape, dtype=np.int64)
        self.rounds: list[RoundStats] = []
        self.num_expanded = 0

    def _choose_solver(
        self, variant: Variant, order: Sequence[Sequence[str]] | None, learned: FloatArray
    ) -> RouteSolver:
        """learned: [A, A] raw d between anchors, for an order that is fixed on it."""
        solver = AutoSolver(self.params.solver)
        if order is not None:
            return FixedOrder(order_from_names(order, self.problem))
        if variant.fixes_order:
            return FixedOrder(solver(learned, self.problem, None))
        return solver

    def run(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        """The paper's loop: route, acceptance, budget, expansion, evidence, until nothing is left to ask."""
        waiting = root_leaves(self.forest, self.route.legs)
        if on_snapshot is not None:
            on_snapshot(self.snapshot())
        while True:
            all_hop = self.hops(self.bridges.cost)
            self.route = self.solver(all_hop.cost, self.problem, self.route)
            self.accepted = accept(self.accepted, self.route, all_hop, self.bridges, self.problem)
            pairs = self._allocate(all_hop)
            if not pairs or stop(self.rounds):
                break
            found = expand(self.forest, pairs, waiting, self.models, self.params.search, self.rng)
            waiting = found.new_leaves
            self._learn(found.evidence)
            self._record(found, pairs, all_hop)
            if on_round is not None:
                on_round(self.rounds[-1], self.problem)
            if on_snapshot is not None:
                on_snapshot(self.snapshot())
        self._take_best_complete()
        self.memory.remember(self.forest)

    def _allocate(self, all_hop: Closure) -> tuple[Pair, ...]:
        """The pairs to pay for in this round; none when the route is complete and unchallenged."""
        if is_complete(self.route, self.accepted) and not self.is_exhaustive:
            pairs = self._challengers()
        else:
            links, met = all_hop.links_of(self.route.legs), all_hop.links_of(self.accepted)
            reversible = self.params.is_reversible
            pairs = self.budget(links, self.bridges, met, len(self.rounds), self.problem, reversible)
        return tuple(pair for pair in pairs if self.forest.has(pair))

    def _challengers(self) -> tuple[Pair, ...]:
        """Links that can still change the answer.

        First those of the route itself: a met link whose bridge looks like a detour, and a direct link in the
        place of a chain that looks longer. Then the open links of the order that would be best, its own or
        another, if open links cost what one may hope. A link is open while it is not met, or met by what
        looks like a detour, and has not been tried too often.
        """
        met = self.bridges.met_cost
        known = self.hops(met)
        is_met = np.isfinite(met)
        is_detour = is_met & (met > self.params.doubt * self.guess)
        is_roundabout = ~is_met & (known.cost > self.params.chain_doubt * self.guess)
        is_doubtful = (is_detour | is_roundabout) & (self.num_tries < self.params.max_doubts)
        plain = self.hops(np.where(is_doubtful, self.guess, met))
        doubtful = self._challenge(plain.links_of(self.route.legs), is_doubtful)
        if doubtful:
            return doubtful
        is_open = (~is_met | is_detour) & (self.num_tries < self.params.max_challenges)
        hope = np.where(is_met, 1.0, self.params.optimism) * self.guess
        hoped = self.hops(np.where(is_open, hope, met))
        rival = self.solver(hoped.cost, self.problem, self.route)
        return self._challenge(hoped.links_of(rival.legs), is_open)

    def _challenge(self, links: Iterable[Pair], is_open: BoolArray) -> tuple[Pair, ...]:
        """The open ones among some links; that they are tried is remembered."""
        chosen = tuple(link for link in links if is_open[link.source, link.target])
        for leg in (leg for link in chosen for leg in self._directions(link)):
            self.num_tries[leg.source, leg.target] += 1
        return chosen

    def _learn(self, evidence: Evidence) -> None:
        """Take in what a round found; a meeting costs what its walkable bridge takes."""
        realised = (self.walkways.realise(self.forest, meeting) for meeting in evidence.meetings)
        kept = tuple(meeting for meeting in realised if meeting is not None)
        self.bridges = self.bridges.updated(Evidence(evidence.witnesses, kept), self.params.is_reversible)

    def _directions(self, pair: Pair) -> tuple[Pair, ...]:
        return (pair, pair.reversed) if self.params.is_reversible else (pair,)

    def _record(self, found: Expansion, pairs: tuple[Pair, ...], all_hop: Closure) -> None:
        self.num_expanded += found.num_expanded
        met = self.hops(self.bridges.met_cost).cost
        self.rounds.append(
            RoundStats(
                round_index=len(self.rounds),
                route=self.route,
                route_cost=self.route.cost(all_hop.cost),
                pairs=pairs,
                accepted=tuple(leg for leg in self.route.legs if np.isfinite(met[leg.source, leg.target])),
                num_expanded=self.num_expanded,
                num_nodes=self.forest.num_nodes,
                seconds=time.perf_counter() - self.started,
            )
        )

    def _take_best_complete(self) -> None:
        """Of all orders whose legs are met, the quickest; the tentative route if there is none."""
        met = self.hops(self.bridges.met_cost).cost
        best = self.solver(met, self.problem, self.route)
        if np.isfinite(best.cost(met)):
            self.route, self.accepted = best, frozenset(best.legs)

    def snapshot(self) -> Snapshot:
        """What the search looks like after the last round, or before the first one, whose index is −1."""
        met = self.hops(self.bridges.met_cost)
        stats = self.rounds[-1] if self.rounds else self._nothing_yet()
        return Snapshot(
            problem=self.problem,
            stats=stats,
            trees=self._tree_pictures(),
            bridge_cost=self.bridges.cost,
            meetings={link: self._meeting_place(link) for link in self.bridges.meetings},
            paths={leg: _path_along(self._walkable(leg, met)) for leg in stats.accepted},
        )

    def _nothing_yet(self) -> RoundStats:
        cost = self.route.cost(self.hops(self.bridges.cost).cost)
        seconds = time.perf_counter() - self.started
        return RoundStats(-1, self.route, cost, (), (), 0, self.forest.num_nodes, seconds)

    def result(self, preset: str, variant: str, seed: int) -> PlanResult:
        """Assemble the routes from the accepted bridges."""
        met = self.hops(self.bridges.met_cost)
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
            routes=tuple(self._plan(order, met) for order in self.route.orders),
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
            trees=self._tree_pictures(),
            meetings=self._meeting_places(met),
            support=self.support,
        )

    def _plan(self, order: tuple[int, ...], met: Closure) -> Plan:
        """One agent's legs, up to the first one that is not met."""
        legs = [Pair(a, b) for a, b in pairwise(order)]
        parts: list[FloatArray] = []
        raw_length = 0.0
        for leg in legs:
            if leg not in self.accepted:
                parts.append(self._best_effort(leg))
                raw_length += path_length(parts[-1])
                break
            bridges = self._walkable(leg, met)
            parts.append(_path_along(bridges))
            raw_length += sum(bridge.raw_length for bridge in bridges)
        path, stops = joined(parts)
        return Plan(
            order=[self.problem.names[anchor] for anchor in order],
            path=path,
            legs=tuple(self._leg(leg, met) for leg in legs),
            raw_length=raw_length,
            stops=stops,
        )

    def _walkable(self, leg: Pair, met: Closure) -> list[Bridge]:
        """The bridges that a met leg runs over."""
        return [self.walkways.bridges[link] for link in met.links(leg)]

    def _best_effort(self, leg: Pair) -> FloatArray:
        """The way to the outgoing tree's node that looks nearest to the leg's target."""
        source, target = self.forest.sides(leg)
        left = source.outward_pairwise(source.codes, target.codes).min(axis=1)
        node = int(np.argmin(source.cost + self.models.calibration.inflate(left)))
        return resample(source.frame_state[source.prefix_frames(node)], self.params.assembly.spacing)

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

    def _meeting_places(self, met: Closure) -> FloatArray:
        """[n, 2] where the bridges in use were found."""
        links = [link for link in met.links_of(sorted(self.accepted)) if link in self.bridges.meetings]
        return np.array([self._meeting_place(link) for link in links]).reshape(-1, 2)

    def _meeting_place(self, link: Pair) -> FloatArray:
        place: FloatArray = self.forest.sides(link)[0].frame_state[self.bridges.meetings[link].source_frame]
        return place

    def _tree_pictures(self) -> tuple[TreePicture, ...]:
        names = self.problem.names
        return tuple(TreePicture(names[tree.anchor], tree.segments()) for tree in self.forest.trees)


def _path_along(bridges: Sequence[Bridge]) -> FloatArray:
    return joined([bridge.path for bridge in bridges])[0]


def _search_models(models: PlanningModels, variant: Variant, params: PlannerParams) -> SearchModels:
    sampler = models.sampler
    if variant.guidance and isinstance(sampler, SegmentSampler):
        sampler = sampler.guided_by(**variant.guidance)
    return SearchModels(
        sampler=sampler,
        distance=_far_sighted(models, params.landmark_spacing),
        density=models.density,
        calibration=models.calibration,
        largest_hop=models.step_length * params.stride,
        step_length=models.step_length,
    )


def _far_sighted(models: PlanningModels, landmark_spacing: float) -> Distance:
    """The learned distance, over landmarks beyond the window in which its calibration trusts it."""
    if landmark_spacing == 0:
        return models.distance
    trusted = models.calibration.local_window
    places = scatter(models.support, landmark_spacing * trusted * models.step_length)
    return LandmarkDistance(models.distance, places, trusted)


def _inflated(raw: FloatArray, calibration: Calibration) -> FloatArray:
    """C_0 = h(d) between roots; what cannot be linked stays infinite."""
    is_linked = np.isfinite(raw)
    return np.where(is_linked, calibration.inflate(np.where(is_linked, raw, 0.0)), np.inf)


def _apart(distance: Distance, forest: Forest, problem: Problem) -> FloatArray:
    """[A, A] steps between anchors, infinite where no tree leaves the one or arrives at the other."""
    codes = distance.encode(problem.anchors)
    sources, targets = sorted(forest.outgoing), sorted(forest.incoming)
    cost = np.full((problem.num_anchors, problem.num_anchors), np.inf)
    cost[np.ix_(sources, targets)] = distance.pairwise(codes[sources], codes[targets])
    return cost
