"""Which planner, as one value: the command line parses it, the loader takes it, a trial keeps it.

Nothing heavy is imported before a planner is loaded, so that `--help` does not wait for torch.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from chronoforest.errors import BadCheckpoint, UnknownPlanner
from chronoforest.files import fingerprint
from chronoforest.names import PRESETS, RUNS, check_models, full_name, is_there, preset_file

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

Mode = Literal["default", "fast"]

CHRONOFOREST = "chronoforest"
"""The name of our own planner beside the peers'."""

PLANNERS = (
    CHRONOFOREST,
    "dataset-graph",
    "state-graph",
    "point-graph",
    "diffusion-replan",
    "compositional",
    "tree-single",
)
"""All planners that have a name; the registry knows what they are."""


@dataclass(frozen=True)
class PlannerChoice:
    """Which planner, and where it runs.

    Args:
        preset: a named configuration such as pointmaze-giant-stitch-v0, or a TOML file of your own.
        mode: default, or fast for plans in under a second that are a few per cent longer.
        planner: chronoforest, a peer of the repository's (dataset-graph, state-graph, point-graph,
            diffusion-replan, compositional, tree-single), or the path of a module with a peer of your own.
        tracker: awr, bc or diffusion-ql; the preset's own unless given.
        distance: own, or paper for the one at the paper's setting, where the weights have it.
        weights: folder of trained models; those of the package, or runs/PRESET for your own, unless given.
        device: cpu or cuda.
        data: folder with PRESET.npz, for a planner that needs recorded states.
    """

    preset: str
    mode: Mode = "default"
    planner: str = CHRONOFOREST
    tracker: str | None = None
    distance: str = "own"
    weights: Path | None = None
    device: str = "cpu"
    data: Path = Path("data")

    def __post_init__(self) -> None:
        object.__setattr__(self, "preset", full_name(self.preset))

    def check(self) -> None:
        """Refuse what cannot be loaded, before anything is imported that takes time, or written."""
        check_models(self.preset, self.tracker, self.distance, self.device)
        self._check_weights()
        if self.planner not in PLANNERS and not is_there(self.planner):
            raise UnknownPlanner(self.planner, PLANNERS)
        if self.planner != CHRONOFOREST:
            from chronoforest.peers.registry import find_peer

            find_peer(self.planner)

    def _check_weights(self) -> None:
        """Refuse a folder that is not there, and a preset of one's own that nobody has trained."""
        if self.weights is not None and not os.path.isdir(self.weights):
            raise BadCheckpoint(f"{self.weights}: no such folder; `chronoforest train` writes one")
        file = preset_file(self.preset)
        trained = file.parent / RUNS / file.stem
        if self.weights is None and self.preset not in PRESETS.values() and not trained.is_dir():
            raise BadCheckpoint(
                f"{self.preset} has not been trained: there is no folder {trained}; "
                f"`chronoforest train all --preset {self.preset}` makes it, or --weights FOLDER names another"
            )

    def load(self) -> PresetPlanner:
        """The planner, on one thread: two that wait for each other on busy cores are far slower than one."""
        from chronoforest.peers import registry

        planner = registry.load(self)
        if "torch" in sys.modules:  # a world without networks does not wait for it
            import torch

            torch.set_num_threads(1)
        return planner

    @property
    def folder(self) -> Path:
        """Where the weights lie."""
        from chronoforest.presets.named import get_preset

        return self.weights or get_preset(self.preset).weights

    @property
    def weight_files(self) -> tuple[Path, ...]:
        """The files that are read: roadmap, density, distance, denoiser, its student and the tracker."""
        from chronoforest.models.store import STUDENT, distance_file, model_path
        from chronoforest.presets.named import get_preset
        from chronoforest.presets.roadmaps import STATES

        tracker = get_preset(self.preset).tracker_file(self.tracker)
        names = (STATES, "density", distance_file(self.distance), "denoiser", STUDENT, tracker)
        return tuple(model_path(self.folder, name) for name in names)

    @property
    def fingerprint(self) -> str:
        """Of the contents of the weights, and of the recorded states for a planner that needs them."""
        states = [] if self.planner == CHRONOFOREST else [self.data / f"{preset_file(self.preset).stem}.npz"]
        return fingerprint(*(path for path in (*self.weight_files, *states) if path.is_file()))

    @property
    def settings(self) -> str:
        """Of the values of the preset and the version of the package, wherever the preset's file lies."""
        from chronoforest.presets.named import get_preset

        values = asdict(replace(get_preset(self.preset), file=None)) | {"version": version("chronoforest")}
        # A function goes by its name: where it lies in memory is another place in every process.
        text = json.dumps(
            values, sort_keys=True, default=lambda value: getattr(value, "__name__", str(value))
        )
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def modules(self) -> tuple[str, ...]:
        """What the planner is imported from, where that is not the package."""
        if self.planner == CHRONOFOREST:
            return ()
        return ("benchmarks",) if self.planner in PLANNERS else (self.planner,)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that loading the planner may read, whether they are there or not."""
        file = preset_file(self.preset)
        own = () if self.preset in PRESETS.values() else (file,)
        states = () if self.planner == CHRONOFOREST else (self.data / f"{file.stem}.npz",)
        return (*self.weight_files, self.folder / "states.safetensors", *own, *states)

    def moved(self, places: Callable[[Path], Path]) -> PlannerChoice:
        """The same planner where the files of a folder lie at another place."""
        folder, file = places(self.folder), preset_file(self.preset)
        is_own = self.preset not in PRESETS.values()
        return replace(
            self,
            preset=str(places(file.parent) / file.name) if is_own else self.preset,
            weights=self.weights if folder == self.folder else folder,
            data=self.data if self.planner == CHRONOFOREST else places(self.data),
        )
