"""What planning may do differently: parameters, and variants as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

import numpy as np

from chronoforest.errors import require_at_least
from chronoforest.names import DEFAULT_VARIANT, check_variant
from chronoforest.planning.assembly import way_times
from chronoforest.planning.shortening import AssemblyParams, shorten_all
from chronoforest.roadmap.distance import RoadmapDistance
from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.roadmap.straight import finely
from chronoforest.roadmap.support import Ground, SupportParts, roadmap_of_support
from chronoforest.roadmap.verify import Checker
from chronoforest.roadmap.ways import Joined, Ways
from chronoforest.routing.bridges import Closure, closure
from chronoforest.routing.budget import BudgetParams, ChallengeParams
from chronoforest.search.expand import SearchModels, SearchParams
from chronoforest.search.junction import longest_hop
from chronoforest.search.tree import Forest
from chronoforest.types import (
    Distance,
    FloatArray,
    Pair,
    PlanningModels,
    Problem,
    Support,
    WorldParams,
)


@dataclass(frozen=True)
class PlannerParams:
    """Everything about planning that is not learned.

    shortens: whether ways that were found are shortened; anchor_tolerance: world units that an anchor may lie
    outside the data's support; max_rounds: rounds after which planning stops by default;
    rounds_per_leg: added for every leg beyond the first; world: says whether one tree serves both directions,
    as the preset does.
    """

    search: SearchParams = field(default_factory=SearchParams)
    budget: BudgetParams = field(default_factory=BudgetParams)
    challenge: ChallengeParams = field(default_factory=ChallengeParams)
    assembly: AssemblyParams = field(default_factory=AssemblyParams)
    shortens: bool = True
    anchor_tolerance: float = 0.5
    max_rounds: int = 60
    rounds_per_leg: int = 6
    world: WorldParams = field(default_factory=WorldParams)

    def __post_init__(self) -> None:
        require_at_least(self, 1, "max_rounds")

    @property
    def is_reversible(self) -> bool:
        """Whether one tree serves both directions."""
        return self.world.is_reversible


@dataclass(frozen=True)
class Variant:
    """A way to plan, as a value: what it changes in the parameters, the models, the matrix and the budget.

    name: what plans are said to be made with; adapt: parameters to parameters; equip: models to models, for
    example with another guidance; chained: direct costs to the costs that routes are solved on; uses_roadmap:
    ways are proposed by the roadmap, trees are grown only where it leads nowhere; verifies: the denoiser is
    asked about every proposed way; refutes: what it does not realise costs more, and the route is solved
    again; piece_samples: segments asked for a piece of such a way in its first try, its second and so on;
    what none of them realises is refuted; sums_hops: for trees a far distance is a sum of the roadmap's hops,
    not what was learned.
    """

    name: str = "custom"
    adapt: Callable[[PlannerParams], PlannerParams] = lambda params: params
    equip: Callable[[SearchModels], SearchModels] = lambda models: models
    chained: Callable[[FloatArray], Closure] = closure
    is_exhaustive: bool = False
    fixes_order: bool = False
    needs_order: bool = False
    uses_roadmap: bool = False
    verifies: bool = False
    refutes: bool = True
    piece_samples: tuple[int, ...] = (4, 8, 30)
    sums_hops: bool = True


def unshortened(params: PlannerParams) -> PlannerParams:
    """Ways stay as they were found."""
    return replace(params, shortens=False)


def unchallenged(params: PlannerParams) -> PlannerParams:
    """The first complete order stands."""
    return replace(params, challenge=replace(params.challenge, max_doubts=0, max_challenges=0))


def reversible(params: PlannerParams) -> PlannerParams:
    """One tree serves both directions, whatever the world is like."""
    return replace(params, world=replace(params.world, is_reversible=True))


def _paper_params(params: PlannerParams) -> PlannerParams:
    """The paper's search: its guidance scales, one tree per anchor, 40 rounds, and no test of samples but its
    own three, so that any stray outside the support passes. What it leaves open stays."""
    junction = replace(params.search.junction, scales=(0.8, 0.0), slip=inf)
    params = replace(params, search=replace(params.search, junction=junction))
    params = replace(params, max_rounds=40, rounds_per_leg=0)
    return reversible(unchallenged(unshortened(params)))


def _paper_models(models: SearchModels) -> SearchModels:
    """The paper's sampling, its α, and no bound on a step."""
    sampler = models.sampler.guided_by(spread="sparse")
    return replace(
        models,
        sampler=sampler.denoising_by(num_steps=100, randomness=0.1, token_lag=1, stabilisation=10),
        calibration=replace(models.calibration, alpha=0.005),
        largest_hop=inf,
    )


VERIFIED = Variant(DEFAULT_VARIANT, uses_roadmap=True, verifies=True)

VARIANTS = {
    variant.name: variant
    for variant in (
        VERIFIED,
        Variant("online"),
        Variant("paper", _paper_params, _paper_models, sums_hops=False),
        Variant("roadmap-only", uses_roadmap=True),
    )
}
"""Those that are chosen by name; the ablations of them are in `benchmarks.ablations`."""


def find_variant(variant: str | Variant) -> Variant:
    """A variant as it is, or by its name."""
    if isinstance(variant, Variant):
        return variant
    check_variant(variant)
    return VARIANTS[variant]


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
        sums_hops = self.variant.sums_hops
        return self.variant.equip(
            SearchModels(
                sampler=sampler,
                distance=RoadmapDistance(self.roadmap, self.ground) if sums_hops else given.distance,
                density=given.density,
                calibration=given.calibration,
                largest_hop=longest_hop(given.step_length, sampler.stride),
                step_length=given.step_length,
            )
        )

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

    def clock(self, paths: Sequence[FloatArray]) -> list[float]:
        """Steps along each of some walkable ways [t, d]."""
        surely = self.given.calibration.local_ratios[0]
        return way_times(paths, self.ground.distance, self.roadmap.pace, surely, self.params.assembly)


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
