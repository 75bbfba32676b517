"""`chronoforest train`: learn a preset's models from recordings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from chronoforest.models.fit import ModelParams
    from chronoforest.models.train import TrainParams


@dataclass(frozen=True)
class TrainOptions:
    """What to train on and where.

    Args:
        preset: one of the named configurations, such as pointmaze-giant-stitch-v0.
        distance: own, or paper for the paper's setting, which is kept beside the preset's own.
        tracker: awr, bc or diffusion-ql; the preset's own unless told. Another one is kept beside it.
        data: folder with PRESET.npz and PRESET-val.npz (`chronoforest data generate`).
        out: folder for the checkpoints; runs/PRESET unless told.
        device: cpu, cuda, or auto for the best there is.
        resume: continue saved runs in the same folder as if they had never stopped.
        steps: shorter or longer training than the preset's.
        batch: another batch size than the preset's.
        learning_rate: another learning rate than the preset's.
        init: folder of finished weights to start from, for example to go on training on new recordings.
        seed: another seed than the preset's 0.
        checkpoint_seconds: how often a running training is saved.
    """

    preset: str
    distance: str = "own"
    tracker: str | None = None
    data: Path = Path("data")
    out: Path | None = None
    device: str = "auto"
    resume: bool = False
    steps: int | None = None
    batch: int | None = None
    learning_rate: float | None = None
    init: Path | None = None
    seed: int = 0
    checkpoint_seconds: float = 60.0


Options = Annotated[TrainOptions, tyro.conf.arg(name="")]


def density(options: Options) -> None:
    """Tabulate where the recordings went."""
    _train(options, ("density",))


def distance(options: Options) -> None:
    """Train the temporal distance."""
    _train(options, ("distance",))


def denoiser(options: Options) -> None:
    """Train the denoiser (its sampled figures need the density in the same folder)."""
    _train(options, ("denoiser",))


def tracker(options: Options) -> None:
    """Train the tracker."""
    _train(options, ("tracker",))


def everything(options: Options) -> None:
    """Train density, distance, denoiser and tracker, in this order."""
    _train(options, ("density", "distance", "denoiser", "tracker"))


def _train(options: TrainOptions, kinds: tuple[str, ...]) -> None:
    from chronoforest.cli.progress import training_bar
    from chronoforest.data.episodes import load
    from chronoforest.models.cards import write_card
    from chronoforest.models.fit import FITS, Recordings, Run
    from chronoforest.models.store import tracker_file
    from chronoforest.models.train import pick_device
    from chronoforest.presets import get_preset

    preset = get_preset(options.preset)
    device = pick_device(options.device)
    recordings = Recordings(
        load(options.data / f"{preset.name}.npz"), load(options.data / f"{preset.name}-val.npz")
    )
    name = options.tracker or preset.models.tracker.name
    params = _adjusted(preset.models.with_tracker(name).with_distance(options.distance), options)
    files = {
        "tracker": tracker_file(name, preset.models.tracker.name),
        "distance": "distance" if options.distance == "own" else f"distance-{options.distance}",
    }
    folder = options.out or Path("runs") / preset.name
    for kind in kinds:
        with training_bar(f"{preset.name} {kind}") as on_progress:
            command = _command(kind, options)
            run = Run(folder, preset.name, device, options.resume, options.init, command, on_progress, files)
            figures = FITS[kind](recordings, params, run)
        write_card(folder)
        shown = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"{folder / run.file(kind)}.safetensors: {shown}", flush=True)


def _command(kind: str, options: TrainOptions) -> str:
    """The command that repeats a training, without the folders of whoever ran it."""
    words = [f"chronoforest train {kind} --preset {options.preset}"]
    defaults = TrainOptions(options.preset)
    for name in ("distance", "tracker", "steps", "batch", "learning_rate", "seed"):
        value = getattr(options, name)
        if value != getattr(defaults, name):
            words.append(f"--{name.replace('_', '-')} {value}")
    return " ".join([*words, *(["--init FOLDER"] if options.init else [])])


def _adjusted(params: ModelParams, options: TrainOptions) -> ModelParams:
    """The preset's parameters with what the command line changes."""

    def adjusted(training: TrainParams) -> TrainParams:
        changes = {
            "num_steps": options.steps,
            "batch": options.batch,
            "learning_rate": options.learning_rate,
            "seed": options.seed,
            "checkpoint_seconds": options.checkpoint_seconds,
        }
        asked = {name: value for name, value in changes.items() if value is not None}
        return replace(training, **asked)  # type: ignore[arg-type]

    return replace(
        params,
        denoiser_training=adjusted(params.denoiser_training),
        distance_training=adjusted(params.distance_training),
        tracker_training=adjusted(params.tracker_training),
    )
