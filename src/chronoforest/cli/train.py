"""`chronoforest train`: learn a preset's models from recordings."""

from __future__ import annotations

from typing import Annotated

import tyro

from chronoforest.presets.options import TrainOptions

Options = Annotated[TrainOptions, tyro.conf.arg(name="")]


def density(options: Options) -> None:
    """Tabulate where the recordings went."""
    _train(options, "density")


def distance(options: Options) -> None:
    """Train the temporal distance."""
    _train(options, "distance")


def denoiser(options: Options) -> None:
    """Train the denoiser (its sampled figures need the density in the same folder)."""
    _train(options, "denoiser")


def student(options: Options) -> None:
    """Distil the denoiser of the same folder to few steps; needs no recordings."""
    _train(options, "student")


def tracker(options: Options) -> None:
    """Train the tracker."""
    _train(options, "tracker")


def everything(options: Options) -> None:
    """Train density, distance, denoiser, tracker and student, in this order."""
    _train(options, "density", "distance", "denoiser", "tracker", "student")


def _train(options: TrainOptions, *kinds: str) -> None:
    options.check()
    from chronoforest.cli.terminal import training_bar
    from chronoforest.presets.quality import read_marks, verdicts
    from chronoforest.presets.training import train_preset

    done = []
    with training_bar(options.preset) as on_progress:
        for model in train_preset(options, kinds, on_progress):
            shown = ", ".join(f"{name} {value:.4g}" for name, value in model.figures.items())
            note = f"; {model.note}" if model.note else ""
            print(f"{model.path}: {shown}{note}", flush=True)
            done.append(model.kind)
    for one in verdicts(read_marks(model.path.parent)):
        print(f"{model.path.parent}: {one.about} {one}")
    if "tracker" in kinds and "tracker" not in done:
        print("the recordings have no actions: no tracker is trained; plans can be made but not walked")
