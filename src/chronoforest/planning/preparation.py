"""What every plan of a variant shares, made once: its parameters, and the models with its roadmap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chronoforest.planning.assembly import Clock
from chronoforest.planning.variants import PlannerParams, Variant
from chronoforest.roadmap.breaks import SupportParts
from chronoforest.roadmap.distance import RoadmapDistance
from chronoforest.roadmap.hops import Ground
from chronoforest.roadmap.verify import Checker
from chronoforest.roadmap.ways import Joiner, Roadmap, build_roadmap
from chronoforest.routing.solver import FixedOrder, solver_of
from chronoforest.search.expand import SearchModels
from chronoforest.search.soundness import longest_hop
from chronoforest.search.tree import Forest, plant
from chronoforest.types import (
    Distance,
    FloatArray,
    PlanningModels,
    Problem,
    RouteSolver,
    Support,
)

NUM_PROBES = 7
"""Places between which ways are shortened to learn what they come out at."""


@dataclass(frozen=True)
class Prepared:
    """A variant ready to plan; ground: what its roadmap was made from; is_ragged: recordings lie so far apart
    that the edge of the support is no smooth line."""

    variant: Variant
    params: PlannerParams
    models: SearchModels
    ground: Ground
    roadmap: Roadmap
    support: Support
    is_ragged: bool = False

    @property
    def learned(self) -> Distance:
        """The distance without the roadmap."""
        return self.ground.distance

    @cached_property
    def checker(self) -> Checker:
        """What verifies ways over the roadmap."""
        return Checker.made_for(self.models.sampler, self.ground, self.roadmap.places.position)

    @cached_property
    def join(self) -> Joiner:
        """What joins anchors to the roadmap."""
        return Joiner(self.roadmap, self.ground)

    @cached_property
    def parts(self) -> SupportParts:
        """What of the support trees may lead across: they keep to it, and meet where they come near."""
        return SupportParts(self.support, self.params.search.meeting_steps * self.models.step_length)

    @cached_property
    def stretch(self) -> float:
        """What ways come out at after shortening, in times of what the distance says: they keep room, and
        the distance does not count that. The median over ways between some places."""
        places = self.roadmap.places.position
        some = places[np.random.default_rng(0).permutation(len(places))[:NUM_PROBES]]
        codes, ways = self.models.distance.encode(some), self.join(some).ways()
        told = self.models.distance.between(codes[:-1], codes[1:])
        found = [(ways.way(row, row + 1), steps) for row, steps in enumerate(told)]
        known = [(way.path, steps) for way, steps in found if way is not None]
        taken = self.clock(self.shortened([path for path, _ in known]))
        ratios = [whole / steps for whole, (_, steps) in zip(taken, known, strict=True)]
        return float(np.median(ratios)) if ratios else 1.0

    def shortened(self, paths: Sequence[FloatArray]) -> list[FloatArray]:
        """What is made of ways [t, d] that were found. Along a ragged edge they catch on what sticks out, and
        come out shorter when they are shortened twice."""
        ways = self.params.shortened(paths, self.models.density, self.learned, self.params.assembly)
        if not self.is_ragged:
            return ways
        return self.params.shortened(ways, self.models.density, self.learned, self.params.assembly)

    @property
    def clock(self) -> Clock:
        """What times walkable ways."""
        surely = self.models.calibration.local_ratios[0]
        return Clock(self.learned, self.roadmap.pace, surely, self.params.assembly)

    def bare_forest(self, problem: Problem) -> Forest:
        """A root for every anchor."""
        return plant(problem, self.models.sampler.horizon, self.models.distance, self.params.is_reversible)

    def choose_solver(
        self, problem: Problem, forest: Forest, order: Sequence[Sequence[str]] | None
    ) -> RouteSolver:
        """A given order, one that is fixed on the learned distance, or whatever is best in each round."""
        solver = solver_of(order, problem)
        if order is None and self.variant.fixes_order:
            return FixedOrder(solver(steps_apart(self.learned, forest, problem), problem, None))
        return solver


def ground_of(models: PlanningModels, params: PlannerParams) -> Ground:
    """What a roadmap is made from."""
    return Ground(
        models.density, models.distance, models.calibration, models.step_length, params.assembly.edge
    )


def prepare(
    models: PlanningModels, params: PlannerParams, variant: Variant, roadmap: Roadmap | None = None
) -> Prepared:
    """Adapt parameters and models to a variant; roadmap: of these models, made here where it is not given."""
    params = variant.adapt(params)
    ground = ground_of(models, params)
    roadmap = roadmap or build_roadmap(models.support, ground)
    equipped = variant.equip(
        SearchModels(
            sampler=models.sampler,
            distance=RoadmapDistance(roadmap, ground) if variant.sums_hops else models.distance,
            density=models.density,
            calibration=models.calibration,
            largest_hop=longest_hop(models.step_length, models.sampler.stride),
            step_length=models.step_length,
        )
    )
    is_ragged = models.gap > params.assembly.edge
    return Prepared(variant, params, equipped, ground, roadmap, models.support, is_ragged)


def steps_apart(distance: Distance, forest: Forest, problem: Problem) -> FloatArray:
    """[A, A] steps between anchors, infinite where no tree leaves the one or arrives at the other."""
    codes = distance.encode(problem.anchors)
    sources, targets = sorted(forest.outgoing), sorted(forest.incoming)
    cost = np.full((problem.num_anchors, problem.num_anchors), np.inf)
    cost[np.ix_(sources, targets)] = distance.pairwise(codes[sources], codes[targets])
    return cost
