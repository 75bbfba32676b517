"""Plans over the roadmap: ways are proposed at once, the denoiser verifies them, refuted hops get dearer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from chronoforest.patience import OutOfTime
from chronoforest.planning.assembly import Bridge
from chronoforest.planning.gaps import Gaps, OpenGap, PartOf
from chronoforest.planning.limits import within
from chronoforest.planning.preparation import Prepared
from chronoforest.planning.proposed import ProposedRoute, ProposedWay
from chronoforest.planning.result import PlanResult
from chronoforest.planning.roads import Roads
from chronoforest.roadmap.verify import Questions, Verdict, cut
from chronoforest.roadmap.ways import Joined, Way
from chronoforest.routing.acceptance import unmet
from chronoforest.routing.reachable import solver_for
from chronoforest.routing.solver import AutoSolver, TimedSolver, order_from_names
from chronoforest.search.memory import ForestMemory
from chronoforest.types import (
    FloatArray,
    JointRoute,
    Pair,
    Problem,
    RoundObserver,
    RoundStats,
    Snapshot,
    SnapshotObserver,
    StopCriterion,
    path_length,
)

HOPE = 0.96
"""A way that nobody has shortened yet is hoped to come out at this share of the usual length."""

MOST_TENTATIVE = 8
"""Routes that are solved for before one of them is taken: each costs a solution."""

MOST_SPARE = 64
"""Ways that are shortened in a plan for other routes than the first that is solved for: with many waypoints
there is always one more that might be worth a little. Then nothing is hoped for any more."""

MOST_REFUTED = 3
"""A leg whose ways were refuted so often stays as it was first proposed: where the denoiser realises nothing,
its verdicts speak against the denoiser, and a detour is no better than the way itself."""


class RoadmapSearch:
    """One call of `plan` over the roadmap: the tentative route, its proposed ways and what is verified.

    What the roadmap does not connect is left out, until trees that are grown across its gaps join it.
    """

    def __init__(
        self,
        prepared: Prepared,
        problem: Problem,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
        joined: Joined | None = None,
    ) -> None:
        """joined: the roadmap with the problem's anchors in it, if it is at hand."""
        self.started = time.perf_counter()
        self.prepared, self.problem = prepared, problem
        self.order = None if order is None else order_from_names(order, problem)
        self.solver = TimedSolver(AutoSolver())
        self.rng = np.random.default_rng(seed)
        self.roads = Roads(joined or prepared.join(problem.anchors), problem)
        self.gaps = Gaps(prepared, problem, memory, seed)
        self.found: dict[Pair, ProposedWay] = {}
        self.first: dict[Pair, ProposedWay] = {}
        self.num_tries: Counter[Pair] = Counter()
        self.num_refuted: Counter[Pair] = Counter()
        self.unconfirmed: set[Pair] = set()
        self.num_asked = self.num_spare = 0
        self.asked: tuple[Pair, ...] = ()
        self.rounds: list[RoundStats] = []
        self.route = self._proposed_anew()

    def run(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        """Propose, then verify a round at a time until every leg is verified or given up, or time is over."""
        while (questions := self.questions(stop, on_round, on_snapshot)) is not None:
            try:
                with within(stop, self.started):
                    (verdicts,) = self.prepared.checker.together([questions])
            except OutOfTime:
                return
            self.take(verdicts)

    def questions(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> Questions | None:
        """End a round: what to ask next about all pieces of the open legs; None when nothing is left to ask,
        or the criterion says so. Gaps are crossed once nothing else is left."""

        def end_round(pairs: tuple[Pair, ...]) -> None:
            self._record(pairs)
            if on_round is not None:
                on_round(self.rounds[-1], self.problem)
            if on_snapshot is not None:
                on_snapshot(self.snapshot())

        end_round(self.asked)
        self.asked = self._open_legs()
        while not (self.asked or stop(self.rounds)) and self._crosses_gap(stop, end_round):
            end_round(())
            self.asked = self._open_legs()
        if not self.asked or stop(self.rounds):
            return None
        tries = min(self.num_tries[leg] for leg in self.asked)
        pieces = [piece for leg in self.asked for piece in self.found[leg].pieces]
        return Questions(pieces, self._counts[tries], self.rng)

    def take(self, verdicts: Sequence[Verdict]) -> None:
        """Take in the answers; ways that are refuted get dearer and the route is solved anew, unless the
        denoiser is too weak to be believed."""
        self.num_asked += len(verdicts)
        left = iter(verdicts)
        for leg in self.asked:
            self.found[leg] = self.found[leg].judged([next(left) for _ in self.found[leg].pieces])
            self.num_tries[leg] += not self.found[leg].is_verified
        refuted = [leg for leg in self.asked if self.num_tries[leg] == len(self._counts)]
        if refuted and self.prepared.variant.refutes:
            self._refute(*refuted)
            self.route = self._propose(self.route)
        else:
            self.unconfirmed.update(refuted)

    def _proposed_anew(self) -> JointRoute:
        """A route for those who can get somewhere, through what can be visited."""
        began, fixes_order = time.perf_counter(), self.prepared.variant.fixes_order
        self.solver.solve, self.left_out = solver_for(self.roads.cost, self.problem, self.order, fixes_order)
        self.solver.seconds += time.perf_counter() - began
        return self._propose(None)

    def _crosses_gap(self, stop: StopCriterion, end_round: Callable[[tuple[Pair, ...]], None]) -> bool:
        """Let trees cross one of the gaps, and start over where they do."""
        part = PartOf(stop, self.rounds, time.perf_counter() - self.started)
        is_crossed = self.gaps.cross(self.roads, self._open_gaps(), part, lambda leg: end_round((leg,)))
        if is_crossed:
            self.route = self._proposed_anew()
        return is_crossed

    def _open_gaps(self) -> list[OpenGap]:
        return self.gaps.open(self.roads, unmet(self.route, self.found), self.left_out)

    @property
    def _counts(self) -> tuple[int, ...]:
        """Segments to ask for in every try."""
        return self.prepared.checker.tries(self.prepared.variant.piece_samples)

    def _propose(self, route: JointRoute | None) -> JointRoute:
        """The best route when the ways that it uses cost what they come out at, the others what one may hope.

        A way is shortened only when a route wants it. route: the one so far, which wins ties.
        """
        tentative: list[tuple[float, JointRoute]] = []
        while len(tentative) < (MOST_TENTATIVE if self.num_spare < MOST_SPARE else 1):
            route = self.solver(self._expected(), self.problem, route)
            num_new = self._complete(route)
            if not num_new:
                return route
            self.num_spare += num_new if tentative else 0
            tentative.append((self._over(route).cost(self.cost), route))
        best = min(tentative, key=lambda one: one[0])[1]
        self._complete(best)
        return best

    def _complete(self, route: JointRoute) -> int:
        """Take in ways for the legs of a route that have none, or another one than in a route before, since
        they go on from other legs; how many there are."""
        self.roads.renew(leg for leg in route.legs if leg not in self.found)
        for leg in self.roads.settle(route):
            if not self._is_given_up(leg):
                self.found.pop(leg, None)
        num_new = self._shorten([leg for leg in route.legs if leg not in self.found])
        self.cost = self._expected()
        return num_new

    def _expected(self) -> FloatArray:
        """[A, A] steps: a way that is found takes what it came out at, others are hoped to."""
        hope = HOPE if self.num_spare < MOST_SPARE else 1.0 / HOPE
        return self.roads.expected({leg: way.steps for leg, way in self.found.items()}, hope)

    def _shorten(self, legs: Sequence[Pair]) -> int:
        """Take in the roadmap's ways for some legs, shortened together; how many there are."""
        ways = {leg: way for leg in legs if (way := self.roads.way(leg)) is not None}
        paths = self.prepared.shortened([way.path for way in ways.values()])
        for (leg, way), path in zip(ways.items(), paths, strict=True):
            self._take_way(leg, way, path)
        return len(ways)

    def _take_way(self, leg: Pair, way: Way, path: FloatArray) -> None:
        """Take in the roadmap's way for a leg, shortened to a path, and the way back if that is the same."""
        pieces = cut(path, self.prepared.checker.piece_length) if self.prepared.variant.verifies else []
        bridge = Bridge(path, path_length(way.path))
        steps = self.roads.steps(way) * bridge.length / bridge.raw_length
        found = ProposedWay(bridge, steps, tuple(pieces), self.roads.told(leg))
        self.found[leg] = found
        self.first.setdefault(leg, found)
        if self.prepared.params.is_reversible:
            self.found[leg.reversed] = found.back(self.roads.told(leg.reversed))

    def _open_legs(self) -> tuple[Pair, ...]:
        """Legs of the route that are not verified and not given up."""
        if not self.prepared.variant.verifies:
            return ()
        met = self._over(self.route).met
        return tuple(leg for leg in met if not self.found[leg].is_verified and not self._is_given_up(leg))

    def _is_given_up(self, leg: Pair) -> bool:
        return leg in self.unconfirmed or self.num_refuted[leg] >= MOST_REFUTED

    def _refute(self, *legs: Pair) -> None:
        """Nobody moves like that: hops along the pieces get dearer, for all legs of the problem."""
        refuted = [part for leg in legs for part in self.found[leg].doubts]
        self.roads.doubt(refuted, room=2.0 * self.prepared.params.assembly.keep_margin)
        self.roads.renew(leg for leg in self._over(self.route).met if not self.found[leg].is_verified)
        for leg in legs:
            self.num_tries[leg] = 0
            self.num_refuted[leg] += 1
        self._forget(legs)

    def _forget(self, legs: tuple[Pair, ...]) -> None:
        """Ask the roadmap again for these legs and for others that are not verified, but not for those of the
        route that got no dearer, nor for those that are given up."""
        told = self.roads.told
        same = {leg for leg in self._over(self.route).met if self.found[leg].told == told(leg)}
        kept = {leg: way for leg, way in self.found.items() if way.is_verified or leg in same}
        kept = {leg: way for leg, way in kept.items() if leg not in legs}
        self.found = kept | {leg: way for leg, way in self.first.items() if self._is_given_up(leg)}

    def _record(self, asked: tuple[Pair, ...]) -> None:
        self.rounds.append(
            RoundStats(
                round_index=len(self.rounds),
                route=self.route,
                route_cost=self.route.cost(self.cost),
                pairs=asked,
                accepted=self._over(self.route).met,
                num_expanded=self.num_asked + self.gaps.num_expanded,
                num_nodes=sum(len(way.segments) for way in self.found.values()) + self.gaps.num_nodes,
                seconds=time.perf_counter() - self.started,
                num_refuted=self.num_refuted.total(),
                solver_seconds=self.solver.seconds,
            )
        )

    def snapshot(self) -> Snapshot:
        """What the search looks like after the last round."""
        now = self._over(self.route)
        return Snapshot(
            problem=self.problem,
            stats=self.rounds[-1],
            trees=(*now.pictures(), *self.gaps.trees),
            bridge_cost=self.cost,
            meetings={},
            paths=now.paths,
            proposed=now.proposed,
        )

    def result(self, preset: str, variant: str, seed: int) -> PlanResult:
        """The routes, each leg with what speaks for it."""
        now = self._over(self.route)
        return PlanResult(
            problem=self.problem,
            routes=now.plans(),
            unmet=now.unmet,
            rounds=tuple(self.rounds),
            num_expanded=self.num_asked + self.gaps.num_expanded,
            seconds=time.perf_counter() - self.started,
            seed=seed,
            variant=variant,
            preset=preset,
            certificate=now.certificate(self.cost),
            trees=(*now.pictures(), *self.gaps.trees),
            meetings=np.zeros((0, self.problem.anchors.shape[1])),
            support=self.prepared.support,
            left_out=tuple(self.problem.names[row] for row in self.left_out),
            gaps=self.gaps.told(self.roads, self._open_gaps()),
        )

    def _over(self, route: JointRoute) -> ProposedRoute:
        """A route over the ways that are known."""
        models, variant = self.prepared.models, self.prepared.variant
        return ProposedRoute(self.problem, route, self.found, models.calibration, variant.verifies)
