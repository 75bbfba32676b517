"""Everything that is learned for one world, as one value, and the other recipes it can be learned by."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from chronoforest.data.goals import GoalParams
from chronoforest.data.windows import WindowParams
from chronoforest.errors import require_within
from chronoforest.models.calibration import CalibrationParams
from chronoforest.models.denoiser import DenoiserParams, LevelMix
from chronoforest.models.density import DensityParams
from chronoforest.models.distance import DistanceParams
from chronoforest.models.tracking.kinds import get_tracker
from chronoforest.models.tracking.regression import TrackerParams
from chronoforest.models.tracking.subgoals import SubgoalParams
from chronoforest.models.train import TrainParams
from chronoforest.names import check_distance
from chronoforest.types import WorldParams

DENOISER_TRAINING = TrainParams(40_000, 2048, 1e-3, average_rate=0.001)
STUDENT_TRAINING = TrainParams(6000, 2048, 1e-3, average_rate=0.003)
DISTANCE_TRAINING = TrainParams(100_000, 1024, 5e-4, average_rate=0.02)
TRACKER_TRAINING = TrainParams(30_000, 2048, 3e-4, average_rate=0.005)


@dataclass(frozen=True)
class ModelParams:
    """Everything that is learned for one preset, which also says what world it is.

    patience: training of distance and denoiser ends early once what they get wrong on held-out recordings is
    no better for this share of the steps, a distance not in the first half of them; 0 for never.
    """

    window: WindowParams = field(default_factory=WindowParams)
    denoiser: DenoiserParams = field(default_factory=DenoiserParams)
    level_mix: LevelMix = field(default_factory=LevelMix)
    denoiser_training: TrainParams = DENOISER_TRAINING
    student_training: TrainParams = STUDENT_TRAINING
    distance: DistanceParams = field(default_factory=DistanceParams)
    goals: GoalParams = field(default_factory=GoalParams)
    distance_training: TrainParams = DISTANCE_TRAINING
    calibration: CalibrationParams = field(default_factory=CalibrationParams)
    density: DensityParams = field(default_factory=DensityParams)
    tracker: SubgoalParams = field(default_factory=TrackerParams)
    tracker_training: TrainParams = TRACKER_TRAINING
    patience: float = 0.2
    world: WorldParams = field(default_factory=WorldParams)

    def __post_init__(self) -> None:
        require_within(self, 0, 1, "patience")

    def with_distance(self, recipe: str) -> ModelParams:
        """The same with the distance of that recipe: `own`, or the `paper`'s, for comparison."""
        check_distance(recipe)
        if recipe == "own":
            return self
        paper = replace(self.distance, discount=0.99, num_features=0, has_action_values=False)
        return replace(
            self, distance=paper, distance_training=replace(self.distance_training, average_rate=0.005)
        )

    def with_tracker(self, name: str) -> ModelParams:
        """The same with the tracker of that name."""
        kind = get_tracker(name)
        return self if name == self.tracker.name else replace(self, tracker=kind.settings_for(self.tracker))

    def with_training(self, **changes: int | float | None) -> ModelParams:
        """The same with every model trained otherwise; what is None stays."""
        asked = {name: value for name, value in changes.items() if value is not None}
        return replace(
            self,
            denoiser_training=replace(self.denoiser_training, **asked),  # type: ignore[arg-type]
            student_training=replace(self.student_training, **asked),  # type: ignore[arg-type]
            distance_training=replace(self.distance_training, **asked),  # type: ignore[arg-type]
            tracker_training=replace(self.tracker_training, **asked),  # type: ignore[arg-type]
        )

    def quick(self) -> ModelParams:
        """Small networks and few steps: minutes on two cores, good enough for a first plan."""
        return replace(
            self,
            denoiser=replace(self.denoiser, width=64, num_layers=4),
            denoiser_training=TrainParams(12_000, 128, 1.5e-3, average_rate=0.003),
            distance=replace(self.distance, width=64),
            distance_training=TrainParams(14_000, 256, 1e-3, average_rate=0.04),
            tracker_training=replace(self.tracker_training, num_steps=3000, batch=256),
        )
