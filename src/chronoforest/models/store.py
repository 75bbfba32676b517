"""The files of a preset's weights: what is written for each model, and how it is put together again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from chronoforest.data.frames import Frame
from chronoforest.data.scaling import Scaling
from chronoforest.data.windows import WindowParams
from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.files import reading
from chronoforest.models import checkpoint
from chronoforest.models.denoiser import FRAME_DIM, Denoiser, DenoiserParams
from chronoforest.models.density import GridDensity
from chronoforest.models.distance import STATE_DIM, DistanceParams, TemporalDistance, ValueNet
from chronoforest.models.sampler import SamplerParams, SegmentSampler, Student
from chronoforest.models.tracking.kinds import get_tracker
from chronoforest.models.tracking.regression import SubgoalTracker, TrackerParams
from chronoforest.typed import from_plain
from chronoforest.types import BoolArray, Calibration, Support

log = logging.getLogger(__name__)

KINDS = ("density", "distance", "denoiser", "tracker")
STUDENT = "student"
"""What a folder of weights holds, and what it may hold besides."""

OLD_NAMES = {"averages_luck": "has_action_values", "acts_by_moving": "has_moves_for_actions"}
"""What cards of earlier versions call parameters, and their names now."""

FIXED_NOW = {
    *("state_dim", "latent", "frame_dim", "frames_per_token", "num_heads", "feed_forward", "num_layers"),
    *("padded_share", "max_late", "random_share", "discount", "expectile", "temperature", "largest_weight"),
}
"""Parameters in cards of earlier versions that are constants now, or follow from others."""

Tensors = Mapping[str, torch.Tensor]
Card = Mapping[str, Any]

_Module = TypeVar("_Module", bound=torch.nn.Module)


@dataclass(frozen=True)
class Models:
    """Everything the planner and the execution learned from the recordings; there is no tracker where no
    actions were recorded, and no frame in weights of earlier versions."""

    sampler: SegmentSampler
    distance: TemporalDistance
    calibration: Calibration
    density: GridDensity
    tracker: SubgoalTracker | None
    frame: Frame | None = None

    @property
    def support(self) -> Support:
        """The supported region, for pictures."""
        return Support(self.density.origin, self.density.cell, self.density.support)

    @property
    def step_length(self) -> float:
        """World units that hardly any recording exceeded in one step."""
        return self.density.step_length

    @property
    def gap(self) -> float:
        """World units that recordings lie apart where they are thin; 0 where that was not measured."""
        return self.density.gap


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


@dataclass(frozen=True)
class Stored:
    """A model's file as it was read."""

    path: Path
    tensors: Tensors
    card: Card

    @classmethod
    def read(cls, folder: Path, kind: str, file: str = "", preset: str | None = None) -> Stored:
        """The file of a kind, by its name without the ending; checked to belong to the preset if one is
        named."""
        path = model_path(folder, file or kind)
        there = ", ".join(f"{name}.safetensors" for name in files_of(folder, kind))
        if there and not path.is_file():
            raise BadCheckpoint(
                f"no checkpoint at {path}; {folder} has {there}; `chronoforest train {kind}` trains others"
            )
        tensors, card = checkpoint.read(path, kind)
        if preset is not None and card.get("preset") != preset:
            raise BadCheckpoint(
                f"{path} was trained for {card.get('preset')!r}, not for {preset!r}; "
                f"train it with `chronoforest train all --preset {preset}`"
            )
        return cls(path, tensors, card)

    def settings(self, kind: type[Any], part: str = "params") -> dict[str, Any]:
        """What the card says about parameters of a kind, by their names now."""
        known = {field.name for field in fields(kind)}
        named = {OLD_NAMES.get(name, name): value for name, value in self.card[part].items()}
        return {name: value for name, value in named.items() if name in known or name not in FIXED_NOW}

    def filled(self, make: Callable[[Stored], _Module]) -> _Module:
        """The network that the card describes, with these weights; a card from another version, or a damaged
        one, is a bad checkpoint and not a programming error."""
        with reading(self.path, "a model that this version can build", BadCheckpoint):
            net = checkpoint.built(lambda: make(self), self.tensors)
        checkpoint.fill(net, self.tensors, self.path)
        return net


def load_models(
    folder: Path,
    preset: str,
    sampler: SamplerParams,
    device: torch.device | str = "cpu",
    tracker: str | None = "tracker",
    distance: str = "distance",
) -> Models:
    """All models of a preset, each checked to belong to it; tracker, distance: their files without the
    ending, no tracker where that is None. A folder may have no student."""
    density = Stored.read(folder, "density", preset=preset)
    measure, fitted = load_distance(folder, device, distance, preset)
    denoiser = Stored.read(folder, "denoiser", preset=preset)
    student = _load_student(folder, preset, denoiser)
    can_walk = tracker is not None and density.card.get("has_actions", True)
    return Models(
        sampler=SegmentSampler(denoiser.filled(make_denoiser), measure, sampler, device, student),
        distance=measure,
        calibration=fitted,
        density=_density(density),
        tracker=load_tracker(folder, tracker or "tracker", preset) if can_walk else None,
        frame=_frame(density),
    )


