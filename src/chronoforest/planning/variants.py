"""What planning may do differently: parameters, and variants as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

from chronoforest.errors import require_at_least
from chronoforest.names import DEFAULT_VARIANT, check_variant
from chronoforest.planning.shortening import AssemblyParams
from chronoforest.routing.bridges import Closure, closure
from chronoforest.routing.budget import BudgetParams
from chronoforest.routing.challenge import ChallengeParams
from chronoforest.search.expand import SearchModels, SearchParams
from chronoforest.types import FloatArray, WorldParams


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
