"""A training run: where it reads and writes, what identifies it, and the card it leaves with a model."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from chronoforest.data.episodes import Episodes, held_out_file, load_split
from chronoforest.errors import BadCheckpoint, BadDataset
from chronoforest.files import reading
from chronoforest.models import checkpoint, store
from chronoforest.models.networks import Learner
from chronoforest.models.params import ModelParams, TrainParams
from chronoforest.models.train import LoopParams, ProgressCallback, Training, Watch
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
    def data(self) -> dict[str, Any]:
        """What a training is told from others by."""
        return {"data": self.train.fingerprint, "held_out_data": self.held_out.fingerprint}

    @property
    def card(self) -> dict[str, Any]:
        """What the card of a model tells of them."""
        return {**self.data, "frame": self.train.frame.to_dict(), "has_actions": self.train.has_actions}

    @property
    def places(self) -> FloatArray:
        """[E, T, 2] where anything was recorded that is not a test set of its own."""
        return np.concatenate([part.xy for part in self.parts]).astype(float)

    @property
    def owner(self) -> IntArray:
        """[E] which recording each of the places belongs to."""
        known = [part.recording for part in self.parts if part.recording is not None]
        return np.concatenate(known) if len(known) == len(self.parts) else np.arange(len(self.places))

    @property
    def parts(self) -> tuple[Episodes, ...]:
        """All but a test set of its own: what was held out only to stop a training in time was driven too,
        and few recordings need it."""
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
            with reading(found.path, "weights of this model", BadCheckpoint):
                for network in networks:
                    checkpoint.fill(network, found.arrays)

    def train(
        self,
        kind: str,
        learner: Learner,
        draw_loss: Callable[[], torch.Tensor],
        params: LoopParams,
        about: Mapping[str, Any],
        watch: Watch | None = None,
    ) -> None:
        """Run the loop to its end, continuing a saved run where asked; about: what else tells this run from
        others; watch: may end it early, and then has the best weights kept."""
        about = {"model": kind, "preset": self.preset, "started_from": self._origin(kind), **about}
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
        values: checkpoint.Values,
        figures: Figures,
        loop: LoopParams | None = None,
        watch: Watch | None = None,
        **about: Any,
    ) -> Figures:
        """Write a model with its card (command, time, device, training, `about`) and return its figures."""
        card = {
            "kind": kind,
            "preset": self.preset,
            "training": loop and asdict(loop),
            "command": self.command,
            "started_from": self._origin(kind),
            "device": device_name(self.device),
            "seconds": round(time.monotonic() - self.started, 1),
            **about,
            **({"watch": watch.to_dict()} if watch else {}),
            "figures": figures,
        }
        checkpoint.write(store.model_path(self.folder, self.file(kind)), values, card)
        return figures

    def _origin(self, kind: str) -> Mapping[str, Any] | None:
        """What made the weights the run starts from, None for random ones."""
        if self.init is None or kind in ("density", store.STUDENT):
            return None
        card = store.Stored.read(self.init, kind, self.file(kind)).card
        return {key: card.get(key) for key in ("command", "data", "device", "training", "started_from")}


def device_name(device: torch.device) -> str:
    """What a card calls the machine."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()


def refuse_untrainable(recordings: Recordings, params: ModelParams, kinds: Sequence[str]) -> None:
    """Raise what stands in the way of training models of these kinds, the first that is found."""
    distance = params.distance
    window = "models.window.stride", params.window.stride
    strides = {"distance": ("models.distance.backup", distance.backup), "denoiser": window}
    if params.world.is_one_way:
        strides["density"] = window
    needs_actions = distance.has_action_values and not distance.has_moves_for_actions
    for kind in kinds:
        for part in (recordings.train, recordings.held_out):
            setting, stride = strides.get(kind, ("", 0))
            if part.num_steps < 2 * stride:  # something must come after something
                raise BadDataset(
                    f"the {kind} cannot be trained: recordings of {part.num_steps} rows are shorter than the "
                    f"{2 * stride} that {setting} = {stride} needs; import longer ones (`chronoforest data "
                    "import --help`: a larger --max-gap cuts less), let `chronoforest preset new` propose a "
                    f"preset for these, or set {setting} to {part.num_steps // 2} or less"
                )
            if kind == "distance" and needs_actions and not part.has_actions:
                raise BadDataset(
                    "the distance cannot be trained: no actions were recorded; "
                    "set models.distance.has_moves_for_actions to true"
                )
