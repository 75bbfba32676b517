"""The four files of a preset's weights: what is written for each model, and how it is put together again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chronoforest.data.scaling import Scaling
from chronoforest.data.windows import WindowParams
from chronoforest.errors import BadCheckpoint
from chronoforest.files import DAMAGE
from chronoforest.models import checkpoint
from chronoforest.models.denoiser import Denoiser, DenoiserParams
from chronoforest.models.density import GridDensity
from chronoforest.models.distance import DistanceParams, TemporalDistance, ValueNet
from chronoforest.models.sampler import SamplerParams, SegmentSampler
from chronoforest.models.tracking.kinds import get_tracker
from chronoforest.models.tracking.regression import SubgoalTracker, TrackerParams
from chronoforest.typed import from_plain
from chronoforest.types import Calibration, Support

KINDS = ("density", "distance", "denoiser", "tracker")

Tensors = Mapping[str, torch.Tensor]
Card = Mapping[str, Any]


@dataclass(frozen=True)
class Models:
    """Everything the planner and the execution learned from the recordings; there is no tracker where no
    actions were recorded."""

    sampler: SegmentSampler
    distance: TemporalDistance
    calibration: Calibration
    density: GridDensity
    tracker: SubgoalTracker | None

    @property
    def support(self) -> Support:
        """The supported region, for pictures."""
        return Support(self.density.origin, self.density.cell, self.density.support)

    @property
    def step_length(self) -> float:
        """World units that hardly any recording exceeded in one step."""
        return self.density.step_length


def model_path(folder: Path, kind: str) -> Path:
    """Where a finished model lies."""
    return folder / f"{kind}.safetensors"


def distance_file(recipe: str) -> str:
    """Name of the file of a distance's recipe, without its ending; only our own has the plain one."""
    return "distance" if recipe == "own" else f"distance-{recipe}"


def tracker_file(name: str, default: str) -> str:
    """Name of a tracker's file without its ending; only the preset's own, the default, has the plain one."""
    return "tracker" if name == default else f"tracker-{name}"


def files_of(folder: Path, kind: str) -> list[str]:
    """Names of the files in a folder that hold a model of a kind, without their ending; its own first."""
    return sorted(
        path.stem for path in folder.glob(f"{kind}*.safetensors") if ".training" not in path.suffixes
    )


def load_models(
    folder: Path,
    preset: str,
    sampler: SamplerParams,
    device: torch.device | str = "cpu",
    tracker: str = "tracker",
    distance: str = "distance",
) -> Models:
    """All four models of a preset, each checked to belong to it; tracker, distance: their files without the
    ending."""
    for kind, file in (("density", "density"), ("distance", distance), ("denoiser", "denoiser")):
        path = model_path(folder, file)
        _check_preset(path, checkpoint.read(path, kind)[1], preset)
    measure, fitted = load_distance(folder, device, distance)
    has_actions = checkpoint.read(model_path(folder, "density"), "density")[1].get("has_actions", True)
    return Models(
        sampler=SegmentSampler(load_denoiser(folder), measure, sampler, device),
        distance=measure,
        calibration=fitted,
        density=load_density(folder),
        tracker=load_tracker(folder, tracker, preset) if has_actions else None,
    )


def _check_preset(path: Path, card: Card, preset: str) -> None:
    if card.get("preset") != preset:
        raise BadCheckpoint(
            f"{path} was trained for {card.get('preset')!r}, not for {preset!r}; "
            f"train it with `chronoforest train all --preset {preset}`"
        )


@contextmanager
def _understood(path: Path) -> Iterator[None]:
    """A card from another version, or a damaged one, is a bad checkpoint and not a programming error."""
    try:
        yield
    except DAMAGE as error:
        raise BadCheckpoint(f"{path} describes a model that this version cannot build: {error!r}") from error


