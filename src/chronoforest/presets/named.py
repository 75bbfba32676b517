"""Named configurations, as Python values, and the planners they make."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from chronoforest.data.frames import Frame
from chronoforest.errors import BadPresetFile, InvalidParameter
from chronoforest.execution.route import ExecutionParams
from chronoforest.models.params import (
    DistanceParams,
    ModelParams,
    SamplerParams,
    TrackerParams,
    TrainParams,
    num_tokens,
)
from chronoforest.models.store import tracker_file
from chronoforest.names import RUNS, check_preset, full_name, preset_file
from chronoforest.planning.shortening import AssemblyParams
from chronoforest.planning.variants import PlannerParams
from chronoforest.presets.files import overlay, read_preset_file
from chronoforest.routing.budget import ChallengeParams
from chronoforest.types import WorldParams

WEIGHTS = Path(__file__).parents[1] / "weights"


@dataclass(frozen=True)
class Preset:
    """Everything one world needs: what is learned, how it is sampled, searched and walked.

    The world is told here once, and from here to the models, the planner and the walk. A preset of your own
    also knows its file, and its recordings by a path from there.
    """

    name: str
    models: ModelParams = field(default_factory=ModelParams)
    sampler: SamplerParams = field(default_factory=SamplerParams)
    planner: PlannerParams = field(default_factory=PlannerParams)
    execution: ExecutionParams = field(default_factory=ExecutionParams)
    world: WorldParams = field(default_factory=WorldParams)
    frame: Frame = field(default_factory=Frame)
    data: str = ""
    file: Path | None = None

    def __post_init__(self) -> None:
        for name in ("models", "planner", "execution"):
            object.__setattr__(self, name, replace(getattr(self, name), world=self.world))

    @property
    def weights(self) -> Path:
        """Folder of the weights: in the package, or where `train` writes those of a preset of your own."""
        return WEIGHTS / self.name if self.file is None else self.runs

    @property
    def runs(self) -> Path:
        """Where `train` writes: runs/NAME, beside the preset's file if it has one."""
        return (self.file.parent if self.file else Path()) / RUNS / self.name

    @property
    def recordings(self) -> Path:
        """The dataset: data/NAME.npz, or what a preset's file names, from the folder it lies in."""
        if self.file is None or not self.data:
            return Path("data") / f"{self.name}.npz"
        return self.file.parent / self.data

    def tracker_file(self, name: str | None = None) -> str:
        """Name of a tracker's file in a folder of weights, without its ending; None is the preset's own."""
        own = self.models.tracker.name
        return tracker_file(self.models.with_tracker(name or own).tracker.name, own)

    def fast(self) -> Preset:
        """The fast mode: eight denoising steps, half the samples and no second look at a met bridge, for
        slightly longer plans."""
        junction = replace(self.planner.search.junction, num_samples=6)
        search = replace(self.planner.search, junction=junction)
        return replace(
            self,
            sampler=replace(self.sampler, num_steps=8),
            planner=replace(
                self.planner, search=search, challenge=replace(self.planner.challenge, max_doubts=0)
            ),
        )


SIZES = ("medium", "large", "giant")

ANT_MODELS = ModelParams(
    distance=DistanceParams(has_moves_for_actions=True),
    tracker=TrackerParams(width=512),
    tracker_training=TrainParams(60_000, 2048, 3e-4, average_rate=0.005),
)
"""The ant's motors say little about where it goes, so its distance takes what a step moved as the action."""

ANT_PLANNER = PlannerParams(
    assembly=AssemblyParams(keep_margin=1.5), challenge=ChallengeParams(doubt=1.3, max_challenges=1)
)
"""Walls flip the ant, so its plans keep more room. It strays more than the point, and so does its distance: a
bridge is a detour later, and fewer challenges pay."""

ANT_WALK = ExecutionParams(effort=0.85, look_ahead=2.0, drift=3.0, stuck_steps=100, idle_steps=15)


def _pointmaze(size: str) -> Preset:
    return Preset(f"pointmaze-{size}-stitch-v0")


def _antmaze(size: str) -> Preset:
    return Preset(f"antmaze-{size}-stitch-v0", ANT_MODELS, planner=ANT_PLANNER, execution=ANT_WALK)


def _with_portals(preset: Preset) -> Preset:
    """Portals make a world that cannot be walked backward and where luck must not look like skill,
    and a way around a portal is no detour."""
    models = replace(
        preset.models,
        distance=replace(preset.models.distance, width=256),
    )
    search = replace(preset.planner.search, uncertainty_weight=10.0)
    challenge = replace(preset.planner.challenge, doubt=2.0)
    planner = replace(preset.planner, search=search, challenge=challenge)
    return replace(preset, models=models, planner=planner, world=WorldParams(is_reversible=False))


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for maze in (_pointmaze, _antmaze)
    for preset in (*map(maze, SIZES), _with_portals(maze("teleport")))
}


def get_preset(name: str) -> Preset:
    """The preset of that full or short name, of NAME.toml in the current folder, or of a TOML file by its
    path."""
    if full_name(name) in PRESETS:
        return PRESETS[full_name(name)]
    check_preset(name)
    return load_preset(preset_file(name))


def load_preset(path: Path) -> Preset:
    """The preset that a TOML file describes; what it does not set is as in `Preset`."""
    tables = read_preset_file(path)
    for key in {"name", "file"} & set(tables):
        raise BadPresetFile(f"{path}: {key} cannot be set; a preset is called after its file")
    preset = overlay(Preset(path.stem, file=path), tables, path)
    try:
        num_tokens(preset.models.window.horizon)
    except InvalidParameter as error:
        raise BadPresetFile(f"{path}: in models.window: {error}") from error
    return preset
