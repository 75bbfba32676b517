"""What the verbs that plan have in common: which planner, where to write, and how points are typed."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import arg

from chronoforest.errors import InvalidProblem, UnknownVariant
from chronoforest.files import DAMAGE, write_text

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner


@dataclass(frozen=True)
class PlannerOptions:
    """Which planner, and how it plans.

    Args:
        preset: a named configuration such as pointmaze-giant-stitch-v0, or a TOML file of your own.
        variant: online, or one of the fixed orders and ablations.
        mode: default, or fast for plans in under a second that are a few per cent longer.
        seed: the same seed gives the same plan.
        weights: folder of trained models; those of the package, or runs/PRESET for your own, unless told.
        device: cpu or cuda.
        tracker: awr, bc or diffusion-ql; the preset's own unless told.
        distance: own, or paper for the one at the paper's setting, where the weights have it.
        planner: chronoforest, or a peer: dataset-graph, diffusion-replan, compositional or tree-single.
        data: folder with PRESET.npz, for a planner that needs recorded states.
    """

    preset: str
    variant: str = "online"
    mode: Literal["default", "fast"] = "default"
    seed: int = 0
    weights: Path | None = None
    device: str = "cpu"
    tracker: str | None = None
    distance: str = "own"
    planner: str = "chronoforest"
    data: Path = Path("data")

    def check(self) -> None:
        """Refuse an unknown preset, tracker, distance, planner or variant, before anything is written."""
        from chronoforest.peers.registry import check_planner
        from chronoforest.planning.variants import VARIANTS
        from chronoforest.presets.named import get_preset

        preset = get_preset(self.preset)
        preset.tracker_file(self.tracker)
        preset.models.with_distance(self.distance)
        check_planner(self.planner)
        if self.variant not in VARIANTS:
            raise UnknownVariant(self.variant, choices=VARIANTS)

    def load(self) -> PresetPlanner:
        """The planner, on one thread: two that wait for each other on busy cores are far slower than one."""
        import torch

        from chronoforest.peers import registry

        torch.set_num_threads(1)
        return registry.load(
            self.planner,
            self.preset,
            self.data,
            device=self.device,
            weights=self.weights,
            mode=self.mode,
            tracker=self.tracker,
            distance=self.distance,
        )


Options = Annotated[PlannerOptions, arg(name="")]


def open_folder(out: Path) -> Path:
    """Make a run folder that remembers its commands and version, before any long work."""
    path = out / "config.json"
    commands = dict.fromkeys([*_known_commands(path), shlex.join(["chronoforest", *sys.argv[1:]])])
    config = {"commands": list(commands), "version": version("chronoforest")}
    write_text(path, json.dumps(config, indent=2) + "\n")
    return out


def _known_commands(path: Path) -> list[str]:
    """The commands that wrote to a folder before; none when it does not say."""
    try:
        return [str(command) for command in json.loads(path.read_text())["commands"]]
    except DAMAGE:
        return []


def read_points(name: str, text: str) -> list[list[float]]:
    """Points typed as "x,y x,y"."""
    try:
        points = [[float(number) for number in word.split(",")] for word in text.split()]
    except ValueError:
        points = [[]]
    if any(len(point) != 2 for point in points):
        raise InvalidProblem(f'--{name} must be points such as "0,0 52,36", got {text!r}')
    return points