def save_density(folder: Path, density: GridDensity, card: Card) -> None:
    """Tables in half precision and bits."""
    tensors = {
        "log_table": torch.as_tensor(density.log_table).half(),
        "support": torch.as_tensor(density.support),
        "origin": torch.as_tensor(density.origin),
        "cell": torch.tensor(density.cell, dtype=torch.float64),
        "step_length": torch.tensor(density.step_length, dtype=torch.float64),
    }
    if density.headings is not None:
        tensors["headings"] = torch.as_tensor(density.headings)
    checkpoint.write(model_path(folder, "density"), tensors, card)


def load_density(folder: Path) -> GridDensity:
    """The density of a folder."""
    path = model_path(folder, "density")
    tensors, _ = checkpoint.read(path, "density")
    try:
        return GridDensity(
            origin=tensors["origin"].numpy(),
            cell=float(tensors["cell"]),
            log_table=tensors["log_table"].double().numpy(),
            support=tensors["support"].numpy().astype(np.bool_),
            step_length=float(tensors["step_length"]),
            headings=tensors["headings"].numpy().astype(np.bool_) if "headings" in tensors else None,
        )
    except DAMAGE as error:
        raise BadCheckpoint(f"{path} is damaged or not a density: {error!r}") from error


def save_distance(folder: Path, tensors: Tensors, card: Card, file: str = "distance") -> None:
    """The averaged value network with its calibration."""
    checkpoint.write(model_path(folder, file), tensors, card)


def load_distance(
    folder: Path, device: torch.device | str = "cpu", file: str = "distance"
) -> tuple[TemporalDistance, Calibration]:
    """The distance of a folder and its calibration."""
    path = model_path(folder, file)
    tensors, card = checkpoint.read(path, "distance")
    with _understood(path):
        params = from_plain(DistanceParams, card["params"])
        net = checkpoint.built(lambda: ValueNet(params, Scaling.unit(params.state_dim)), tensors)
        fitted = Calibration.from_dict(card["calibration"])
    checkpoint.fill(net, tensors, path)
    return TemporalDistance(net, device), fitted


def save_denoiser(folder: Path, tensors: Tensors, card: Card) -> None:
    """The averaged denoiser with the window it was cut for."""
    checkpoint.write(model_path(folder, "denoiser"), tensors, card)


def load_denoiser(folder: Path) -> Denoiser:
    """The denoiser of a folder."""
    path = model_path(folder, "denoiser")
    tensors, card = checkpoint.read(path, "denoiser")
    with _understood(path):
        params = from_plain(DenoiserParams, card["params"])
        horizon = from_plain(WindowParams, card["window"]).horizon
        net = checkpoint.built(lambda: Denoiser(params, horizon, Scaling.unit(params.frame_dim)), tensors)
    checkpoint.fill(net, tensors, path)
    return net


def trained_window(folder: Path) -> WindowParams:
    """The window a folder's denoiser was trained on."""
    path = model_path(folder, "denoiser")
    with _understood(path):
        return from_plain(WindowParams, checkpoint.read(path, "denoiser")[1]["window"])


def save_tracker(folder: Path, tensors: Tensors, card: Card, file: str = "tracker") -> None:
    """The averaged actor with the name of its kind."""
    checkpoint.write(model_path(folder, file), tensors, card)


def load_tracker(folder: Path, file: str = "tracker", preset: str | None = None) -> SubgoalTracker:
    """The tracker of a folder, checked to belong to the preset if one is named."""
    path = model_path(folder, file)
    if not path.is_file() and files_of(folder, "tracker"):
        there = ", ".join(f"{name}.safetensors" for name in files_of(folder, "tracker"))
        raise BadCheckpoint(
            f"no checkpoint at {path}; {folder} has {there}; `chronoforest train tracker` trains others"
        )
    tensors, card = checkpoint.read(path, "tracker")
    if preset is not None:
        _check_preset(path, card, preset)
    with _understood(path):
        kind = get_tracker(card.get("tracker", TrackerParams.name))
        params = from_plain(kind.settings, card["params"])
        actor = checkpoint.built(lambda: kind.actor(params, Scaling.unit(params.observation_dim)), tensors)
    checkpoint.fill(actor, tensors, path)
    return SubgoalTracker(actor)
