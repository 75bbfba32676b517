"""What all peers share: an order, one search per leg, rounds until every leg is found, and the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chronoforest.planning.assembly import Bridge, make_plan
from chronoforest.planning.plan_search import PlanSearch
from chronoforest.planning.result import PlanResult
from chronoforest.planning.shortening import resample, shorten
from chronoforest.planning.timing import travel_time
from chronoforest.planning.variants import PlannerParams
from chronoforest.routing.certificates import width
from chronoforest.routing.solver import solver_of
from chronoforest.search.soundness import has_no_jump, is_supported, longest_hop
from chronoforest.types import (
    BoolArray,
    Certificate,
    FloatArray,
    Leg,
    Pair,
    PlanningModels,
    Problem,
    RoundObserver,
    RoundStats,
    Snapshot,
    SnapshotObserver,
    StopCriterion,
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

    @property
    def is_open(self) -> bool:
        """Whether another round could help."""
        return self.found is None and not self.is_spent

    @abstractmethod
    def advance(self, rng: np.random.Generator) -> None:
        """One round."""


class Method(Protocol):
    """What tells one peer from another: what legs are expected to cost, and how one is looked for."""

    replan_every: int
    """Steps after which a walk asks for a new plan although nothing is wrong; 0: never."""

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


class LegByLeg(PlanSearch):
    """One call of a peer's `plan`: the order is fixed at the start, then every leg is searched on its own."""

    def __init__(
        self,
        name: str,
        method: Method,
        inputs: Inputs,
        problem: Problem,
        order: Sequence[Sequence[str]] | None,
        seed: int,
        shortens: bool,
    ) -> None:
        super().__init__(problem, seed)
        self.name, self.inputs, self.shortens = name, inputs, shortens
        self.cost = method.costs(problem)
        self.route = solver_of(order, problem)(self.cost, problem, None)
        places = problem.anchors
        self.searches = {leg: method.begin(places[leg.source], places[leg.target]) for leg in self.route.legs}

    def run(
        self,
        stop: StopCriterion,
        on_round: RoundObserver | None = None,
        on_snapshot: SnapshotObserver | None = None,
    ) -> None:
        """Every open leg gets one round after the other."""
        while True:
            pairs = tuple(leg for leg, search in self.searches.items() if search.is_open)
            if not pairs or stop(self.rounds):
                return
            for leg in pairs:
                self.searches[leg].advance(self.rng)
            self.rounds.append(self._stats(pairs))
            self._tell(on_round, on_snapshot)

    @property
    def num_expanded(self) -> int:
        """Places that segments were asked for, over all legs."""
        return sum(search.num_expanded for search in self.searches.values())

    def _stats(self, pairs: tuple[Pair, ...]) -> RoundStats:
        return RoundStats(
            round_index=len(self.rounds),
            route=self.route,
            route_cost=self.route.cost(self.cost),
            pairs=pairs,
            accepted=tuple(leg for leg, search in self.searches.items() if search.found is not None),
            num_expanded=self.num_expanded,
            num_nodes=sum(len(part) for search in self.searches.values() for part in search.segments),
            seconds=self.seconds,
        )

    def snapshot(self) -> Snapshot:
        """What the search looks like after the last round."""
        found = {leg: search.found for leg, search in self.searches.items()}
        return Snapshot(
            problem=self.problem,
            stats=self.rounds[-1],
            trees=self._pictures(),
            bridge_cost=self.cost,
            meetings={},
            paths={leg: path for leg, path in found.items() if path is not None},
        )

    def _pictures(self) -> tuple[TreePicture, ...]:
        names = self.problem.names
        return tuple(
            TreePicture(names[leg.source], np.concatenate(search.segments))
            for leg, search in self.searches.items()
            if search.segments
        )

    def result(self, preset: str, variant: str) -> PlanResult:
        """The routes as far as their legs were found; a peer certifies nothing about its order."""
        unmet = [leg for leg, search in self.searches.items() if search.found is None]
        return PlanResult(
            problem=self.problem,
            routes=tuple(make_plan(order, self.problem, self._leg, self._way) for order in self.route.orders),
            unmet=tuple(leg.named(self.problem) for leg in unmet),
            rounds=tuple(self.rounds),
            num_expanded=self.num_expanded,
            seconds=self.seconds,
            seed=self.seed,
            variant=self.name,
            preset=preset,
            certificate=Certificate(float("inf"), float("inf"), premises_hold=False, is_exact=False),
            trees=self._pictures(),
            meetings=np.zeros((0, 2)),
            support=self.inputs.models.support,
        )

    def _way(self, leg: Pair) -> Bridge:
        """A found leg, shortened if this peer's are; the best attempt otherwise."""
        search, models, params = self.searches[leg], self.inputs.models, self.inputs.params.assembly
        if search.found is None:
            return Bridge(resample(search.attempt, params.spacing), path_length(search.attempt))
        if not self.shortens:
            return Bridge(resample(search.found, params.spacing), path_length(search.found))
        path = shorten(search.found, models.density, models.distance, params)
        return Bridge(path, path_length(search.found))

    def _leg(self, leg: Pair) -> Leg:
        search, models = self.searches[leg], self.inputs.models
        names = leg.named(self.problem)
        is_met = search.found is not None
        cost = float(self.cost[leg.source, leg.target])
        if search.found is not None:
            cost = travel_time(search.found, models.distance, self.inputs.params.assembly)
        return Leg(*names, is_met, cost, search.gap, width(search.gap, models.calibration), names)
