"""The closed loop: solve the route on the evidence, spend the round where it matters, search, repeat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from chronoforest.patience import OutOfTime
from chronoforest.planning.assembly import Bridge, Walkways, best_effort, make_plan
from chronoforest.planning.limits import within
from chronoforest.planning.plan_search import PlanSearch
from chronoforest.planning.preparation import Prepared, steps_apart
from chronoforest.planning.result import PlanResult
from chronoforest.routing.acceptance import accept, is_complete, unmet
from chronoforest.routing.bridges import Bridges, Closure
from chronoforest.routing.budget import RoundState, allocate, every_unmet
from chronoforest.routing.certificates import certify, width
from chronoforest.routing.challenge import challengers, with_tries
from chronoforest.search.expand import Expansion, expand, revisit, root_leaves
from chronoforest.search.memory import ForestMemory
from chronoforest.types import (
    Calibration,
    Evidence,
    FloatArray,
    Leg,
    Pair,
    Problem,
    RoundObserver,
    RoundStats,
    Snapshot,
    SnapshotObserver,
    StopCriterion,
    TreePicture,
)


class ClosedLoop(PlanSearch):
    """The state of one call of `plan`: forest, bridges, tentative route, accepted legs and the rounds."""

    def __init__(
        self,
        prepared: Prepared,
        problem: Problem,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
    ) -> None:
        super().__init__(problem, seed)
        self.params, self.models, self.support = prepared.params, prepared.models, prepared.support
        self.chained = prepared.variant.chained
        self.is_exhaustive = prepared.variant.is_exhaustive
        self.memory = memory or ForestMemory()
        bare = prepared.bare_forest(problem)
        self.guess = steps_apart(self.models.distance, bare, problem)
        self.stretch = prepared.stretch
        self.solver = prepared.choose_solver(problem, bare, order)
        self.walkways = Walkways(
            self.models.density,
            prepared.learned,
            self.params.assembly,
            self.params.is_reversible,
            prepared.clock,
            self.params.shortened,
        )
        self.bridges = Bridges.from_roots(_inflated(self.guess, self.models.calibration))
        self.forest = self.memory.recall(bare)
        self._learn(revisit(self.forest, self.models, self.params.search))
        self.route = self.solver(self.chained(self.bridges.cost).cost, problem, None)
        self.accepted: frozenset[Pair] = frozenset()
        self.num_tries = np.zeros(self.guess.shape, dtype=np.int64)
        self.num_expanded = 0

    def run(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        """The paper's loop: route, acceptance, budget, expansion, evidence, until nothing is left to ask."""
        waiting = root_leaves(self.forest, self.route.legs)
        if on_snapshot is not None:
            on_snapshot(self.snapshot())
        while True:
            all_hop = self.chained(self.bridges.cost)
            self.route = self.solver(all_hop.cost, self.problem, self.route)
            self.accepted = accept(self.accepted, self.route, all_hop, self.bridges, self.problem)
            pairs = self._allocate(all_hop)
            if not pairs or stop(self.rounds):
                break
            try:
                with within(stop, self.started):
                    found = expand(self.forest, pairs, waiting, self.models, self.params.search, self.rng)
            except OutOfTime:  # before anything was taken into the trees
                break
            waiting = found.new_leaves
            self._learn(found.evidence)
            self._record(found, pairs, all_hop)
            self._tell(on_round, on_snapshot)
        self._take_best_complete()
        self.memory.remember(self.forest)

    def _allocate(self, all_hop: Closure) -> tuple[Pair, ...]:
        """The pairs to pay for in this round; none when the route is complete and unchallenged."""
        if is_complete(self.route, self.accepted) and not self.is_exhaustive:
            pairs = self._challenged()
        else:
            state = RoundState(
                self.problem,
                self.bridges,
                self.params.is_reversible,
                route_links=all_hop.links_of(self.route.legs),
                accepted_links=all_hop.links_of(self.accepted),
                round_index=len(self.rounds),
            )
            pairs = every_unmet(state) if self.is_exhaustive else allocate(state, self.params.budget)
        return tuple(pair for pair in pairs if self.forest.has(pair))

    def _challenged(self) -> tuple[Pair, ...]:
        """Links that can still change the answer; that they are tried is remembered."""
        links = challengers(
            self.route,
            self.bridges.met_cost,
            self.stretch * self.guess,
            self.num_tries,
            self.chained,
            lambda cost: self.solver(cost, self.problem, self.route),
            self.params.challenge,
        )
        self.num_tries = with_tries(self.num_tries, links, self.params.is_reversible)
        return links

    def _learn(self, evidence: Evidence) -> None:
        """Take in what a round found; a meeting costs what its walkable bridge takes."""
        kept = self.walkways.realise(self.forest, evidence.meetings)
        self.bridges = self.bridges.updated(Evidence(evidence.witnesses, kept), self.params.is_reversible)

    def _record(self, found: Expansion, pairs: tuple[Pair, ...], all_hop: Closure) -> None:
        self.num_expanded += found.num_expanded
        met = self._met().cost
        accepted = tuple(leg for leg in self.route.legs if np.isfinite(met[leg.source, leg.target]))
        self.rounds.append(self._stats(len(self.rounds), all_hop, pairs, accepted))

    def _stats(
        self, index: int, all_hop: Closure, pairs: tuple[Pair, ...] = (), accepted: tuple[Pair, ...] = ()
    ) -> RoundStats:
        return RoundStats(
            round_index=index,
            route=self.route,
            route_cost=self.route.cost(all_hop.cost),
            pairs=pairs,
            accepted=accepted,
            num_expanded=self.num_expanded,
            num_nodes=self.forest.num_nodes,
            seconds=self.seconds,
        )

    def _met(self) -> Closure:
        """Chains over meetings alone."""
        return self.chained(self.bridges.met_cost)

    def _take_best_complete(self) -> None:
        """Of all orders whose legs are met, the quickest; the tentative route if there is none."""
        met = self._met().cost
        best = self.solver(met, self.problem, self.route)
        if np.isfinite(best.cost(met)):
            self.route, self.accepted = best, frozenset(best.legs)

    def snapshot(self) -> Snapshot:
        """What the search looks like after the last round, or before the first one, whose index is −1."""
        met = self._met()
        stats = self.rounds[-1] if self.rounds else self._stats(-1, self.chained(self.bridges.cost))
        return Snapshot(
            problem=self.problem,
            stats=stats,
            trees=self._tree_pictures(),
            bridge_cost=self.bridges.cost,
            meetings={link: self._meeting_place(link) for link in self.bridges.meetings},
            paths={leg: self.walkways.along(met.links(leg)).path for leg in stats.accepted},
        )

    def result(self, preset: str, variant: str) -> PlanResult:
        """Assemble the routes from the accepted bridges."""
        met = self._met()
        return PlanResult(
            problem=self.problem,
            routes=tuple(
                make_plan(order, self.problem, partial(self._leg, met=met), partial(self._way, met=met))
                for order in self.route.orders
            ),
            unmet=tuple(leg.named(self.problem) for leg in unmet(self.route, self.accepted)),
            rounds=tuple(self.rounds),
            num_expanded=self.num_expanded,
            seconds=self.seconds,
            seed=self.seed,
            variant=variant,
            preset=preset,
            certificate=certify(
                self.route,
                self.bridges,
                self.problem,
                self.models.calibration,
                self.params.budget.certified_gap,
            ),
            trees=self._tree_pictures(),
            meetings=self._meetings_in_use(met),
            support=self.support,
        )

    def _way(self, leg: Pair, met: Closure) -> Bridge:
        """The bridges that a met leg runs over, or how far the search came."""
        if leg in self.accepted:
            return self.walkways.along(met.links(leg))
        return best_effort(self.forest, leg, self.models.calibration, self.params.assembly.spacing)

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

    def _meetings_in_use(self, met: Closure) -> FloatArray:
        """[n, 2] where the bridges in use were found."""
        links = [link for link in met.links_of(sorted(self.accepted)) if link in self.bridges.meetings]
        return np.array([self._meeting_place(link) for link in links]).reshape(-1, 2)

    def _meeting_place(self, link: Pair) -> FloatArray:
        place: FloatArray = self.forest.sides(link)[0].frame_state[self.bridges.meetings[link].source_frame]
        return place

    def _tree_pictures(self) -> tuple[TreePicture, ...]:
        names = self.problem.names
        return tuple(TreePicture(names[tree.anchor], tree.segments()) for tree in self.forest.trees)


def _inflated(raw: FloatArray, calibration: Calibration) -> FloatArray:
    """C_0 = h(d) between roots; what cannot be linked stays infinite."""
    is_linked = np.isfinite(raw)
    return np.where(is_linked, calibration.inflate(np.where(is_linked, raw, 0.0)), np.inf)
