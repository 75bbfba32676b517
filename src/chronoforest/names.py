"""What is chosen by name, apart from what the names stand for: a wrong one is answered before anything heavy
is imported."""

from __future__ import annotations

from pathlib import Path

from chronoforest.errors import (
    BadPresetFile,
    InvalidParameter,
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
"""How plans are made unless told: proposed by the roadmap, verified by the denoiser."""

VARIANTS = (
    DEFAULT_VARIANT,
    "online",
    "paper",
    "roadmap-only",
    "single",
    "start-tree-only",
    "l2-root",
    "no-uncertainty",
    "temporal-fixed",
    "graph-fixed",
    "exhaustive",
    "reversed-trees",
    "direct-matrix",
    "learned-distance",
    "no-guidance",
    "no-shortening",
    "no-challenges",
    "no-student",
    "verified-no-student",
    "verified-single",
    "verified-no-guidance",
    "verified-no-shortening",
    "roadmap-fixed",
    "noisy-injection",
    "sparse-guidance",
)
"""What planning can be told to do differently."""

TRACKERS = ("awr", "bc", "diffusion-ql")
"""What can follow a path."""

DISTANCES = ("own", "paper")
"""Settings at which the distance is trained."""


REFERENCES = ("centres", "geodesic-1.5", "geodesic-1.25", "geodesic-1.0")
"""Paths of the map that trackers are compared on."""


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
    if path.is_file():
        return
    if name.endswith(".toml"):
        raise BadPresetFile(f"{path}: no such file; `chronoforest preset new NAME --data FILE` writes one")
    raise UnknownPreset(name, choices=PRESETS, also=PRESETS.values())


def preset_file(name: str) -> Path:
    """Where a preset of one's own lies: a path that ends in .toml, or NAME.toml in the current folder."""
    return Path(name if name.endswith(".toml") else f"{name}.toml")


def check_variant(name: str) -> None:
    """Refuse an unknown variant."""
    if name not in VARIANTS:
        raise UnknownVariant(name, choices=VARIANTS)


def check_tracker(name: str | None) -> None:
    """Refuse an unknown tracker; None is the preset's own."""
    if name is not None and name not in TRACKERS:
        raise UnknownTracker(name, choices=TRACKERS)


def check_distance(name: str) -> None:
    """Refuse an unknown setting of the distance."""
    if name not in DISTANCES:
        raise InvalidParameter(f"unknown distance recipe {name!r}; available: {', '.join(DISTANCES)}")


def check_models(preset: str, tracker: str | None, distance: str, device: str) -> None:
    """Refuse names that no preset, tracker, setting of the distance or device has."""
    check_preset(preset)
    check_tracker(tracker)
    check_distance(distance)
    check_device(device)


def check_reference(name: str) -> None:
    """Refuse an unknown path to compare trackers on."""
    if name not in REFERENCES:
        raise InvalidParameter(f"unknown reference {name!r}; available: {', '.join(REFERENCES)}")


def check_device(name: str) -> None:
    """Refuse what no device is called; whether it is there, only torch knows."""
    if name.partition(":")[0] not in ("auto", "cpu", "cuda"):
        raise InvalidParameter(f"device must be auto, cpu or cuda, got {name!r}")
