"""What every plan of a variant shares, made once: its parameters, and its models with their landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chronoforest.planning.variants import PlannerParams, Variant
from chronoforest.roadmap.hops import Ground
from chronoforest.roadmap.verify import Checker
from chronoforest.roadmap.ways import Roadmap, build_roadmap
from chronoforest.routing.solver import AutoSolver, FixedOrder, order_from_names
from chronoforest.search.expand import SearchModels
from chronoforest.search.landmarks import LandmarkDistance, scatter
from chronoforest.search.tree import Forest, plant
from chronoforest.types import Distance, FloatArray, PlanningModels, Problem, RouteSolver, Support


@dataclass(frozen=True)
class Prepared:
    """A variant ready to plan; learned: the distance without landmarks."""

    variant: Variant
    params: PlannerParams
    models: SearchModels
    learned: Distance
    support: Support

    @cached_property
    def ground(self) -> Ground:
        """What the roadmap looks at."""
        models = self.models
        return Ground(
            models.density, self.learned, models.calibration, models.step_length, self.params.assembly.edge
        )

    @cached_property
    def roadmap(self) -> Roadmap:
        """Places over the support and hops between them, made when a plan first needs it."""
        return build_roadmap(self.support, self.ground)

    @cached_property
    def checker(self) -> Checker:
        """What verifies ways over the roadmap."""
        return Checker.made_for(self.models.sampler, self.ground, self.roadmap.places.position)

    def bare_forest(self, problem: Problem) -> Forest:
        """A root for every anchor."""
        return plant(problem, self.models.sampler.horizon, self.models.distance, self.params.is_reversible)

    def choose_solver(
        self, problem: Problem, forest: Forest, order: Sequence[Sequence[str]] | None
    ) -> RouteSolver:
        """A given order, one that is fixed on the learned distance, or whatever is best in each round."""
        solver = AutoSolver()
        if order is not None:
            return FixedOrder(order_from_names(order, problem))
        if self.variant.fixes_order:
            return FixedOrder(solver(steps_apart(self.learned, forest, problem), problem, None))
        return solver


def prepare(models: PlanningModels, params: PlannerParams, variant: Variant) -> Prepared:
    """Adapt parameters and models to a variant."""
    params = variant.adapt(params)
    equipped = variant.equip(
        SearchModels(
            sampler=models.sampler,
            distance=_far_sighted(models, params.landmark_spacing),
            density=models.density,
            calibration=models.calibration,
            largest_hop=models.step_length * models.sampler.stride,
            step_length=models.step_length,
        )
    )
    return Prepared(variant, params, equipped, models.distance, models.support)


def steps_apart(distance: Distance, forest: Forest, problem: Problem) -> FloatArray:
    """[A, A] steps between anchors, infinite where no tree leaves the one or arrives at the other."""
    codes = distance.encode(problem.anchors)
    sources, targets = sorted(forest.outgoing), sorted(forest.incoming)
    cost = np.full((problem.num_anchors, problem.num_anchors), np.inf)
    cost[np.ix_(sources, targets)] = distance.pairwise(codes[sources], codes[targets])
    return cost


def _far_sighted(models: PlanningModels, landmark_spacing: float) -> Distance:
    """The learned distance, over landmarks beyond the window in which its calibration trusts it."""
    if landmark_spacing == 0:
        return models.distance
    trusted = models.calibration.local_window
    places = scatter(models.support, landmark_spacing * trusted * models.step_length)
    return LandmarkDistance(models.distance, places, trusted)
