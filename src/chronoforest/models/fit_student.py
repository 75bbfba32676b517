"""Training of a student: it learns from the models in its folder alone, without recordings."""

from __future__ import annotations

import time
from dataclasses import asdict

import numpy as np
import torch

from chronoforest.models import checkpoint, store
from chronoforest.models.denoiser import Denoiser
from chronoforest.models.density import GridDensity
from chronoforest.models.distil import LEVELS, Lessons, distilling_loss, draw_lessons, joined
from chronoforest.models.fit import sample_figures
from chronoforest.models.params import ModelParams
from chronoforest.models.runs import Figures, TrainingRun, device_name
from chronoforest.models.sampler import SamplerParams, SegmentSampler, Student
from chronoforest.models.train import Learner, Training, average_of, compiled
from chronoforest.types import FloatArray

LOOP = {"warmup": 200, "weight_decay": 1e-4, "clip": 1.0}
"""How the training differs from `LoopParams`, whatever the preset."""

NUM_SEGMENTS, PART = 32_768, 8192
"""Segments of the teacher's that a student learns from, and how many of them are asked for at once."""

INHERITED = ("preset", "data", "held_out_data", "has_actions", "params", "window")
"""What a student's card says as its teacher's does."""


class _StudentLearner(Learner):
    """A student, which begins as its teacher, and its average."""

    def __init__(self, teacher: Denoiser) -> None:
        super().__init__()
        self.net = average_of(teacher).train().requires_grad_(True)
        self.net_average = average_of(teacher)


def fit_student_model(params: ModelParams, run: TrainingRun) -> Figures:
    """Distil the denoiser of the run's folder; figures are the denoiser's, from supported places."""
    torch.manual_seed(run.seed)
    density = store.load_density(run.folder)
    distance, _ = store.load_distance(run.folder, run.device)
    source = store.Stored.read(run.folder, "denoiser", preset=run.preset)
    teacher = SegmentSampler(source.filled(store.make_denoiser), distance, SamplerParams(), run.device)
    places = _supported(density, run.seed)
    learner, lessons = _StudentLearner(teacher.net), _lessons(teacher, places, density.step_length, run.seed)
    loss, loop = compiled(distilling_loss, run.device), run.loop(params.student_training, **LOOP)
    about = {"model": "student", "preset": run.preset, "teacher": checkpoint.content_hash(source.tensors)}

    def draw_loss() -> torch.Tensor:
        return loss(learner.net, lessons.drawn(loop.batch))

    training = Training(learner, draw_loss, learner.averages(), loop, run.device, about)
    path = run.folder / "student.training.safetensors"
    if run.is_resumed and path.is_file():
        training.resume(path)
    training.run(path, run.on_progress)
    tensors = checkpoint.compact(learner.net_average)
    sampler = SegmentSampler(
        teacher.net, None, SamplerParams(), run.device, Student(learner.net_average, LEVELS)
    )
    figures = sample_figures(sampler, density, places, params.world.jump)
    card = {
        "kind": "student",
        **{name: source.card[name] for name in INHERITED if name in source.card},
        "levels": LEVELS,
        "teacher": about["teacher"],
        "training": asdict(loop),
        "command": run.command,
        "device": device_name(run.device),
        "seconds": round(time.monotonic() - run.started, 1),
        "figures": figures,
    }
    checkpoint.write(store.model_path(run.folder, "student"), tensors, card)
    return figures


def _supported(density: GridDensity, seed: int) -> FloatArray:
    """[n, d] supported places, one in every cell."""
    cells = density.origin + density.cell * np.argwhere(density.support)
    places = cells + density.cell * (np.random.default_rng(seed).random(cells.shape) - 0.5)
    return np.asarray(places[density.margin(places) > 0])


def _lessons(teacher: SegmentSampler, places: FloatArray, step_length: float, seed: int) -> Lessons:
    """Lessons in parts, each as large as fits the memory; guided as far as a segment may lead."""
    rng, reach = np.random.default_rng(seed), step_length * teacher.stride * teacher.horizon
    parts = max(1, NUM_SEGMENTS // PART)
    return joined([draw_lessons(teacher, places, reach, min(PART, NUM_SEGMENTS), rng) for _ in range(parts)])
