"""A student denoises in few steps what its teacher does in many: each of its steps leads as far as many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import torch

from chronoforest.models import checkpoint, store
from chronoforest.models.denoiser import add_noise, mirror, to_tokens
from chronoforest.models.distance import load_distance
from chronoforest.models.fit import sample_figures
from chronoforest.models.networks import Averaged, average_of, compiled
from chronoforest.models.params import ModelParams, SamplerParams
from chronoforest.models.runs import Figures, TrainingRun
from chronoforest.models.sampler import SegmentSampler, Student, make_denoiser
from chronoforest.types import FloatArray, Query


@dataclass(frozen=True)
class LessonParams:
    """What a student learns from.

    levels: noise levels that it visits, closer together where frames take shape; teacher_step: noise levels
    from one step of the teacher to the next, as in its twenty steps; scales: guidance of the segments, world
    units: it has to follow a guided teacher, too; num_noises: how often a segment is noised: segments cost
    the teacher more steps than what is learned from them; num_segments: of the teacher; part: how many of
    them are asked for at once.
    """

    levels: tuple[int, ...] = (1000, 650, 350, 150, 0)
    teacher_step: int = 50
    scales: tuple[float, ...] = (0.0, 4.0, 8.0, 16.0)
    num_noises: int = 8
    num_segments: int = 32_768
    part: int = 8192


@dataclass(frozen=True)
class Lessons:
    """What a student learns: noisy tokens [n, t, f], normalised and in the network's order, their levels
    [n, t], 0 for the boundary, and the clean tokens that lead where the teacher's steps led."""

    noisy: torch.Tensor
    levels: torch.Tensor
    target: torch.Tensor

    def __len__(self) -> int:
        return len(self.noisy)

    def drawn(self, count: int) -> Lessons:
        """Some of them, with replacement."""
        rows = torch.randint(len(self), (count,), device=self.noisy.device)
        return Lessons(self.noisy[rows], self.levels[rows], self.target[rows])


def draw_lessons(
    teacher: SegmentSampler,
    places: FloatArray,
    reach: float,
    count: int,
    rng: np.random.Generator,
    params: LessonParams,
) -> Lessons:
    """Lessons from `count` segments that leave and arrive at places [n, d], guided toward others at most
    `reach` units away, each of them noised to one of the student's levels a few times."""
    boundary = places[rng.integers(len(places), size=count)]
    heading = rng.standard_normal(boundary.shape)
    heading *= reach * rng.random((count, 1)) / np.linalg.norm(heading, axis=1, keepdims=True)
    is_incoming = rng.random(count) < 0.5
    query = Query(boundary, boundary + heading, is_incoming, rng.choice(params.scales, size=count))
    window = torch.as_tensor(teacher(query, rng), dtype=torch.float32, device=teacher.device)
    tokens = to_tokens(teacher.scaling.normalise(window))
    is_free = torch.ones(tokens.shape[:2], dtype=torch.bool, device=teacher.device)
    is_free[:, 0] = False  # the boundary, in the network's order
    flip = torch.as_tensor(is_incoming, device=teacher.device)[:, None]
    tokens = torch.where(flip[..., None], mirror(tokens), tokens)
    is_free = torch.where(flip, is_free.flip(1), is_free)
    spans = [span for _ in range(params.num_noises) for span in pairwise(params.levels)]
    return joined([_lesson(teacher, tokens, is_free, span, params.teacher_step) for span in spans])


def joined(parts: Sequence[Lessons]) -> Lessons:
    """All lessons one after the other."""
    columns = ([getattr(part, field.name) for part in parts] for field in fields(Lessons))
    return Lessons(*map(torch.cat, columns))


def distilling_loss(student: torch.nn.Module, lessons: Lessons) -> torch.Tensor:
    """Squared error of the clean tokens, over those that are denoised."""
    error = (student(lessons.noisy, lessons.levels) - lessons.target).square().mean(dim=-1)
    is_free = lessons.levels > 0
    return (error * is_free).sum() / is_free.sum()


def _lesson(
    teacher: SegmentSampler, clean: torch.Tensor, is_free: torch.Tensor, span: tuple[int, int], step: int
) -> Lessons:
    """The clean tokens that one step over a span of levels needs to end where the teacher's many steps do."""
    first, last = span
    signal = teacher.signal
    noisy = add_noise(clean, is_free * first, signal)
    tokens = noisy
    with torch.no_grad():
        for level, next_level in pairwise([*range(first, last, -step), last]):
            guess = teacher.net(tokens, is_free * level)
            noise = (tokens - signal[level].sqrt() * guess) / (1.0 - signal[level]).sqrt()
            stepped = signal[next_level].sqrt() * guess + (1.0 - signal[next_level]).sqrt() * noise
            tokens = torch.where(is_free[..., None], stepped, tokens)
    kept = ((1.0 - signal[last]) / (1.0 - signal[first])).sqrt()
    target = (tokens - kept * noisy) / (signal[last].sqrt() - kept * signal[first].sqrt())
    return Lessons(noisy, is_free * first, target)


def fit_student_model(params: ModelParams, run: TrainingRun, lesson: LessonParams | None = None) -> Figures:
    """Distil the denoiser of the run's folder; figures are the denoiser's, from supported places."""
    torch.manual_seed(run.seed)
    density, lesson = store.load_density(run.folder), lesson or LessonParams()
    distance, _ = load_distance(run.folder, run.device)
    source = store.Stored.read(run.folder, "denoiser", preset=run.preset)
    teacher = SegmentSampler(source.filled(make_denoiser), distance, SamplerParams(), run.device)
    cells = density.origin + density.cell * np.argwhere(density.support)
    places = cells + density.cell * (np.random.default_rng(run.seed).random(cells.shape) - 0.5)
    places = places[density.margin(places) > 0]
    learner = Averaged(average_of(teacher.net).train().requires_grad_(True))
    # In parts, each as large as fits the memory; guided as far as a segment may lead.
    rng, reach = np.random.default_rng(run.seed), density.step_length * teacher.stride * teacher.horizon
    count, num_parts = min(lesson.part, lesson.num_segments), max(1, lesson.num_segments // lesson.part)
    lessons = joined([draw_lessons(teacher, places, reach, count, rng, lesson) for _ in range(num_parts)])
    loss = compiled(distilling_loss, run.device)
    loop = run.loop(params.student_training, warmup=200, weight_decay=1e-4, clip=1.0)
    known = {"teacher": checkpoint.written_content(source.path)}
    run.train("student", learner, lambda: loss(learner.net, lessons.drawn(loop.batch)), loop, known)
    tensors = checkpoint.compact(learner.net_average)
    student = Student(learner.net_average, lesson.levels)
    sampler = SegmentSampler(teacher.net, None, SamplerParams(), run.device, student)
    figures = sample_figures(sampler, density, places, params.world.jump)
    inherited = ("data", "held_out_data", "has_actions", "params", "window")
    about = {name: source.card[name] for name in inherited if name in source.card} | known
    return run.save("student", tensors, figures, loop, levels=lesson.levels, **about)
