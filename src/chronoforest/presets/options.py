"""What `train_preset` and `chronoforest train` take; apart, because neither asks for torch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from chronoforest.errors import BadDataset, require_at_least, require_positive
from chronoforest.names import check_models, full_name


@dataclass(frozen=True)
class TrainOptions:
    """What to train on and where.

    Args:
        preset: a named configuration such as pointmaze-giant-stitch-v0, or a TOML file of your own.
        distance: own, or paper for the paper's setting, which is kept beside the preset's own.
        tracker: awr, bc or diffusion-ql; the preset's own unless given. Another one is kept beside it.
        data: a dataset, or a folder with PRESET.npz; what the preset names, or data/PRESET.npz, unless given.
            NAME-val.npz beside it is held out; where there is none, a tenth of the recordings is.
        quick: small models and short training: minutes on two cores, good enough for a first plan.
        out: folder for the checkpoints; runs/PRESET unless given.
        device: cpu, cuda, or auto for the best there is.
        resume: continue saved runs in the same folder as if they had never stopped.
        steps: shorter or longer training than the preset's.
        batch: another batch size than the preset's.
        learning_rate: another learning rate than the preset's.
        patience: share of the steps after which training ends with the best weights so far, when the error on
            held-out recordings is no better for so long; the preset's 0.2 unless given, 0 for never.
        init: folder of finished weights to start from, for example to go on training on new recordings.
        seed: another seed than the preset's 0.
        checkpoint_seconds: how often a running training is saved.
    """

    preset: str
    distance: str = "own"
    tracker: str | None = None
    data: Path | None = None
    quick: bool = False
    out: Path | None = None
    device: str = "auto"
    resume: bool = False
    steps: int | None = None
    batch: int | None = None
    learning_rate: float | None = None
    patience: float | None = None
    init: Path | None = None
    seed: int = 0
    checkpoint_seconds: float = 60.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "preset", full_name(self.preset))

    def check(self) -> None:
        """Refuse what cannot be trained with, before anything is imported that takes time."""
        check_models(self.preset, self.tracker, self.distance, self.device)
        require_at_least(self, 1, "steps", "batch")
        if self.learning_rate is not None:
            require_positive(self, "learning_rate")
        if self.data is not None and not os.path.exists(self.data):
            raise BadDataset(f"{self.data}: no such file; `chronoforest data import` or `generate` makes one")

    def command(self, kind: str) -> str:
        """The command that repeats the training of a model, without the folders of whoever ran it."""
        words = [f"chronoforest train {kind} --preset {self.preset}"]
        defaults = TrainOptions(self.preset)
        for name in ("distance", "tracker", "steps", "batch", "learning_rate", "patience", "seed"):
            value = getattr(self, name)
            if value != getattr(defaults, name):
                words.append(f"--{name.replace('_', '-')} {value}")
        flags = {"--quick": self.quick, "--init FOLDER": self.init is not None}
        return " ".join([*words, *(flag for flag, is_set in flags.items() if is_set)])
