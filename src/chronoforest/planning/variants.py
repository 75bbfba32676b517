"""What planning can be told to do differently: parameters, and the ablations as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

from chronoforest.errors import require_at_least
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.shortening import AssemblyParams, Shortening, as_found, shorten_all
from chronoforest.routing.bridges import Closure, closure, direct
from chronoforest.routing.budget import BudgetParams
from chronoforest.routing.challenge import ChallengeParams
from chronoforest.search.expand import SearchModels, SearchParams
from chronoforest.search.scoring import straight_ranking
from chronoforest.types import FloatArray, WorldParams


@dataclass(frozen=True)
class PlannerParams:
    """Everything about planning that is not learned.

    shortened: what is made of ways that were found; anchor_tolerance: world units that an anchor may lie
    outside the data's support; max_rounds: rounds after which planning stops unless told otherwise;
    rounds_per_leg: added for every leg beyond the first; world: says whether one tree serves both directions,
    as the preset does.
    """

    search: SearchParams = field(default_factory=SearchParams)
    budget: BudgetParams = field(default_factory=BudgetParams)
    challenge: ChallengeParams = field(default_factory=ChallengeParams)
    assembly: AssemblyParams = field(default_factory=AssemblyParams)
    shortened: Shortening = shorten_all
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
    """An ablation as a value: what it changes in the parameters, the models, the matrix and the budget.

    adapt: parameters to parameters; equip: models to models, for example with another guidance; chained:
    direct costs to the costs that routes are solved on; uses_roadmap: ways are proposed by the roadmap, trees
    are grown only where it leads nowhere; verifies: the denoiser is asked about every proposed way; refutes:
    what it does not realise gets dearer, and the route is solved again; piece_samples: segments asked for a
    piece of such a way in its first try, its second and so on; what none of them realises is refuted;
    sums_hops: for trees a far distance is a sum of the roadmap's hops, not what was learned.
    """

    adapt: Callable[[PlannerParams], PlannerParams] = lambda params: params
    equip: Callable[[SearchModels], SearchModels] = lambda models: models
    chained: Callable[[FloatArray], Closure] = closure
    is_exhaustive: bool = False
    fixes_order: bool = False
    needs_order: bool = False
    uses_roadmap: bool = False
    verifies: bool = False
    refutes: bool = True
    piece_samples: tuple[int, ...] = (2, 4, 12, 24)
    sums_hops: bool = True


def _searching(**changes: object) -> Callable[[PlannerParams], PlannerParams]:
    return lambda params: replace(params, search=replace(params.search, **changes))  # type: ignore[arg-type]


def _guided(**changes: str | float) -> Callable[[SearchModels], SearchModels]:
    return lambda models: replace(models, sampler=models.sampler.guided_by(**changes))


def _without_student(models: SearchModels) -> SearchModels:
    return replace(models, sampler=models.sampler.denoising_by())


def _single(params: PlannerParams) -> PlannerParams:
    junction = replace(params.search.junction, num_samples=1, scales=params.search.junction.scales[:1])
    return replace(params, search=replace(params.search, junction=junction))


def _unshortened(params: PlannerParams) -> PlannerParams:
    return replace(params, shortened=as_found)


def _unchallenged(params: PlannerParams) -> PlannerParams:
    return replace(params, challenge=replace(params.challenge, max_doubts=0, max_challenges=0))


def _reversible(params: PlannerParams) -> PlannerParams:
    return replace(params, world=replace(params.world, is_reversible=True))


def _paper_params(params: PlannerParams) -> PlannerParams:
    """The paper's search: its guidance scales, one tree per anchor, 40 rounds, and no test of samples but its
    own three, so that any stray outside the support passes. What it does not tell stays."""
    junction = replace(params.search.junction, scales=(0.8, 0.0), slip=inf)
    params = replace(params, search=replace(params.search, junction=junction))
    params = replace(params, max_rounds=40, rounds_per_leg=0)
    return _reversible(_unchallenged(_unshortened(params)))


def _paper_models(models: SearchModels) -> SearchModels:
    """The paper's sampling, its α, and no bound on a step."""
    sampler = models.sampler.guided_by(spread="sparse", reliable=200.0)
    return replace(
        models,
        sampler=sampler.denoising_by(num_steps=100, randomness=0.1, token_lag=1, stabilisation=10),
        calibration=replace(models.calibration, alpha=0.005),
        largest_hop=inf,
    )


_VERIFIED = Variant(uses_roadmap=True, verifies=True)

VARIANTS: dict[str, Variant] = {
    DEFAULT_VARIANT: _VERIFIED,
    "online": Variant(),
    "paper": Variant(_paper_params, _paper_models, sums_hops=False),
    "roadmap-only": Variant(uses_roadmap=True),
    "single": Variant(_single),
    "start-tree-only": Variant(_searching(grows_target=False)),
    "l2-root": Variant(_searching(ranking=straight_ranking)),
    "no-uncertainty": Variant(_searching(uncertainty_weight=0.0)),
    "temporal-fixed": Variant(fixes_order=True),
    "graph-fixed": Variant(needs_order=True),
    "exhaustive": Variant(is_exhaustive=True),
    "reversed-trees": Variant(_reversible),
    "direct-matrix": Variant(chained=direct),
    "learned-distance": Variant(sums_hops=False),
    "no-guidance": Variant(equip=_guided(strength=0.0)),
    "no-shortening": Variant(_unshortened),
    "no-challenges": Variant(_unchallenged),
    "no-student": Variant(equip=_without_student),
    "verified-no-student": replace(_VERIFIED, equip=_without_student),
    "verified-single": replace(_VERIFIED, adapt=_single, piece_samples=(1,)),
    "verified-no-guidance": replace(_VERIFIED, equip=_guided(strength=0.0)),
    "verified-no-shortening": replace(_VERIFIED, adapt=_unshortened),
    "roadmap-fixed": replace(_VERIFIED, fixes_order=True),
    "noisy-injection": Variant(equip=_guided(inject="noisy")),
    "sparse-guidance": Variant(equip=_guided(spread="sparse")),
}
