"""Named configurations, as Python values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from chronoforest.errors import UnknownPreset
from chronoforest.models.distance import DistanceParams
from chronoforest.models.fit import ModelParams

WEIGHTS = Path(__file__).parent / "weights"


@dataclass(frozen=True)
class Preset:
    """Everything one world needs: what is learned and how it is searched."""

    name: str
    models: ModelParams = field(default_factory=ModelParams)
    is_reversible: bool = True

    @property
    def weights(self) -> Path:
        """Folder of the weights that ship with the package."""
        return WEIGHTS / self.name


def _pointmaze(size: str) -> Preset:
    return Preset(f"pointmaze-{size}-stitch-v0")


def _teleport() -> Preset:
    return Preset(
        "pointmaze-teleport-stitch-v0",
        models=ModelParams(distance=DistanceParams(is_directed=True, width=384)),
        is_reversible=False,
    )


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (*(_pointmaze(size) for size in ("medium", "large", "giant")), _teleport())
}


def get_preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise UnknownPreset(name, choices=sorted(PRESETS))
    return PRESETS[name]
