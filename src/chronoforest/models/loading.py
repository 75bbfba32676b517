"""Networks that were trained, put together from their files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import torch

from chronoforest.data.scaling import Scaling
from chronoforest.errors import BadCheckpoint
from chronoforest.files import reading
from chronoforest.models import checkpoint
from chronoforest.models.denoiser import Denoiser
from chronoforest.models.distance import TemporalDistance, ValueNet
from chronoforest.models.params import (
    DenoiserParams,
    DistanceParams,
    SamplerParams,
    TrackerParams,
    WindowParams,
)
from chronoforest.models.sampler import SegmentSampler, Student
from chronoforest.models.store import Stored, model_path
from chronoforest.models.tracking import SubgoalTracker, get_tracker
from chronoforest.typed import from_plain
from chronoforest.types import Calibration

log = logging.getLogger(__name__)


def load_sampler(
    folder: Path, preset: str, params: SamplerParams, distance: TemporalDistance, device: torch.device | str
) -> SegmentSampler:
    """The sampler of a folder, with its student where it has one."""
    denoiser = Stored.read(folder, "denoiser", preset=preset)
    student = _load_student(folder, preset, denoiser)
    return SegmentSampler(denoiser.filled(make_denoiser), distance, params, device, student)


def load_distance(
    folder: Path, device: torch.device | str = "cpu", file: str = "distance", preset: str | None = None
) -> tuple[TemporalDistance, Calibration]:
    """The distance of a folder and its calibration."""
    stored = Stored.read(folder, "distance", file, preset)
    net = stored.filled(_value_net)
    with reading(stored.path, "a calibrated distance", BadCheckpoint):
        return TemporalDistance(net, device), Calibration.from_dict(stored.card["calibration"])


def _value_net(stored: Stored) -> ValueNet:
    settings = dict(stored.card["params"])
    is_directed = bool(settings.pop("is_directed"))
    return ValueNet(from_plain(DistanceParams, settings), Scaling.unit(2), is_directed)


def make_denoiser(stored: Stored) -> Denoiser:
    """The network that a card describes, without its weights."""
    params = from_plain(DenoiserParams, stored.card["params"])
    return Denoiser(params, from_plain(WindowParams, stored.card["window"]), Scaling.unit(2))


def _load_student(folder: Path, preset: str, teacher: Stored) -> Student | None:
    """The student of a folder, if it has one that was distilled from this teacher."""
    if not model_path(folder, "student").is_file():
        return None
    stored = Stored.read(folder, "student", preset=preset)
    if stored.card.get("teacher") != checkpoint.written_content(teacher.path):
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
    params = from_plain(kind.settings, stored.card["params"])
    return kind.actor(params, Scaling.unit(stored.card["observation_dim"]), stored.card["action_dim"])
