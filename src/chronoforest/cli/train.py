"""`chronoforest train`: learn a preset's models from recordings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from chronoforest.models.fit import ModelParams
    from chronoforest.models.train import TrainParams
    from chronoforest.presets.named import Preset


@dataclass(frozen=True)
class TrainOptions:
    """What to train on and where.

    Args:
        preset: a named configuration such as pointmaze-giant-stitch-v0, or a TOML file of your own.
        distance: own, or paper for the paper's setting, which is kept beside the preset's own.
        tracker: awr, bc or diffusion-ql; the preset's own unless told. Another one is kept beside it.
        data: a dataset, or a folder with PRESET.npz; what the preset names, or data/PRESET.npz, unless told.
            NAME-val.npz beside it is held out; where there is none, a tenth of the recordings is.
        quick: small models and short training: minutes on two cores, good enough for a first plan.
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
    data: Path | None = None
    quick: bool = False
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
    from chronoforest.data.episodes import load_split
    from chronoforest.models.cards import write_card
    from chronoforest.models.fit import FITS, Recordings, Run
    from chronoforest.models.store import distance_file, tracker_file
    from chronoforest.models.train import pick_device
    from chronoforest.presets.named import get_preset

    preset = get_preset(options.preset)
    device = pick_device(options.device)
    if options.quick:
        _use_one_thread()
    recordings = Recordings(*load_split(_dataset(options.data, preset)))
    if not recordings.train.has_actions and kinds[-1] == "tracker" and len(kinds) > 1:
        print("the recordings have no actions: no tracker is trained; plans can be made but not walked")
        kinds = kinds[:-1]
    name = options.tracker or preset.models.tracker.name
    models = preset.models.quick() if options.quick else preset.models
    params = _adjusted(models.with_tracker(name).with_distance(options.distance), options)
    files = {
        "tracker": tracker_file(name, preset.models.tracker.name),
        "distance": distance_file(options.distance),
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


def _use_one_thread() -> None:
    """Small products gain little from a second thread, and two on busy cores are far slower than one."""
    import torch

    torch.set_num_threads(1)


def _dataset(data: Path | None, preset: Preset) -> Path:
    """The file to train on."""
    if data is None:
        return preset.recordings
    return data if data.suffix == ".npz" else data / f"{preset.name}.npz"


def _command(kind: str, options: TrainOptions) -> str:
    """The command that repeats a training, without the folders of whoever ran it."""
    words = [f"chronoforest train {kind} --preset {options.preset}"]
    defaults = TrainOptions(options.preset)
    for name in ("distance", "tracker", "steps", "batch", "learning_rate", "seed"):
        value = getattr(options, name)
        if value != getattr(defaults, name):
            words.append(f"--{name.replace('_', '-')} {value}")
    flags = {"--quick": options.quick, "--init FOLDER": options.init is not None}
    return " ".join([*words, *(flag for flag, is_set in flags.items() if is_set)])


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
