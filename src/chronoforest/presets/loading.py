"""Planners made from presets and their weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Literal

from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.execution.route import ExecutionParams, WalkingPlanner
from chronoforest.models.store import Models, Untrained, distance_file, load_models
from chronoforest.names import check_device
from chronoforest.presets.named import Preset, get_preset
from chronoforest.presets.quality import LEAST_BELIEVED, LEAST_CONFIRMED, confirmed_ways, warn_of_weak
from chronoforest.presets.roadmaps import kept_roadmap
from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.typed import check_whole
from chronoforest.types import Tracker


class PresetPlanner(WalkingPlanner):
    """A planner that knows its preset and all its models, the tracker included.

    It plans on `num_threads` CPU threads whatever torch is set to: rounding depends on their number, and so
    would the plan; and on a busy machine more threads than free cores are slower than one.
    """

    def __init__(
        self,
        preset: Preset,
        models: Models | Untrained,
        num_threads: int = 1,
        roadmap: Roadmap | None = None,
        can_verify: bool = True,
        can_refute: bool = True,
    ) -> None:
        super().__init__(models, preset.planner, preset.name, preset.frame, roadmap, can_verify, can_refute)
        self.preset = preset
        self.models: Models | Untrained = models
        self.num_threads = num_threads

    @property
    def tracker(self) -> Tracker:
        """Walks the body."""
        if self.models.tracker is None:
            raise BadCheckpoint(
                f"the recordings of {self.preset.name!r} have no actions to learn walking from; "
                "plans can be made but not walked"
            )
        return self.models.tracker

    @property
    def execution(self) -> ExecutionParams:
        """How plans are followed."""
        return self.preset.execution

    @contextmanager
    def _computing(self) -> Iterator[None]:
        if not self.models.has_networks:
            yield
            return
        import torch  # here, since a world without networks does not wait for it

        before = torch.get_num_threads()
        torch.set_num_threads(self.num_threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def load_planner(
    name: str | PathLike[str],
    device: str = "cpu",
    weights: str | Path | None = None,
    mode: Literal["default", "fast"] = "default",
    num_threads: int = 1,
    tracker: str | None = None,
    distance: str = "own",
) -> PresetPlanner:
    """A planner for a preset, from the weights that ship with the package or from a folder of your own.

    tracker: another one than the preset's own, by name; distance: `paper` for the one at the paper's setting.
    """
    if not isinstance(name, (str, PathLike)):
        raise InvalidParameter(f"a preset is named by a text such as 'ant-giant', got {name!r:.40}")
    preset = get_preset(fspath(name))
    if mode not in ("default", "fast"):
        raise InvalidParameter(f"mode must be 'default' or 'fast', got {mode!r}")
    check_whole("num_threads", num_threads, least=1)
    if mode == "fast":
        preset = preset.fast()
    if not isinstance(weights, (str, Path, type(None))):
        raise InvalidParameter(f"weights must be the path of a folder, got {weights!r:.40}")
    check_device(device)
    folder = Path(weights) if weights is not None else preset.weights
    files = preset.tracker_file(tracker), distance_file(distance)
    models = load_models(folder, preset.name, preset.sampler, device, *files)
    _refuse_changed(preset, folder, models)
    if models.has_networks:
        warn_of_weak(folder)
    confirmed = confirmed_ways(folder)
    can = confirmed >= LEAST_CONFIRMED, confirmed >= LEAST_BELIEVED
    return PresetPlanner(preset, models, num_threads, kept_roadmap(folder, preset.name), *can)


def _refuse_changed(preset: Preset, folder: Path, models: Models | Untrained) -> None:
    """Weights know the plane and the frames they were trained with, whatever the preset says since."""
    plane, wanted = models.frame, preset.frame
    if plane is not None and (plane.kind, plane.origin) != (wanted.kind, wanted.origin):
        raise BadCheckpoint(
            f"the weights in {folder} were trained with {plane.summary()}, {preset.name!r} has "
            f"{wanted.summary()}; set [frame] as in the recordings or train it again"
        )
    if isinstance(models, Models) and models.sampler.net.window != preset.models.window:
        trained, window = models.sampler.net.window, preset.models.window
        raise BadCheckpoint(
            f"the weights in {folder} were trained on {trained.horizon} frames of {trained.stride} steps, "
            f"{preset.name!r} has {window.horizon} of {window.stride}; train it again"
        )
