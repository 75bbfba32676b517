"""Learning the models of a preset from recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from chronoforest.models.distil import fit_student_model
from chronoforest.models.fit import FITS
from chronoforest.models.params import ModelParams
from chronoforest.models.runs import Figures, Recordings, TrainingRun, refuse_untrainable
from chronoforest.models.store import KINDS, STUDENT, Stored, distance_file, model_path, write_card
from chronoforest.models.train import Progress, early_end, pick_device
from chronoforest.presets.named import Preset, get_preset
from chronoforest.presets.options import TrainOptions
from chronoforest.presets.quality import assess
from chronoforest.presets.roadmaps import keep_roadmap
from chronoforest.roadmap.roadmap import build_roadmap
from chronoforest.roadmap.states import tracks_of


@dataclass(frozen=True)
class TrainedModel:
    """A model that is learned and written: its kind, its file, how good it turned out, and a sentence where
    its training ended early."""

    kind: str
    path: Path
    figures: Figures
    note: str = ""


def train_preset(
    options: TrainOptions,
    kinds: Sequence[str] = (*KINDS, STUDENT),
    on_progress: Callable[[str, Progress], None] | None = None,
) -> Iterator[TrainedModel]:
    """Learn models of a preset one after the other; yields each when it is written, with a new card.

    Recordings that cannot be learned from are refused before any work. In the end the models are assessed,
    and their marks lie beside them.

    Of several kinds the tracker is left out where no actions were recorded, and the student of quick models,
    which are quick without. A student alone learns from the finished denoiser, without recordings. Every
    model is saved while it trains; stopped, the same options with `resume` go on. on_progress: called with a
    kind and its progress about once a second.
    """
    preset = get_preset(options.preset)
    device = pick_device(options.device)
    if options.quick:
        torch.set_num_threads(1)  # small products gain little from two, and two on busy cores are far slower
    recordings = Recordings.read(_dataset(options, preset)) if set(kinds) != {STUDENT} else None
    params = _model_params(options, preset)
    if len(kinds) > 1:
        has_actions = recordings is None or recordings.train.has_actions
        left_out = {STUDENT: options.quick, "tracker": not has_actions}
        kinds = [kind for kind in kinds if not left_out.get(kind)]
    if recordings is not None:
        refuse_untrainable(recordings, params, kinds)
    folder, distance = options.out or preset.runs, distance_file(options.distance)
    for kind in kinds:
        run = TrainingRun(
            folder,
            preset.name,
            device,
            options.resume,
            options.init,
            options.command(kind),
            partial(on_progress, kind) if on_progress is not None else None,
            {"tracker": preset.tracker_file(options.tracker), "distance": distance},
            options.seed,
            options.checkpoint_seconds,
        )
        if kind == STUDENT or recordings is None:
            figures = fit_student_model(params, run)
        else:
            figures = FITS[kind](recordings, params, run)
            if kind == "density" and preset.file is not None:
                _keep_roadmap(preset, recordings, run.folder)
        write_card(run.folder)
        watch = Stored.read(run.folder, kind, run.file(kind)).card.get("watch", {})
        yield TrainedModel(kind, model_path(run.folder, run.file(kind)), figures, early_end(watch))
    needed = (model_path(folder, name) for name in ("density", distance, "denoiser"))
    if recordings is not None and all(path.is_file() for path in needed):
        assess(preset, folder, recordings.held_out.xy.astype(float), distance)


def _keep_roadmap(preset: Preset, recordings: Recordings, folder: Path) -> None:
    """Make the roadmap of a world of one's own: where plans lead without any network."""
    tracks = [track for part in recordings.parts for track in tracks_of(part)]
    step = recordings.train.frame.step_seconds or 1.0
    tracks = [replace(track, time=track.time / step) for track in tracks]
    roadmap = build_roadmap(tracks, both_ways=not preset.world.is_one_way)
    keep_roadmap(folder, roadmap, preset.name, recordings.train.fingerprint)


def _model_params(options: TrainOptions, preset: Preset) -> ModelParams:
    """What the preset learns, as the options want it."""
    models = preset.models.quick() if options.quick else preset.models
    if options.tracker is not None:
        models = models.with_tracker(options.tracker)
    if options.patience is not None:
        models = replace(models, patience=options.patience)
    return models.with_distance(options.distance).with_training(
        num_steps=options.steps, batch=options.batch, learning_rate=options.learning_rate
    )


def _dataset(options: TrainOptions, preset: Preset) -> Path:
    """The file to train on."""
    if options.data is None:
        return preset.recordings
    return options.data if options.data.suffix == ".npz" else options.data / f"{preset.name}.npz"
