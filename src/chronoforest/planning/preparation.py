"""What every plan of a variant shares, made once: its parameters, and the models with its roadmap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chronoforest.planning.assembly import WayTimer
from chronoforest.planning.shortening import shorten_all
from chronoforest.planning.variants import PlannerParams, Variant
from chronoforest.roadmap.components import SupportParts
from chronoforest.roadmap.distance import RoadmapDistance
from chronoforest.roadmap.from_support import roadmap_of_support
from chronoforest.roadmap.ground import Ground
from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.roadmap.straight import finely
from chronoforest.roadmap.verify import Checker
from chronoforest.roadmap.ways import Joined, Ways
from chronoforest.routing.solver import FixedOrder, Order, solver_of
from chronoforest.search.expand import SearchModels
from chronoforest.search.soundness import longest_hop
from chronoforest.search.tree import Forest, plant
from chronoforest.types import (
    Distance,
    FloatArray,
    Pair,
    PlanningModels,
    Problem,
    RouteSolver,
    Support,
)

NUM_PROBES = 7
"""Places between which ways are shortened to learn what they come out at."""


@dataclass(frozen=True)
class Prepared:
    """A variant ready to plan over a roadmap. Only what a plan asks for is made: a roadmap alone needs no
    network."""

    variant: Variant
    params: PlannerParams
    given: PlanningModels
    roadmap: Roadmap

    @cached_property
    def ground(self) -> Ground:
        """What is known of the support between places."""
        return ground_of(self.given, self.params)

    @cached_property
    def support(self) -> Support:
        """Where recordings went, for pictures."""
        return self.given.support

    @cached_property
    def models(self) -> SearchModels:
        """The models as the variant uses them."""
        given, sampler = self.given, self.given.sampler
        return self.variant.equip(
            SearchModels(
                sampler=sampler,
                distance=self._sums_of_hops if self.variant.sums_hops else given.distance,
                density=given.density,
                calibration=given.calibration,
                largest_hop=longest_hop(given.step_length, sampler.stride),
                step_length=given.step_length,
            )
        )

    @property
    def _sums_of_hops(self) -> Distance:
        """Far distances for trees."""
        return RoadmapDistance(self.roadmap, self.ground)

    @property
    def learned(self) -> Distance | None:
        """The distance without the roadmap, if there is one."""
        return self.given.distance if self.given.has_networks else None

    @cached_property
    def checker(self) -> Checker:
        """What verifies ways over the roadmap."""
        return Checker.made_for(self.models.sampler, self.ground, self.roadmap.position)

    @cached_property
    def parts(self) -> SupportParts:
        """What of the support trees may lead across: they keep to it, and meet where they come near."""
        return SupportParts(self.support, self.params.search.meeting_steps * self.given.step_length)

    @cached_property
    def stretch(self) -> float:
        """What ways come out at after shortening, in times of what the distance says: they keep room, and
        the distance does not count that. The median over ways between some places."""
        places = self.roadmap.position
        some = places[np.random.default_rng(0).permutation(len(places))[:NUM_PROBES]]
        codes, ways = self.models.distance.encode(some), Ways.of(Joined.of(self.roadmap, some))
        expected = self.models.distance.between(codes[:-1], codes[1:])
        found = [(ways.way(Pair(row, row + 1)), steps) for row, steps in enumerate(expected)]
        known = [(way.path, steps) for way, steps in found if way is not None]
        taken = self.clock(self.shortened([path for path, _ in known]))
        ratios = [whole / steps for whole, (_, steps) in zip(taken, known, strict=True)]
        return float(np.median(ratios)) if ratios else 1.0

    def shortened(self, paths: Sequence[FloatArray]) -> list[FloatArray]:
        """What is made of ways [t, d] that were found: in the open corners are cut where the density has
        room, on lanes ways are pulled tight. Along a ragged edge ways catch on what sticks out, and come out
        shorter when they are shortened twice."""
        params, given = self.params.assembly, self.given
        if not self.params.shortens:
            return [finely(path, params.spacing) for path in paths]
        if not self.roadmap.space.is_open:
            return [self.roadmap.straightened(path) for path in paths]
        for _ in range(2 if given.gap > params.edge else 1):
            paths = shorten_all(paths, given.density, self.learned, params)
        return list(paths)

    @property
    def clock(self) -> WayTimer:
        """What times walkable ways."""
        surely = self.given.calibration.local_ratios[0]
        return WayTimer(self.ground.distance, self.roadmap.pace, surely, self.params.assembly)

    def bare_forest(self, problem: Problem) -> Forest:
        """A root for every anchor."""
        return plant(problem, self.models.sampler.horizon, self.models.distance, self.params.is_reversible)

    def choose_solver(self, problem: Problem, forest: Forest, order: Order | None) -> RouteSolver:
        """A given order, one that is fixed on the learned distance, or whatever is best in each round."""
        solver = solver_of(order, problem)
        if order is None and self.variant.fixes_order:
            return FixedOrder(solver(steps_apart(self.ground.distance, forest, problem), problem, None))
        return solver


def ground_of(models: PlanningModels, params: PlannerParams) -> Ground:
    """What is known of the support between places, and how long ways take."""
    distance, calibration = models.distance, models.calibration
    return Ground(models.density, distance, calibration, models.step_length, params.assembly.edge)


def prepare(
    models: PlanningModels,
    params: PlannerParams,
    variant: Variant,
    roadmap: Roadmap | None = None,
) -> Prepared:
    """Adapt parameters and models to a variant; roadmap: of this world, made from the models where it is not
    given."""
    params = variant.adapt(params)
    if roadmap is None:
        roadmap = roadmap_of_support(models.support, ground_of(models, params))
    verifies = variant.verifies and models.has_networks
    return Prepared(replace(variant, verifies=verifies), params, models, roadmap)


def steps_apart(distance: Distance, forest: Forest, problem: Problem) -> FloatArray:
    """[A, A] steps between anchors, infinite where no tree leaves the one or arrives at the other."""
    codes = distance.encode(problem.anchors)
    sources, targets = sorted(forest.outgoing), sorted(forest.incoming)
    cost = np.full((problem.num_anchors, problem.num_anchors), np.inf)
    cost[np.ix_(sources, targets)] = distance.pairwise(codes[sources], codes[targets])
    return cost
