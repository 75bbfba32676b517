"""How the ant's expert is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from benchmarks.expert.sac import SacParams
from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.models.train import LoopParams


@dataclass(frozen=True)
class ExpertParams:
    """A training of the expert.

    num_seeds: experts trained side by side; num_steps: steps of each, and about as many updates;
    ants_per_seed: ants that each walks at once; batch: transitions of an update; learning_rate: Adam's;
    target_rate: of the critics' targets; most_random_steps: random steps before the first update, at most a
    tenth of all; eval_ants: ants of a measurement; eval_steps: its steps; save_seconds: between two saves;
    report_seconds: between two reports.
    """

    num_seeds: int = 4
    num_steps: int = 400_000
    ants_per_seed: int = 4
    batch: int = 256
    learning_rate: float = 1e-4
    target_rate: float = 0.005
    seed: int = 0
    most_random_steps: int = 5000
    eval_ants: int = 64
    eval_steps: int = 500
    save_seconds: float = 60.0
    report_seconds: float = 10.0
    sac: SacParams = field(default_factory=SacParams)

    def __post_init__(self) -> None:
        counts = ("num_seeds", "num_steps", "ants_per_seed", "batch", "eval_ants", "eval_steps")
        require_at_least(self, 1, *counts)
        require_at_least(self, 0, "seed")
        if self.num_ticks <= self.num_random_ticks:
            raise InvalidParameter(
                f"{self.num_steps} steps with {self.ants_per_seed} ants per seed leave nothing to learn from"
            )

    @property
    def num_ants(self) -> int:
        """Ants of all seeds."""
        return self.num_seeds * self.ants_per_seed

    @property
    def num_ticks(self) -> int:
        """Steps that each ant takes."""
        return math.ceil(self.num_steps / self.ants_per_seed)

    @property
    def num_random_ticks(self) -> int:
        """Ticks of random actions before the first update."""
        return math.ceil(min(self.most_random_steps, self.num_steps // 10) / self.ants_per_seed)

    @property
    def training(self) -> LoopParams:
        """The updates."""
        return LoopParams(
            num_steps=(self.num_ticks - self.num_random_ticks) * self.ants_per_seed,
            batch=self.batch,
            learning_rate=self.learning_rate,
            final_share=1.0,
            average_rate=self.target_rate,
            seed=self.seed,
        )
