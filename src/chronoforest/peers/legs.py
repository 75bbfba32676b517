"""What all peers share: an order, one search per leg, rounds until every leg is found, and the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chronoforest.planning.assembly import Bridge, travel_times
from chronoforest.planning.ledger import Found, KnownWay, Ledger, Reach
from chronoforest.planning.loop import Search
from chronoforest.planning.shortening import shorten_all
from chronoforest.planning.sources import Answers, Asks, Source, View
from chronoforest.planning.variants import PlannerParams
from chronoforest.roadmap.straight import resample
from chronoforest.routing.certificates import width
from chronoforest.routing.solver import solver_of
from chronoforest.search.junction import has_no_jump, is_supported, longest_hop
from chronoforest.types import (
    BoolArray,
    FloatArray,
    JointRoute,
    Leg,
    Pair,
    PlanningModels,
    Problem,
    TreePicture,
    path_length,
)


@dataclass(frozen=True)
class Inputs:
    """Everything a peer may be made of; states: [n, 2] recorded places, none unless the peer needs them."""

    models: PlanningModels
    params: PlannerParams
    states: FloatArray

    def is_sound(self, segments: FloatArray) -> BoolArray:
        """[n]: the segments [n, t, 2] stay in the data's support and never jump, as the forest's do."""
        longest = longest_hop(self.models.step_length, self.models.sampler.stride)
        return is_supported(segments, self.models.density) & has_no_jump(segments, longest)


class LegSearch(ABC):
    """The way from one anchor to the next, looked for a round at a time.

    found: [t, 2] from source to target, None until then; attempt: [t, 2] from the source, the best so far;
    gap: steps by the distance that `found` bridges without a segment; is_spent: there is nothing left to try;
    num_expanded: places that segments were asked for; segments: [s, t, 2] each, for the picture.
    """

    def __init__(self, source: FloatArray, target: FloatArray) -> None:
        self.source = source
        self.target = target
        self.found: FloatArray | None = None
        self.attempt: FloatArray = source[None]
        self.gap = np.inf
        self.is_spent = False
        self.num_expanded = 0
        self.segments: list[FloatArray] = []

    @abstractmethod
    def advance(self, rng: np.random.Generator) -> None:
        """One round."""


class Method(Protocol):
    """What tells one peer from another: what legs are expected to cost, and how one is looked for."""

    def costs(self, problem: Problem) -> FloatArray:
        """[A, A] steps between anchors, infinite where there is no way; the order is solved on it."""

    def begin(self, source: FloatArray, target: FloatArray) -> LegSearch:
        """The search for one leg."""


def expected_costs(problem: Problem, models: PlanningModels) -> FloatArray:
    """[A, A] h(d) between anchors, the guess of methods that know a leg's cost only once it is found."""
    codes = models.distance.encode(problem.anchors)
    cost = models.calibration.inflate(models.distance.pairwise(codes, codes))
    np.fill_diagonal(cost, 0.0)
    return cost


class PeerSource(Source):
    """Evidence of a peer: the order is fixed at the start, then every leg is searched on its own. name: of
    the peer, which the legs that it found carry as their evidence."""

    def __init__(
        self,
        name: str,
        method: Method,
        inputs: Inputs,
        problem: Problem,
        order: Sequence[Sequence[str]] | None,
        seed: int,
    ) -> None:
        super().__init__(problem, inputs.models.support, seed, inputs.models.step_length)
        self.name, self.method, self.inputs, self.order = name, method, inputs, order
        self.searches: dict[Pair, LegSearch] = {}

    def begin(self) -> Ledger:
        """What the method expects legs to cost."""
        reach = Reach(solver_of(self.order, self.problem))
        return Ledger.of(self.method.costs(self.problem), reach, is_reversible=False)

    def propose(self, ledger: Ledger, route: JointRoute | None) -> tuple[JointRoute, Ledger]:
        """The best route by these costs, once."""
        if route is None:
            route, places = ledger.reach.solver(ledger.cost, self.problem, None), self.problem.anchors
            self.searches = {
                leg: self.method.begin(places[leg.source], places[leg.target]) for leg in route.legs
            }
        return route, ledger

    def allocate(self, route: JointRoute, ledger: Ledger, round_index: int) -> Asks | None:
        """Every leg that another round could help."""
        pairs = tuple(
            leg for leg, search in self.searches.items() if leg not in ledger.ways and not search.is_spent
        )
        return Asks(pairs) if pairs else None

    def answer(self, asks: Asks, ledger: Ledger, plan: Search) -> Answers:
        """One round of each, and the ways that it found."""
        yield from ()
        for leg in asks.pairs:
            self.searches[leg].advance(self.rng)
        found = {leg: path for leg in asks.pairs if (path := self.searches[leg].found) is not None}
        ways = {leg: self._way(path, ledger.cost[leg.source, leg.target]) for leg, path in found.items()}
        num_expanded = sum(search.num_expanded for search in self.searches.values())
        return Found(ways=ways, num_expanded=num_expanded - ledger.num_expanded)

    def _way(self, path: FloatArray, steps: float) -> KnownWay:
        """A leg that was found, shortened as all ways are; steps: that were expected, which stay where no
        distance was learned."""
        models, params = self.inputs.models, self.inputs.params
        shown = resample(path, params.assembly.spacing)
        if models.has_networks:
            (steps,) = travel_times([path], models.distance, params.assembly)
            if params.shortens:
                (shown,) = shorten_all([path], models.density, models.distance, params.assembly)
        return KnownWay(Bridge(shown, path_length(path)), float(steps), self.name)

    def view(self, route: JointRoute, ledger: Ledger) -> _PeerView:
        """Both as people see them."""
        return _PeerView(self.problem, route, ledger, self)


@dataclass(frozen=True, eq=False)
class _PeerView(View):
    """A route of legs that a peer found."""

    source: PeerSource

    @property
    def num_nodes(self) -> int:
        return sum(len(part) for search in self.source.searches.values() for part in search.segments)

    @property
    def trees(self) -> tuple[TreePicture, ...]:
        names = self.problem.names
        return tuple(
            TreePicture(names[leg.source], np.concatenate(search.segments))
            for leg, search in self.source.searches.items()
            if search.segments
        )

    def leg(self, leg: Pair) -> Leg:
        names, gap = leg.named(self.problem), self.source.searches[leg].gap
        if leg not in self.ledger.ways:
            return Leg(
                *names, False, float(self.ledger.cost[leg.source, leg.target]), gap, None, names, "none"
            )
        way = self.ledger.ways[leg]
        band = width(gap, self.source.inputs.models.calibration) if 0 < gap < np.inf else None
        return Leg(*names, True, way.steps, gap, band, names, way.evidence)

    def way(self, leg: Pair) -> Bridge:
        if leg in self.ledger.ways:
            return self.ledger.ways[leg].bridge
        path = resample(self.source.searches[leg].attempt, self.source.inputs.params.assembly.spacing)
        return Bridge(path, path_length(path))
