"""Presets: those that ship, as Python values, and those of TOML files, which overlay their fields."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from chronoforest.data.frames import Frame
from chronoforest.errors import BadPresetFile, InvalidParameter
from chronoforest.execution.route import ExecutionParams
from chronoforest.files import reading, write_text
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
from chronoforest.routing.budget import ChallengeParams
from chronoforest.typed import from_plain
from chronoforest.types import WorldParams

Params = TypeVar("Params")
Value = bool | int | float | str | tuple[float, ...]

WEIGHTS = Path(__file__).parents[1] / "weights"


@dataclass(frozen=True)
class Preset:
    """Everything one world needs: what is learned, how it is sampled, searched and walked.

    Models, planner and walk take the world from here. A preset of your own also knows its file, and its
    recordings by a path from there.
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
        search = replace(self.planner.search, junction=replace(self.planner.search.junction, num_samples=6))
        challenge = replace(self.planner.challenge, max_doubts=0)
        planner = replace(self.planner, search=search, challenge=challenge)
        return replace(self, sampler=replace(self.sampler, num_steps=8), planner=planner)


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


def _maze(body: str, size: str) -> Preset:
    plain = Preset(f"{body}maze-{size}-stitch-v0")
    if body == "point":
        return plain
    return replace(plain, models=ANT_MODELS, planner=ANT_PLANNER, execution=ANT_WALK)


def _with_portals(preset: Preset) -> Preset:
    """Portals make a world that cannot be walked backward and where luck must not look like skill,
    and a way around a portal is no detour."""
    models = replace(preset.models, distance=replace(preset.models.distance, width=256))
    search = replace(preset.planner.search, uncertainty_weight=10.0)
    challenge = replace(preset.planner.challenge, doubt=2.0)
    planner = replace(preset.planner, search=search, challenge=challenge)
    return replace(preset, models=models, planner=planner, world=WorldParams(is_reversible=False))


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for body in ("point", "ant")
    for preset in (*(_maze(body, size) for size in SIZES), _with_portals(_maze(body, "teleport")))
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


@dataclass(frozen=True)
class Setting:
    """One value of a preset file: its dotted name, such as `models.window.stride`, and how it was found."""

    name: str
    value: Value
    reason: str


def read_preset_file(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    with reading(path, "TOML", BadPresetFile):
        return tomllib.loads(path.read_text(encoding="utf-8"))


def overlay(params: Params, changes: Mapping[str, Any], path: Path, where: str = "") -> Params:
    """Parameters with the values that `changes` gives for their fields, nested tables included.

    A key that is no field, a value of another type and a value out of range are refused by name.
    """
    assert is_dataclass(params)
    held = {field.name: getattr(params, field.name) for field in fields(params)}
    # No functions, and the world only once, at the top.
    present = {
        key: value
        for key, value in held.items()
        if not callable(value) and not (where and isinstance(value, WorldParams))
    }
    kinds, values = get_type_hints(type(params)), {}
    for key, value in changes.items():
        name = f"{where}.{key}" if where else key
        if key not in present:
            allowed = f"{where or 'the file'} may set: {', '.join(present)}"
            raise BadPresetFile(
                f"{path}: unknown key {name}; {allowed}; the rest is the same for every preset"
            )
        if not is_dataclass(present[key]):
            with reading(path, "a preset", BadPresetFile):
                values[key] = from_plain(kinds[key], value, name)
        elif isinstance(value, Mapping):
            values[key] = overlay(present[key], value, path, name)
        else:
            raise BadPresetFile(f"{path}: {name} must be a table [{name}], got {value!r}")
    try:
        changed: Params = replace(params, **values)  # type: ignore[type-var]
    except InvalidParameter as error:
        raise BadPresetFile(f"{path}: in {where or 'the file'}: {error}") from error
    return changed


def write_preset_file(path: Path, head: Iterable[str], settings: Iterable[Setting]) -> None:
    """Write settings grouped by table, each with its reason as a comment; complete or not at all.

    Truths, finite numbers, texts and lists look in TOML as they do in JSON.
    """
    lines = [f"# {line}".rstrip() for line in head]
    for table, group in groupby(settings, key=lambda setting: setting.name.rpartition(".")[0]):
        lines += ["", f"[{table}]"] if table else [""]
        for setting in group:
            key, value = setting.name.rpartition(".")[2], json.dumps(setting.value, ensure_ascii=False)
            lines.append(f"{key} = {value}  # {setting.reason}")
    write_text(path, "\n".join(lines) + "\n")
