"""What planning can be told to do differently: parameters, and the ablations as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from chronoforest.errors import require_at_least, require_within
from chronoforest.planning.shortening import AssemblyParams
from chronoforest.routing.bridges import Closure, closure, direct
from chronoforest.routing.budget import BudgetParams
from chronoforest.routing.challenge import ChallengeParams
from chronoforest.search.expand import SearchModels, SearchParams
from chronoforest.search.scoring import straight_ranking
from chronoforest.types import FloatArray, WorldParams


@dataclass(frozen=True)
class PlannerParams:
    """Everything about planning that is not learned; an anchor may lie `anchor_tolerance` world units outside
    the data's support; `world` says whether one tree serves both directions, as the preset does.

    Beyond the window in which its calibration trusts the distance, travel time is a chain over landmarks;
    they lie `landmark_spacing` of the way covered within that window apart, 0 for the distance as learned.
    Unless told otherwise, planning stops after `max_rounds` and `rounds_per_leg` for every leg beyond the
    first.
    """

    search: SearchParams = field(default_factory=SearchParams)
    budget: BudgetParams = field(default_factory=BudgetParams)
    challenge: ChallengeParams = field(default_factory=ChallengeParams)
    assembly: AssemblyParams = field(default_factory=AssemblyParams)
    anchor_tolerance: float = 0.5
    landmark_spacing: float = 0.16
    max_rounds: int = 60
    rounds_per_leg: int = 6
    world: WorldParams = field(default_factory=WorldParams)

    def __post_init__(self) -> None:
        require_at_least(self, 1, "max_rounds")
        require_within(self, 0, 1, "landmark_spacing")

    @property
    def is_reversible(self) -> bool:
        """Whether one tree serves both directions."""
        return self.world.is_reversible


@dataclass(frozen=True)
class Variant:
    """An ablation as a value: what it changes in the parameters, the models, the matrix and the budget.

    adapt: parameters to parameters; equip: models to models, for example with another guidance; chained:
    direct costs to the costs that routes are solved on; uses_roadmap: ways are proposed by the roadmap, trees
    are grown only where it leads nowhere; verifies: the denoiser is asked about every proposed way.
    """

    adapt: Callable[[PlannerParams], PlannerParams] = lambda params: params
    equip: Callable[[SearchModels], SearchModels] = lambda models: models
    chained: Callable[[FloatArray], Closure] = closure
    is_exhaustive: bool = False
    fixes_order: bool = False
    needs_order: bool = False
    uses_roadmap: bool = False
    verifies: bool = False


def _searching(**changes: object) -> Callable[[PlannerParams], PlannerParams]:
    return lambda params: replace(params, search=replace(params.search, **changes))  # type: ignore[arg-type]


def _guided(**changes: str) -> Callable[[SearchModels], SearchModels]:
    return lambda models: replace(models, sampler=models.sampler.guided_by(**changes))


def _single(params: PlannerParams) -> PlannerParams:
    junction = replace(params.search.junction, num_samples=1, scales=params.search.junction.scales[:1])
    return replace(params, search=replace(params.search, junction=junction))


def _reversible(params: PlannerParams) -> PlannerParams:
    return replace(params, world=replace(params.world, is_reversible=True))


VARIANTS: dict[str, Variant] = {
    "online": Variant(),
    "verified": Variant(uses_roadmap=True, verifies=True),
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
    "no-landmarks": Variant(lambda params: replace(params, landmark_spacing=0.0)),
    "noisy-injection": Variant(equip=_guided(inject="noisy")),
    "sparse-guidance": Variant(equip=_guided(spread="sparse")),
}
