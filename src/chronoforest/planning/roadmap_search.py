"""Plans over the roadmap: ways are proposed at once, the denoiser verifies them, refuted hops get dearer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from chronoforest.patience import OutOfTime
from chronoforest.planning.assembly import Bridge, make_plan
from chronoforest.planning.closed_loop import ClosedLoop
from chronoforest.planning.limits import within
from chronoforest.planning.preparation import Prepared
from chronoforest.planning.proposed import ProposedWay, padded
from chronoforest.planning.result import PlanResult
from chronoforest.roadmap.hops import AGAINST
from chronoforest.roadmap.verify import Questions, Verdict, cut
from chronoforest.roadmap.ways import Joined, Way, Ways
from chronoforest.routing.certificates import width
from chronoforest.routing.solver import AutoSolver, FixedOrder, best_two_costs, order_from_names
from chronoforest.search.memory import ForestMemory
from chronoforest.types import (
    Certificate,
    FloatArray,
    IntArray,
    JointRoute,
    Leg,
    LegEvidence,
    Pair,
    Problem,
    RoundObserver,
    RoundStats,
    RouteSolver,
    Snapshot,
    SnapshotObserver,
    StopCriterion,
    TreePicture,
    path_length,
)

HOPE = 0.96
"""A way that nobody has shortened yet is hoped to come out at this share of the usual length."""

DEARER = 1.5
"""What a refuted hop costs then, in times of what it cost: how much of a detour the doubt is worth. It gets
dearer once, however often it is refuted. On a lane it costs what one does that nobody drove."""

MOST_REFUTED = 3
"""A leg whose ways were refuted so often stays as it was first proposed: where the denoiser realises nothing,
its verdicts speak against the denoiser, and a detour is no better than the way itself."""


class RoadmapSearch:
    """One call of `plan` over the roadmap: the tentative route, its proposed ways and what is verified.

    Where the roadmap leads nowhere, trees are grown instead, for the whole problem.
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
        self.solver: RouteSolver = (
            AutoSolver() if order is None else FixedOrder(order_from_names(order, problem))
        )
        self.rng = np.random.default_rng(seed)
        self.joined = joined or prepared.join(problem.anchors)
        self.undoubted = self.joined.hops.steps
        if prepared.variant.fixes_order:
            self.solver = FixedOrder(self.solver(self.joined.ways().cost, problem, None))
        self.found: dict[Pair, ProposedWay] = {}
        self.first: dict[Pair, ProposedWay] = {}
        self.dear: IntArray = np.zeros(0, dtype=np.int64)
        self.num_tries: Counter[Pair] = Counter()
        self.num_refuted: Counter[Pair] = Counter()
        self.num_asked = 0
        self.asked: tuple[Pair, ...] = ()
        self.rounds: list[RoundStats] = []
        self.route = self._propose(None)
        is_connected = np.isfinite(self.route.cost(self.cost))
        self.trees = None if is_connected else ClosedLoop(prepared, problem, order, memory, seed)

    def run(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        """Propose, then verify a round at a time until every leg is verified or given up, or time is over."""
        if self.trees is not None:
            self.trees.run(stop, on_round, on_snapshot)
            return
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
        or the criterion says so."""
        self._record(self.asked)
        if on_round is not None:
            on_round(self.rounds[-1], self.problem)
        if on_snapshot is not None:
            on_snapshot(self.snapshot())
        self.asked = self._open_legs()
        if not self.asked or stop(self.rounds):
            return None
        tries = min(self.num_tries[leg] for leg in self.asked)
        pieces = [piece for leg in self.asked for piece in self.found[leg].pieces]
        return Questions(pieces, self._counts[tries], self.rng)

    def take(self, verdicts: Sequence[Verdict]) -> None:
        """Take in the answers; ways that are refuted get dearer and the route is solved anew."""
        self.num_asked += len(verdicts)
        left = iter(verdicts)
        for leg in self.asked:
            self._take_in(leg, [next(left) for _ in self.found[leg].pieces])
        refuted = [leg for leg in self.asked if self.num_tries[leg] == len(self._counts)]
        if refuted:
            self._refute(*refuted)
            self.route = self._propose(self.route)

    @property
    def _counts(self) -> tuple[int, ...]:
        """Segments to ask for in every try."""
        return self.prepared.checker.tries(self.prepared.variant.piece_samples)

    def _propose(self, route: JointRoute | None) -> JointRoute:
        """The best route when the ways that it uses cost what they come out at, the others what one may hope.

        A way is shortened only when a route wants it. route: the one so far, which wins ties.
        """
        ways = self.joined.ways()
        while True:
            self.cost = self._expected(ways)
            route = self.solver(self.cost, self.problem, route)
            wanted = {leg: ways.way(leg.source, leg.target) for leg in route.legs if leg not in self.found}
            found = {leg: way for leg, way in wanted.items() if way is not None}
            if not found:
                return route
            paths = self.prepared.shortened([way.path for way in found.values()])
            for (leg, way), path in zip(found.items(), paths, strict=True):
                self._take_way(leg, way, path)

    def _expected(self, ways: Ways) -> FloatArray:
        """[A, A] steps: a shortened way takes what its hops do, less what was cut; others are hoped to."""
        known = {leg: way.steps for leg, way in self.found.items()}
        ratios = [steps / ways.cost[leg.source, leg.target] for leg, steps in known.items()]
        cost = ways.cost * (HOPE * float(np.median(ratios)) if ratios else 1.0)
        for leg, steps in known.items():
            cost[leg.source, leg.target] = steps
        return cost

    def _take_way(self, leg: Pair, way: Way, path: FloatArray) -> None:
        """Take in the roadmap's way for a leg, shortened to a path, and the way back if that is the same."""
        prepared = self.prepared
        pieces = cut(path, prepared.checker.piece_length) if prepared.variant.verifies else []
        bridge = Bridge(path, path_length(way.path))
        steps = float(self.undoubted[way.hops].sum()) * bridge.length / bridge.raw_length
        self.found[leg] = ProposedWay(bridge, steps, tuple(pieces))
        self.first.setdefault(leg, self.found[leg])
        if prepared.params.is_reversible:
            back = tuple(piece[::-1] for piece in pieces)
            self.found[leg.reversed] = ProposedWay(bridge.reversed, steps, back)

    def _open_legs(self) -> tuple[Pair, ...]:
        """Legs of the route that are not verified and not given up."""
        if not self.prepared.variant.verifies:
            return ()
        return tuple(
            leg for leg in self.route.legs if not self.found[leg].is_verified and not self._is_given_up(leg)
        )

    def _is_given_up(self, leg: Pair) -> bool:
        return self.num_refuted[leg] >= MOST_REFUTED

    def _take_in(self, leg: Pair, verdicts: Sequence[Verdict]) -> None:
        self.found[leg] = self.found[leg].judged(verdicts)
        if not self.found[leg].is_verified:
            self.num_tries[leg] += 1

    def _refute(self, *legs: Pair) -> None:
        """Nobody moves like that: hops along the pieces get dearer, for all legs of the problem."""
        room = 2.0 * self.prepared.params.assembly.keep_margin
        refuted = [part for leg in legs for part in self.found[leg].doubts]
        hops = np.concatenate([self.joined.hops_along(part, room) for part in refuted])
        news = np.setdiff1d(hops, self.dear)
        factor = AGAINST if self.prepared.roadmap.has_lanes else DEARER
        self.joined, self.dear = self.joined.dearer(news, factor), np.union1d(self.dear, news)
        for leg in legs:
            self.num_tries[leg] = 0
            self.num_refuted[leg] += 1
        self._forget(legs)

    def _forget(self, legs: tuple[Pair, ...]) -> None:
        """Ask the roadmap again for these legs and for others that are not verified, but not for those that
        are given up."""
        kept = {pair: way for pair, way in self.found.items() if way.is_verified and pair not in legs}
        self.found = kept | {pair: way for pair, way in self.first.items() if self._is_given_up(pair)}

    def _record(self, asked: tuple[Pair, ...]) -> None:
        self.rounds.append(
            RoundStats(
                round_index=len(self.rounds),
                route=self.route,
                route_cost=self.route.cost(self.cost),
                pairs=asked,
                accepted=self.route.legs,
                num_expanded=self.num_asked,
                num_nodes=sum(len(way.segments) for way in self.found.values()),
                seconds=time.perf_counter() - self.started,
                num_refuted=self.num_refuted.total(),
            )
        )

    def snapshot(self) -> Snapshot:
        """What the search looks like after the last round."""
        return Snapshot(
            problem=self.problem,
            stats=self.rounds[-1],
            trees=self._pictures(self.route.legs),
            bridge_cost=self.cost,
            meetings={},
            paths={leg: self.found[leg].bridge.path for leg in self.route.legs},
            proposed=frozenset(leg for leg in self.route.legs if self._leg(leg).evidence == "proposed"),
        )

    def result(self, preset: str, variant: str, seed: int) -> PlanResult:
        """The routes, each leg with what speaks for it."""
        if self.trees is not None:
            return self.trees.result(preset, variant, seed)
        return PlanResult(
            problem=self.problem,
            routes=tuple(
                make_plan(order, self.problem, self._leg, lambda leg: self.found[leg].bridge)
                for order in self.route.orders
            ),
            unmet=(),
            rounds=tuple(self.rounds),
            num_expanded=self.num_asked,
            seconds=time.perf_counter() - self.started,
            seed=seed,
            variant=variant,
            preset=preset,
            certificate=self._certificate(),
            trees=self._pictures(self.route.legs),
            meetings=np.zeros((0, self.problem.anchors.shape[1])),
            support=self.prepared.support,
        )

    def _certificate(self) -> Certificate:
        """Lengths over a roadmap bound nothing, but tell how close the second-best order is."""
        best, second = best_two_costs(self.cost, self.problem)
        return Certificate(float("inf"), second - best, premises_hold=False, is_exact=False)

    def _leg(self, leg: Pair) -> Leg:
        names = self.problem.names[leg.source], self.problem.names[leg.target]
        way, calibration = self.found[leg], self.prepared.models.calibration
        evidence: LegEvidence = (
            "verified" if self.prepared.variant.verifies and way.is_verified else "proposed"
        )
        return Leg(*names, True, way.steps, 0.0, width(0.0, calibration), names, evidence)

    def _pictures(self, legs: Iterable[Pair]) -> tuple[TreePicture, ...]:
        """The realised segments of every leg, each with as many points as the longest."""
        names = self.problem.names
        return tuple(
            TreePicture(names[leg.source], padded(self.found[leg].segments))
            for leg in legs
            if self.found[leg].segments
        )
