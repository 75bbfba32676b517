"""What is chosen by name: a wrong name is refused before anything heavy is imported, and so is a missing
library."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chronoforest.errors import (
    BadPresetFile,
    InvalidParameter,
    MissingExtra,
    UnknownPreset,
    UnknownTracker,
    UnknownVariant,
)

PRESETS = {
    f"{body}-{maze}": f"{body}maze-{maze}-stitch-v0"
    for body in ("ant", "point")
    for maze in ("giant", "large", "medium", "teleport")
}
"""The presets that ship, by their short names."""

DEFAULT_VARIANT = "verified"
"""How plans are made by default: proposed by the roadmap, verified by the denoiser."""

VARIANTS = (DEFAULT_VARIANT, "online", "paper", "roadmap-only")
"""How planning may go about it."""

TRACKERS = ("awr", "bc", "diffusion-ql")
"""What can follow a path."""

DISTANCES = ("own", "paper")
"""Settings at which the distance is trained."""


RUNS = Path("runs")
"""Where models of one's own are trained to, and found again, in a folder of the preset's name."""

PLAN_FILES = (".geojson", ".gpx", ".csv", ".json")
"""Endings of the files that a plan is written to."""


def check_plan_file(path: Path) -> None:
    """Refuse an ending that no format of plans has; a file without one is JSON."""
    if path.suffix and path.suffix.lower() not in PLAN_FILES:
        raise InvalidParameter(f"a plan is written as {', '.join(PLAN_FILES)}, got {path.name!r}")


def full_name(preset: str) -> str:
    """The name that a preset is stored under: `ant-giant` is short for `antmaze-giant-stitch-v0`."""
    return PRESETS.get(preset, preset)


def check_preset(name: str) -> None:
    """Refuse a preset that neither ships nor lies in a TOML file."""
    if full_name(name) in PRESETS.values():
        return
    path = preset_file(name)
    if os.path.isfile(path):  # false, not an error, where the name is too long for a file
        return
    if name.endswith(".toml"):
        raise BadPresetFile(f"{path}: no such file; `chronoforest preset new NAME --data FILE` writes one")
    raise UnknownPreset(name, choices=PRESETS, also=PRESETS.values())


def check_new_name(name: str) -> None:
    """Refuse what no world of one's own can be called, and what those that ship are called."""
    if not name or not all(letter.isalnum() or letter in "-_" for letter in name):
        raise InvalidParameter(f"a preset's name is made of letters, digits, - and _, got {name!r}")
    if name in (*PRESETS, *PRESETS.values()):
        raise InvalidParameter(
            f"{name!r} is the name of a preset that ships with the package; choose another"
        )


def preset_file(name: str) -> Path:
    """Where a preset of one's own lies: a path that ends in .toml, or NAME.toml in the current folder."""
    return Path(name if name.endswith(".toml") else f"{name}.toml")


def check_variant(name: str) -> None:
    """Refuse an unknown variant."""
    if not isinstance(name, str) or name not in VARIANTS:
        raise UnknownVariant(name, choices=VARIANTS)


def check_distance(name: str) -> None:
    """Refuse an unknown setting of the distance."""
    if name not in DISTANCES:
        raise InvalidParameter(f"unknown distance recipe {name!r}; available: {', '.join(DISTANCES)}")


def check_models(preset: str, tracker: str | None, distance: str, device: str) -> None:
    """Refuse names that no preset, tracker, setting of the distance or device has."""
    check_preset(preset)
    if tracker is not None and tracker not in TRACKERS:  # None is the preset's own
        raise UnknownTracker(tracker, choices=TRACKERS)
    check_distance(distance)
    check_device(device)


def check_device(name: str) -> None:
    """Refuse what no device is called; whether it is there, only torch knows."""
    if name.partition(":")[0] not in ("auto", "cpu", "cuda"):
        raise InvalidParameter(f"device must be auto, cpu or cuda, got {name!r}")


EXTRAS = {
    "sim": ("mujoco", "ogbench", "gymnasium", "joblib", "imageio_ffmpeg"),
    "view": ("fastapi", "uvicorn", "shapely", "polyline"),
    "ray": ("ray",),
}
"""Modules that the package's extras bring."""


def require(extra: str, unneeded: Sequence[str] = ()) -> None:
    """Refuse to go on without the modules of an extra, but for those that are unneeded; imports none."""
    for module in EXTRAS[extra]:
        if module not in unneeded and find_spec(module) is None:
            raise MissingExtra(module, extra)


def value_in(module: str, name: str) -> Any:
    """What a module calls `name`, None where there is no such module or name.

    The module lies on Python's path or in the current folder, where an installed command does not look. One
    that is there and cannot be imported raises what it raises.
    """
    if not is_there(module):
        return None
    return getattr(import_module(module), name, None)


def is_there(module: str) -> bool:
    """Whether a module lies on Python's path or in the current folder; only its packages are imported."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    if module in sys.modules:
        return True
    if not all(part.isidentifier() for part in module.split(".")):
        return False
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # it is something that one of its packages imports
        return False


def optional(module: str, extra: str) -> Any:
    """A library that comes with an extra; where it is not installed, the error says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(module.partition(".")[0], extra) from error
