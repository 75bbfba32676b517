"""Evidence of the forest: trees grow from anchors, cross, and their meetings become ways (the paper's
search)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from chronoforest.planning.assembly import Bridge, along, best_effort, build_bridges
from chronoforest.planning.ledger import Found, KnownWay, Ledger, Reach
from chronoforest.planning.loop import Search, within
from chronoforest.planning.sources import Answers, Asks, Source, View
from chronoforest.planning.variants import Prepared, steps_apart
from chronoforest.routing.bridges import Closure, accept, is_complete
from chronoforest.routing.budget import RoundState, allocate, challengers, every_unmet
from chronoforest.routing.certificates import certify, width
from chronoforest.routing.solver import FixedOrder, Order, solver_of
from chronoforest.search.expand import expand, revisit, root_leaves
from chronoforest.search.tree import Forest, ForestMemory, plant
from chronoforest.types import (
    Certificate,
    Evidence,
    FloatArray,
    JointRoute,
    Leg,
    Meeting,
    Pair,
    Problem,
    TreePicture,
)

WORTH_BUILDING = 0.98
"""Another meeting of a pair is made walkable when the trees reach it in this share of the time."""

_Value = TypeVar("_Value")


class ForestSource(Source):
    """The trees of one problem, and the leaves among them that wait for lookaheads. Only trees change, by
    appending; what they found is in the ledger."""

    def __init__(
        self,
        prepared: Prepared,
        problem: Problem,
        order: Order | None,
        memory: ForestMemory | None,
        seed: int,
    ) -> None:
        super().__init__(problem, prepared.support, seed, prepared.given.step_length)
        self.prepared, self.order, self.memory = prepared, order, memory or ForestMemory()
        self.params, self.models, self.variant = prepared.params, prepared.models, prepared.variant
        self.chained = prepared.variant.chained

    def begin(self) -> Ledger:
        """Roots at all anchors, with remembered trees in the place of bare ones; C_0 = h(d) between roots."""
        prepared, distance = self.prepared, self.models.distance
        bare = plant(self.problem, self.models.sampler.horizon, distance, self.params.is_reversible)
        self.guess = steps_apart(distance, bare, self.problem)
        solver = solver_of(self.order, self.problem)
        if self.order is None and self.variant.fixes_order:
            learned = steps_apart(prepared.ground.distance, bare, self.problem)
            solver = FixedOrder(solver(learned, self.problem, None))
        self.forest: Forest = self.memory.recall(bare, self.variant)
        is_linked = np.isfinite(self.guess)
        inflated = self.models.calibration.inflate(np.where(is_linked, self.guess, 0.0))
        cost = np.where(is_linked, inflated, np.inf)
        ledger = Ledger.of(cost, Reach(solver), self.params.is_reversible)
        known = revisit(self.forest, self.models, self.params.search)
        return ledger.updated(self._learned(known, ledger))

    def propose(self, ledger: Ledger, route: JointRoute | None) -> tuple[JointRoute, Ledger]:
        """The best route on all-hop costs, and the legs of it that are met."""
        all_hop, is_first = self.chained(ledger.cost), route is None
        with self.solving:
            route = ledger.reach.solver(all_hop.cost, self.problem, route)
        if is_first:
            self.waiting = root_leaves(self.forest, route.legs)
        accepted = accept(ledger.accepted, route, all_hop, ledger.bridges, self.problem)
        return route, replace(ledger, accepted=accepted)

    def allocate(self, route: JointRoute, ledger: Ledger, round_index: int) -> Asks | None:
        """The route's open links and a little of everything else; once it is complete, what can still change
        the answer."""
        if is_complete(route, ledger.accepted) and not self.variant.is_exhaustive:
            pairs = tried = self._challengers(route, ledger)
        else:
            all_hop = self.chained(ledger.cost)
            state = RoundState(
                self.problem,
                ledger.bridges,
                self.params.is_reversible,
                route_links=all_hop.links_of(route.legs),
                accepted_links=all_hop.links_of(ledger.accepted),
                round_index=round_index,
            )
            is_all = self.variant.is_exhaustive
            pairs, tried = (every_unmet(state) if is_all else allocate(state, self.params.budget)), ()
        linkable = tuple(pair for pair in pairs if self.forest.has(pair))
        return Asks(linkable, tried) if linkable else None

    def _challengers(self, route: JointRoute, ledger: Ledger) -> tuple[Pair, ...]:
        return challengers(
            route,
            ledger.bridges.met_cost,
            self.prepared.stretch * self.guess,
            ledger.num_tries,
            self.chained,
            lambda cost: ledger.reach.solver(cost, self.problem, route),
            self.params.challenge,
        )

    def answer(self, asks: Asks, ledger: Ledger, plan: Search) -> Answers:
        """One round of search (`expand`): it has its own sampler, so there is nothing to ask of the
        denoiser."""
        yield from ()
        with within(plan.stop, plan.watch.seconds):
            found = expand(self.forest, asks.pairs, self.waiting, self.models, self.params.search, self.rng)
        self.waiting = found.new_leaves
        back = [pair.reversed for pair in asks.tried if self.params.is_reversible]
        learned = self._learned(found.evidence, ledger)
        return replace(learned, tried=(*asks.tried, *back), num_expanded=found.num_expanded)

    def _learned(self, evidence: Evidence, ledger: Ledger) -> Found:
        """Meetings made walkable, all at once, where the trees reach them clearly sooner than those before; a
        meeting costs what its way takes by the clock, and one that is no shorter than what is there is
        none."""
        built, worth = dict(ledger.built), []
        for meeting in evidence.meetings:
            if meeting.pair not in self.standing and meeting.cost <= WORTH_BUILDING * built.get(
                meeting.pair, np.inf
            ):
                built |= self._both_ways(meeting.pair, meeting.cost, meeting.cost)
                worth.append(meeting)
        known = {pair: way.bridge for pair, way in ledger.ways.items()}
        kept: list[tuple[Meeting, Bridge]] = []
        bridges = build_bridges(self.forest, worth, self.prepared.shortened)
        for meeting, bridge in zip(worth, bridges, strict=True):
            if meeting.pair not in known or bridge.length < known[meeting.pair].length:
                known |= self._both_ways(meeting.pair, bridge, bridge.reversed)
                kept.append((meeting, bridge))
        costs = self.prepared.clock([bridge.path for _, bridge in kept])
        ways: dict[Pair, KnownWay] = {}
        for (meeting, bridge), cost in zip(kept, costs, strict=True):
            way = KnownWay(bridge, cost, "generated")
            ways |= self._both_ways(meeting.pair, way, way.back(np.nan))
        met = tuple(replace(meeting, cost=cost) for (meeting, _), cost in zip(kept, costs, strict=True))
        return Found(evidence=Evidence(evidence.witnesses, met), ways=ways, built=built)

    def _both_ways(self, pair: Pair, there: _Value, back: _Value) -> dict[Pair, _Value]:
        """Something for a pair, and in a reversible world for the pair back."""
        return {pair: there, pair.reversed: back} if self.params.is_reversible else {pair: there}

    def finish(self, route: JointRoute, ledger: Ledger) -> tuple[JointRoute, Ledger]:
        """Of all orders whose legs are met, the quickest; the tentative route if there is none. The trees are
        remembered."""
        self.memory.remember(self.forest, self.variant)
        met = self.chained(ledger.bridges.met_cost).cost
        best = ledger.reach.solver(met, self.problem, route)
        if not np.isfinite(best.cost(met)):
            return route, ledger
        return best, replace(ledger, accepted=frozenset(best.legs))

    def view(self, route: JointRoute, ledger: Ledger) -> _ForestView:
        """Both as people see them."""
        return _ForestView(self.problem, route, ledger, self)


@dataclass(frozen=True, eq=False)
class _ForestView(View):
    """A route over bridges that trees found: a leg runs over a chain of them."""

    source: ForestSource

    @cached_property
    def chains(self) -> Closure:
        """Chains over meetings alone."""
        return self.source.chained(self.ledger.bridges.met_cost)

    @property
    def met(self) -> tuple[Pair, ...]:
        cost = self.chains.cost
        return tuple(leg for leg in self.route.legs if np.isfinite(cost[leg.source, leg.target]))

    @property
    def cost(self) -> float:
        return self.route.cost(self.source.chained(self.ledger.cost).cost)

    @property
    def num_nodes(self) -> int:
        return self.source.forest.num_nodes

    @property
    def trees(self) -> tuple[TreePicture, ...]:
        names = self.problem.names
        return tuple(TreePicture(names[tree.anchor], tree.segments()) for tree in self.source.forest.trees)

    @property
    def meetings(self) -> Mapping[Pair, FloatArray]:
        found, outgoing = self.ledger.bridges.meetings.items(), self.source.forest.outgoing
        return {link: outgoing[link.source].frame_state[one.source_frame] for link, one in found}

    @property
    def meetings_in_use(self) -> FloatArray:
        meetings, links = self.meetings, self.chains.links_of(sorted(self.ledger.accepted))
        return np.array([meetings[link] for link in links if link in meetings]).reshape(-1, 2)

    @property
    def certificate(self) -> Certificate:
        """Theorem 1, with its premises checked."""
        calibration, certified_gap = self.source.models.calibration, self.source.params.budget.certified_gap
        return certify(self.route, self.ledger.bridges, self.problem, calibration, certified_gap)

    def leg(self, leg: Pair) -> Leg:
        """A leg with its gap and its width; of one that is not met, what it is expected to cost."""
        bridges, calibration = self.ledger.bridges, self.source.models.calibration
        names, is_met = self.problem.names, leg in self.ledger.accepted
        chain = self.chains.chain(leg) if is_met else (leg.source, leg.target)
        links = [Pair(a, b) for a, b in pairwise(chain)]
        gaps = [bridges.smallest_gap(link) for link in links]
        cost = (self.chains.cost if is_met else bridges.cost)[leg.source, leg.target]
        is_standing = all(link in self.source.standing for link in links)
        return Leg(
            source=names[leg.source],
            target=names[leg.target],
            is_met=is_met,
            cost=float(cost),
            gap=max(gaps),
            width=sum(width(gap, calibration) for gap in gaps) if is_met else None,
            chain=tuple(names[anchor] for anchor in chain),
            evidence="none" if not is_met else "standing" if is_standing else "generated",
        )

    def way(self, leg: Pair) -> Bridge:
        """The bridges that a met leg runs over, or how far its tree came."""
        if leg in self.ledger.accepted:
            return self.chained(leg)
        source = self.source
        return best_effort(source.forest, leg, source.models.calibration, source.params.assembly.spacing)

    def path(self, leg: Pair) -> FloatArray:
        return self.chained(leg).path

    def chained(self, leg: Pair) -> Bridge:
        """Over the bridges of its chain, as one."""
        return along([self.ledger.ways[link].bridge for link in self.chains.links(leg)])
