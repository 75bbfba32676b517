"""A training run: where it reads and writes, what identifies it, and the card it leaves with a model."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from chronoforest.data.episodes import Episodes, held_out_file, load_split
from chronoforest.models import checkpoint, store
from chronoforest.models.train import Learner, LoopParams, ProgressCallback, Training, TrainParams
from chronoforest.models.watch import Watch
from chronoforest.types import FloatArray, IntArray

Figures = dict[str, float]


@dataclass(frozen=True)
class Recordings:
    """Training and held-out episodes; is_divided: they were one set that was divided for the training."""

    train: Episodes
    held_out: Episodes
    is_divided: bool = False

    @classmethod
    def read(cls, path: Path) -> Recordings:
        """The training file and its held-out one, or one file divided where it is alone."""
        return cls(*load_split(path), is_divided=not held_out_file(path).is_file())

    @property
    def places(self) -> FloatArray:
        """[E, T, 2] where anything was recorded that is not a test set of its own.

        What was held out only to stop a training in time has been driven too, and few recordings need it.
        """
        return np.concatenate([part.xy for part in self._recorded]).astype(float)

    @property
    def owner(self) -> IntArray:
        """[E] which recording each of the places belongs to."""
        labels = [part.recording for part in self._recorded]
        known = [label for label in labels if label is not None]
        return np.concatenate(known) if len(known) == len(labels) else np.arange(len(self.places))

    @property
    def _recorded(self) -> tuple[Episodes, ...]:
        return (self.train, self.held_out) if self.is_divided else (self.train,)


@dataclass(frozen=True)
class TrainingRun:
    """Where and how to train: the folder of the checkpoints, the preset's name, the device.

    init: folder of finished weights to start from instead of random ones. files: names without their ending
    of the files of models that lie beside the preset's own, by kind. checkpoint_seconds: how often a running
    training is saved. started: by `time.monotonic`.
    """

    folder: Path
    preset: str
    device: torch.device
    is_resumed: bool = False
    init: Path | None = None
    command: str = ""
    on_progress: ProgressCallback | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    checkpoint_seconds: float = 60.0
    started: float = field(default_factory=time.monotonic)

    def file(self, kind: str) -> str:
        """Name of a model's file, without its ending."""
        return self.files.get(kind, kind)

    def loop(self, params: TrainParams, **details: Any) -> LoopParams:
        """A model's training in this run; details: what every preset has in common."""
        return LoopParams(
            **asdict(params), **details, seed=self.seed, checkpoint_seconds=self.checkpoint_seconds
        )

    def start_from(self, kind: str, *networks: nn.Module) -> None:
        """Fill networks with the finished weights the run starts from, if any."""
        if self.init is not None:
            found = store.Stored.read(self.init, kind, self.file(kind))
            for network in networks:
                checkpoint.fill(network, found.tensors, found.path)

    def train(
        self,
        kind: str,
        learner: Learner,
        draw_loss: Callable[[], torch.Tensor],
        params: LoopParams,
        settings: Mapping[str, Any],
        recordings: Recordings,
        watch: Watch | None = None,
    ) -> None:
        """Run the loop to its end, continuing a saved run where asked; settings: of what is trained; watch:
        may end it early, and then has the best weights kept."""
        about = {
            "model": kind,
            "settings": settings,
            "preset": self.preset,
            "data": recordings.train.fingerprint,
            "held_out_data": recordings.held_out.fingerprint,
            "started_from": self._origin(kind),
        }
        training = Training(learner, draw_loss, learner.averages(), params, self.device, about, watch)
        path = self.folder / f"{self.file(kind)}.training.safetensors"
        if self.is_resumed and path.is_file():
            training.resume(path)
        training.run(path, self.on_progress)
        if watch is not None:
            watch.keep_best()

    def save(
        self,
        kind: str,
        tensors: Mapping[str, torch.Tensor],
        recordings: Recordings,
        figures: Figures,
        **about: Any,
    ) -> Figures:
        """Write a model with its card (command, seed, data, time, device, `about`) and return its figures."""
        card = {
            "kind": kind,
            "preset": self.preset,
            "training": None,
            "data": recordings.train.fingerprint,
            "held_out_data": recordings.held_out.fingerprint,
            "frame": recordings.train.frame.to_dict(),
            "has_actions": recordings.train.has_actions,
            "command": self.command,
            "started_from": self._origin(kind) if kind != "density" else None,
            "device": device_name(self.device),
            "seconds": round(time.monotonic() - self.started, 1),
            **about,
            "figures": figures,
        }
        checkpoint.write(store.model_path(self.folder, self.file(kind)), tensors, card)
        return figures

    def _origin(self, kind: str) -> Mapping[str, Any] | None:
        """What made the weights the run starts from, None for random ones."""
        if self.init is None:
            return None
        card = store.Stored.read(self.init, kind, self.file(kind)).card
        return {key: card.get(key) for key in ("command", "data", "device", "training", "started_from")}


def device_name(device: torch.device) -> str:
    """What a card calls the machine."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
