"""The route that the roadmap proposes: its ways, shortened, and what they take while some get dearer."""

from __future__ import annotations

import time
from collections.abc import Sequence

from chronoforest.planning.assembly import Bridge
from chronoforest.planning.preparation import Prepared
from chronoforest.planning.proposed import ProposedRoute, ProposedWay
from chronoforest.planning.roads import Roads
from chronoforest.roadmap.verify import cut
from chronoforest.roadmap.ways import Joined, Way
from chronoforest.routing.reachable import solver_for
from chronoforest.routing.solver import AutoSolver, TimedSolver, order_from_names
from chronoforest.types import FloatArray, JointRoute, Pair, Problem, path_length

HOPE = 0.96
"""A way that nobody has shortened yet is hoped to come out at this share of the usual length."""

MOST_TENTATIVE = 8
"""Routes that are solved for before one of them is taken: each costs a solution."""

MOST_SPARE = 64
"""Ways that are shortened in a plan for other routes than the first that is solved for: with many waypoints
there is always one more that might be worth a little. Then nothing is hoped for any more."""


class Proposer:
    """The best route of a problem over the roadmap, for those who can get somewhere through what can be
    visited.

    found: the ways that are known; first: each as it was first proposed, which is how legs go that are
    `given_up`; left_out: rows of waypoints that nobody can visit; cost: [A, A] steps that the route was
    chosen by.
    """

    def __init__(
        self,
        prepared: Prepared,
        problem: Problem,
        order: Sequence[Sequence[str]] | None,
        joined: Joined | None,
    ) -> None:
        self.prepared, self.problem = prepared, problem
        self.order = None if order is None else order_from_names(order, problem)
        self.solver = TimedSolver(AutoSolver())
        self.roads = Roads(joined or prepared.join(problem.anchors), problem)
        self.found: dict[Pair, ProposedWay] = {}
        self.first: dict[Pair, ProposedWay] = {}
        self.given_up: set[Pair] = set()
        self.num_spare = 0
        self.start_over()

    def start_over(self) -> None:
        """Propose a route for what the roads connect now, whatever the one so far is."""
        began, fixes_order = time.perf_counter(), self.prepared.variant.fixes_order
        self.solver.solve, self.left_out = solver_for(self.roads.cost, self.problem, self.order, fixes_order)
        self.solver.seconds += time.perf_counter() - began
        self.route = self._best(None)

    @property
    def proposed(self) -> ProposedRoute:
        """The route over the ways that are known."""
        return self._over(self.route)

    def doubt(self, legs: Sequence[Pair]) -> None:
        """Nobody moves like that: hops along the pieces of these legs get dearer, for all legs of the
        problem, and the route is solved anew."""
        doubts = [part for leg in legs for part in self.found[leg].doubts]
        self.roads.doubt(doubts, room=2.0 * self.prepared.params.assembly.keep_margin)
        self.roads.renew(leg for leg in self.proposed.met if not self.found[leg].is_verified)
        self._forget(legs)
        self.route = self._best(self.route)

    def _forget(self, legs: Sequence[Pair]) -> None:
        """Ask the roadmap again for these legs and for others that are not verified, but not for those of the
        route that got no dearer, nor for those that are given up."""
        told = self.roads.told
        same = {leg for leg in self.proposed.met if self.found[leg].told == told(leg)}
        kept = {leg: way for leg, way in self.found.items() if way.is_verified or leg in same}
        kept = {leg: way for leg, way in kept.items() if leg not in legs}
        self.found = kept | {leg: way for leg, way in self.first.items() if leg in self.given_up}

    def _best(self, route: JointRoute | None) -> JointRoute:
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
            if leg not in self.given_up:
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

    def _over(self, route: JointRoute) -> ProposedRoute:
        models, variant = self.prepared.models, self.prepared.variant
        return ProposedRoute(self.problem, route, self.found, models.calibration, variant.verifies)
