"""`python -m benchmarks thin`: models learned from few recordings, for suite `thin`.

Only the learning, so that it can be done on another machine than the planning: it asks for no simulator. What
it writes there is all that the suite needs.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import chronoforest
from benchmarks.trainings import Sweep, train_all
from chronoforest.data.episodes import Episodes, flat_arrays, load, write_arrays
from chronoforest.engines import EngineChoice
from chronoforest.errors import BadDataset, WorkerDied
from chronoforest.models.fit import FITS
from chronoforest.models.params import ModelParams
from chronoforest.models.runs import Recordings, TrainingRun
from chronoforest.models.train import Progress, pick_device
from chronoforest.presets.named import get_preset
from chronoforest.presets.quality import assess

PRESET = "pointmaze-giant-stitch-v0"
COUNTS = (40, 100, 300, 1000)
"""How many of the 5000 recordings are learned from, the first ones."""

FOLDER = Path("runs/thin")
STEPS = {"density": 0, "distance": 40_000, "denoiser": 12_000}
"""How long each model is trained at most."""

SHIPPED = Path(chronoforest.__file__).parent / "weights" / PRESET


def folder_of(count: int, out: Path = FOLDER) -> Path:
    """Where the recordings and the models of a count lie."""
    return out / str(count)


def thin(
    counts: tuple[int, ...] = COUNTS,
    data: Path = Path("data"),
    out: Path = FOLDER,
    device: str = "auto",
    resume: bool = False,
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    address: str | None = None,
    gpus_per_worker: float = 0.0,
) -> None:
    """Train on the first few recordings; `run --only thin` then plans on what was learned.

    Args:
        counts: how many recordings, one training for each.
        data: folder with the recordings, of which `chronoforest data generate` makes 5000.
        out: folder for a folder of each count, with its recordings and models.
        device: cpu, cuda, or auto for the best there is.
        resume: continue saved runs in the same folder as if they had never stopped; with workers, leave out
            counts whose models are there.
        engine: local for this machine, or ray for many.
        workers: trainings at a time, each in a process of its own; one after another here unless told.
        address: of the Ray cluster; one of this machine alone is started unless told.
        gpus_per_worker: share of a GPU that a training on Ray takes.
    """
    where = EngineChoice(workers, engine, address, gpus_per_worker)
    where.check(device)
    folders = [keep_first(count, data, out) for count in counts]
    if where.is_plain:
        for folder in folders:
            train_on(folder, device, resume)
        return
    failures = train_all(SWEEP, folders, device, where.make(("benchmarks",)), resume)
    if failures:
        raise WorkerDied("; ".join(failures))


def keep_first(count: int, data: Path, out: Path = FOLDER) -> Path:
    """A folder with the first recordings and nothing else of them."""
    source = load(data / f"{PRESET}.npz")
    if not 1 <= count <= len(source):
        raise BadDataset(f"{data / PRESET}.npz has {len(source)} recordings, asked for the first {count}")
    few = Episodes(source.observations[:count], source.actions[:count])
    folder = folder_of(count, out)
    write_arrays(folder / f"{PRESET}.npz", flat_arrays(few))
    return folder


def train_on(
    folder: Path, device: str = "auto", resume: bool = False, kinds: Sequence[str] = tuple(STEPS)
) -> None:
    """Learn from the recordings in a folder, into it, and assess what was learned as `train all` does; plans
    are not walked, so any tracker will do."""
    recordings = Recordings.read(folder / f"{PRESET}.npz")
    shutil.copy(SHIPPED / "tracker.safetensors", folder)
    for kind in kinds:
        progress = partial(_report, f"{folder.name} {kind}")
        command = f"python -m benchmarks thin --counts {folder.name}"
        run = TrainingRun(folder, PRESET, pick_device(device), resume, None, command, progress)
        figures = FITS[kind](recordings, _params(), run)
        shown = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"{folder.name} {kind}: {shown}", flush=True)
    for found in assess(get_preset(PRESET), folder, recordings.held_out.xy.astype(float)):
        print(f"{folder.name} {found}", flush=True)


SWEEP = Sweep(f"{PRESET}.npz", train_on, tuple(STEPS))
"""The trainings of all counts."""


def _params() -> ModelParams:
    """As the preset has them, but shorter."""
    params = ModelParams()
    return replace(
        params,
        distance_training=replace(params.distance_training, num_steps=STEPS["distance"]),
        denoiser_training=replace(params.denoiser_training, num_steps=STEPS["denoiser"]),
    )


def _report(name: str, now: Progress) -> None:
    """A line now and then, and at the end."""
    if now.step % 2000 < now.rate or now.step == now.num_steps:
        held_out = "" if now.held_out is None else f", held out {now.held_out:.4g}"
        print(f"{name}: step {now.step}, loss {now.loss:.4g}{held_out}, {now.rate:.0f} steps/s", flush=True)
