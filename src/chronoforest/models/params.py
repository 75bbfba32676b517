"""Everything that is learned for one world, as one value, and the other recipes it can be learned by.

Parameters of networks lie here and not beside the networks: presets are read without loading torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from chronoforest.errors import (
    InvalidParameter,
    require_at_least,
    require_one_of,
    require_positive,
    require_within,
)
from chronoforest.models.density import DensityParams
from chronoforest.names import check_distance
from chronoforest.types import WorldParams


@dataclass(frozen=True)
class WindowParams:
    """How recordings are cut. stride: steps between two frames; horizon: frames after the boundary frame."""

    stride: int = 5
    horizon: int = 40

    def __post_init__(self) -> None:
        require_at_least(self, 1, "stride", "horizon")

    @property
    def span(self) -> int:
        """Environment steps in a window."""
        return self.stride * self.horizon


FRAMES_PER_TOKEN = 10
"""Frames that one token stands for."""

HEAD_WIDTH = 16
"""Numbers of a token that one attention head compares."""


def num_tokens(horizon: int) -> int:
    """`FRAMES_PER_TOKEN` frames make a token; one more token holds the boundary frame."""
    if horizon % FRAMES_PER_TOKEN:
        raise InvalidParameter(f"horizon must be a multiple of {FRAMES_PER_TOKEN} frames, got {horizon}")
    return 1 + horizon // FRAMES_PER_TOKEN


@dataclass(frozen=True)
class DenoiserParams:
    """Architecture of a transformer. width: of its layers; num_layers: its blocks."""

    width: int = 128
    num_layers: int = 12

    def __post_init__(self) -> None:
        if self.width < 1 or self.width % HEAD_WIDTH:
            raise InvalidParameter(f"width must be a multiple of {HEAD_WIDTH}, got {self.width}")


@dataclass(frozen=True)
class LevelMix:
    """Shares of the noise patterns in a batch; what is left over has a clean boundary and free levels.

    independent: windows whose tokens all have levels of their own; leaving: windows with a clean first token
    and one shared level; arriving: windows with a clean last token and one shared level.
    """

    independent: float = 0.30
    leaving: float = 0.40
    arriving: float = 0.15


NUM_LEVELS = 1000


@dataclass(frozen=True)
class GuidanceParams:
    """How a segment is steered.

    strength: times the scale that a query asks for; 0 samples without guidance, whoever asks; spread: `ramp`
    moves every frame, 0 at the boundary and 1 at the tail; `sparse` moves the tail alone, as the paper writes
    it; inject: `clean` corrects x̂_0; `noisy` sends the score's gradient through the network; rdf_radius:
    world units, σ of U_rdf, within which it pushes.
    """

    spread: Literal["ramp", "sparse"] = "ramp"
    inject: Literal["clean", "noisy"] = "clean"
    strength: float = 1.0
    rdf_radius: float = 2.0

    def __post_init__(self) -> None:
        require_one_of(self, ("ramp", "sparse"), "spread")
        require_one_of(self, ("clean", "noisy"), "inject")
        require_positive(self, "rdf_radius")
        require_at_least(self, 0, "strength")

    @property
    def softness(self) -> float:
        """World units, ε of U_rdf."""
        return 0.05 * self.rdf_radius

    @property
    def rdf_weight(self) -> float:
        """Of U_rdf against U_goal: its slope falls with the cube of the radius, its effect shall not."""
        return (self.rdf_radius / 2.0) ** 3


@dataclass(frozen=True)
class SamplerParams:
    """How a segment is denoised.

    num_steps: denoising steps at most; a student takes as many as it was trained for; randomness: DDIM's η, 0
    is deterministic given the first noise; token_lag: steps by which a token starts after the one nearer to
    the boundary, 0 for all together; stabilisation: noise level that clean tokens are said to have, 0 for
    none.
    """

    num_steps: int = 20
    randomness: float = 0.0
    token_lag: int = 0
    stabilisation: int = 0
    guidance: GuidanceParams = field(default_factory=GuidanceParams)

    def __post_init__(self) -> None:
        require_within(self, 1, NUM_LEVELS, "num_steps")
        require_within(self, 0, 1, "randomness")
        require_at_least(self, 0, "token_lag")
        require_within(self, 0, NUM_LEVELS, "stabilisation")


def layer_sizes(inputs: int, width: int, outputs: int) -> list[int]:
    """Of the networks of distances and trackers, which have three hidden layers."""
    return [inputs, width, width, width, outputs]


@dataclass(frozen=True)
class DistanceParams:
    """Architecture and objective.

    has_action_values: regress Q(s, a, g) and fit V to it by expectile, so that only the choice of action is
    optimised, never the luck of a transition; otherwise V is backed up by expectile directly;
    has_moves_for_actions: the action of Q is what the step moved instead of the recorded action, for bodies
    whose motors say little about where they go and for recordings without actions; backup: steps between a
    state and the next one it is backed up from, the unit in which V counts and `discount` discounts; more of
    them carry far distances faster and make less of noise in the places; discount: stored with the weights,
    used in the conversion to steps; expectile: of the value fit; num_features: random Fourier features of the
    plane; shortest_period, longest_period: of the waves of these features, in world units; width: hidden
    units; reach: largest distance in steps that can be stated; V is clamped there so that the logarithm
    exists.
    """

    has_action_values: bool = True
    has_moves_for_actions: bool = False
    backup: int = 1
    discount: float = 0.995
    expectile: float = 0.95
    num_features: int = 32
    shortest_period: float = 8.0
    longest_period: float = 64.0
    width: int = 512
    reach: float = 800.0

    def __post_init__(self) -> None:
        if not 0.0 < self.discount < 1.0:
            raise InvalidParameter(f"discount must lie in (0, 1), got {self.discount}")
        if not 0.5 <= self.expectile < 1.0:
            raise InvalidParameter(f"expectile must lie in [0.5, 1), got {self.expectile}")
        require_positive(self, "reach")
        require_at_least(self, 1, "backup")

    @property
    def largest_value(self) -> float:
        """‖·‖ at `reach` steps: (1 − γ^reach) / (1 − γ)."""
        return (1.0 - self.discount ** (self.reach / self.backup)) / (1.0 - self.discount)

    @property
    def far(self) -> float:
        """Steps that count as far, about half of what crossing the world takes."""
        return self.reach / 4

    @property
    def local_window(self) -> float:
        """Steps within which it is trusted."""
        return self.far / 4


@dataclass(frozen=True)
class GoalParams:
    """Where the goals of examples come from; what no share claims is uniform.

    future_share: goals from the same recording's future; current_share: goals that are the state itself: a
    directed distance has no other way to learn that it is 0 there, and would otherwise call everything
    unreachable; past_share: goals as far behind in the same recording: where ways are one-way, what was just
    passed is far, next to what lies just ahead; discount: of the geometric distribution of the future goals.
    """

    future_share: float = 0.625
    current_share: float = 0.0
    past_share: float = 0.0
    discount: float = 0.99


@dataclass(frozen=True)
class SubgoalParams:
    """Subgoals of a tracker, whatever learns to reach them.

    radius: world units; a subgoal counts as reached; largest_subgoal: world units; those beyond look as far
    away as this.
    """

    name: ClassVar[str]

    radius: float = 0.5
    largest_subgoal: float = 4.0

    def __post_init__(self) -> None:
        require_positive(self, "radius", "largest_subgoal")


@dataclass(frozen=True)
class CloningParams(SubgoalParams):
    """An actor that repeats what was recorded on the way to each hindsight subgoal; width: hidden units."""

    name: ClassVar[str] = "bc"

    width: int = 256


@dataclass(frozen=True)
class TrackerParams(CloningParams):
    """The same actor by advantage-weighted regression: what led to the subgoal soonest counts most."""

    name: ClassVar[str] = "awr"


@dataclass(frozen=True)
class TrainParams:
    """How long to train and how fast; `average_rate` moves the averaged weights."""

    num_steps: int
    batch: int
    learning_rate: float
    average_rate: float

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_steps", "batch")
        require_positive(self, "learning_rate")


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
    denoiser_training: TrainParams = DENOISER_TRAINING
    student_training: TrainParams = STUDENT_TRAINING
    distance: DistanceParams = field(default_factory=DistanceParams)
    distance_training: TrainParams = DISTANCE_TRAINING
    density: DensityParams = field(default_factory=DensityParams)
    tracker: SubgoalParams = field(default_factory=TrackerParams)
    tracker_training: TrainParams = TRACKER_TRAINING
    patience: float = 0.2
    world: WorldParams = field(default_factory=WorldParams)

    def __post_init__(self) -> None:
        require_within(self, 0, 1, "patience")

    @property
    def level_mix(self) -> LevelMix:
        """As many windows that arrive as windows that leave where trees of both kinds grow."""
        return LevelMix(0.2, 0.35, 0.35) if self.world.is_one_way else LevelMix()

    @property
    def goals(self) -> GoalParams:
        """Goals half as far ahead as what is far, on average; a directed distance also learns where it is 0,
        and on one-way streets how far the place is that was just passed."""
        discount = 1.0 - 2.0 * self.distance.backup / self.distance.far
        if self.world.is_reversible:
            return GoalParams(discount=discount)
        past = 0.2 if self.world.is_one_way else 0.0
        return GoalParams(0.55 - past, 0.1, past, discount)

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
        if name == self.tracker.name:
            return self
        from chronoforest.models.tracking import get_tracker  # which loads torch

        return replace(self, tracker=get_tracker(name).settings_for(self.tracker))

    def with_training(self, **changes: int | float | None) -> ModelParams:
        """The same with every model trained otherwise; what is None stays."""
        asked: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
        names = (f"{model}_training" for model in ("denoiser", "student", "distance", "tracker"))
        return replace(self, **{name: replace(getattr(self, name), **asked) for name in names})

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