def _frame(stored: Stored) -> Frame | None:
    if "frame" not in stored.card:
        return None
    with reading(stored.path, "a model with a frame", BadCheckpoint):
        return Frame.from_dict(stored.card["frame"])


def density_tensors(density: GridDensity) -> dict[str, torch.Tensor]:
    """Tables in half precision and bits."""
    tensors = {
        "log_table": torch.as_tensor(density.log_table).half(),
        "support": torch.as_tensor(density.support),
        "origin": torch.as_tensor(density.origin),
        "cell": torch.tensor(density.cell, dtype=torch.float64),
        "step_length": torch.tensor(density.step_length, dtype=torch.float64),
    }
    if density.headings is not None:
        tensors["heading_bits"] = torch.as_tensor(np.packbits(density.headings, axis=0))
    if density.gap:
        tensors["gap"] = torch.tensor(density.gap, dtype=torch.float64)
    return tensors


def load_density(folder: Path) -> GridDensity:
    """The density of a folder."""
    return _density(Stored.read(folder, "density"))


def _density(stored: Stored) -> GridDensity:
    tensors = stored.tensors
    with reading(stored.path, "a density", BadCheckpoint):
        return GridDensity(
            origin=tensors["origin"].numpy(),
            cell=float(tensors["cell"]),
            log_table=tensors["log_table"].double().numpy(),
            support=tensors["support"].numpy().astype(np.bool_),
            step_length=float(tensors["step_length"]),
            headings=_headings(tensors),
            gap=float(tensors["gap"]) if "gap" in tensors else 0.0,
        )


def _headings(tensors: Tensors) -> BoolArray | None:
    """[sectors, nx, ny] as bits, or a byte each in older files; None where directions do not matter."""
    if "heading_bits" in tensors:
        return np.unpackbits(tensors["heading_bits"].numpy(), axis=0).astype(np.bool_)
    return tensors["headings"].numpy().astype(np.bool_) if "headings" in tensors else None


def load_distance(
    folder: Path, device: torch.device | str = "cpu", file: str = "distance", preset: str | None = None
) -> tuple[TemporalDistance, Calibration]:
    """The distance of a folder and its calibration."""
    stored = Stored.read(folder, "distance", file, preset)
    net = stored.filled(_value_net)
    with reading(stored.path, "a calibrated distance", BadCheckpoint):
        return TemporalDistance(net, device), Calibration.from_dict(stored.card["calibration"])


def _value_net(stored: Stored) -> ValueNet:
    settings = stored.settings(DistanceParams)
    is_directed = bool(settings.pop("is_directed"))
    return ValueNet(from_plain(DistanceParams, settings), Scaling.unit(STATE_DIM), is_directed)


def make_denoiser(stored: Stored) -> Denoiser:
    """The network that a card describes, without its weights."""
    params = from_plain(DenoiserParams, stored.settings(DenoiserParams))
    num_heads = stored.card["params"].get("num_heads", params.num_heads)
    if num_heads != params.num_heads:
        raise InvalidParameter(f"width {params.width} has {params.num_heads} heads now, it has {num_heads}")
    window = from_plain(WindowParams, stored.settings(WindowParams, "window"))
    return Denoiser(params, window, Scaling.unit(FRAME_DIM))


def _load_student(folder: Path, preset: str, teacher: Stored) -> Student | None:
    """The student of a folder, if it has one that was distilled from this teacher."""
    if not model_path(folder, "student").is_file():
        return None
    stored = Stored.read(folder, "student", preset=preset)
    if stored.card.get("teacher") != checkpoint.content_hash(teacher.tensors):
        log.warning(
            "%s was distilled from another denoiser and is not used; `chronoforest train student` helps",
            stored.path,
        )
        return None
    net = stored.filled(make_denoiser)
    with reading(stored.path, "a student", BadCheckpoint):
        return Student(net, tuple(int(level) for level in stored.card["levels"]))


def load_tracker(folder: Path, file: str = "tracker", preset: str | None = None) -> SubgoalTracker:
    """The tracker of a folder, checked to belong to the preset if one is named."""
    return SubgoalTracker(Stored.read(folder, "tracker", file, preset).filled(_actor))


def _actor(stored: Stored) -> Any:
    kind = get_tracker(stored.card.get("tracker", TrackerParams.name))
    params = from_plain(kind.settings, stored.settings(kind.settings))
    return kind.actor(params, Scaling.unit(params.observation_dim))
