"""A student denoises in few steps what its teacher does in many: each of its steps leads as far as many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from chronoforest.models import schedule
from chronoforest.models.denoiser import mirror, to_tokens
from chronoforest.models.sampler import SegmentSampler
from chronoforest.types import FloatArray, Query

LEVELS = (1000, 650, 350, 150, 0)
"""Noise levels that a student visits: closer together where frames take shape."""

TEACHER_STEP = 50
"""Noise levels from one step of the teacher to the next, as in its twenty steps."""

SCALES = (0.0, 4.0, 8.0, 16.0)
"""Guidance of the segments a student learns from, world units: it has to follow a guided teacher, too."""


NOISES = 8
"""How often a segment is noised: segments cost the teacher more steps than what is learned from them."""


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
    teacher: SegmentSampler, places: FloatArray, reach: float, count: int, rng: np.random.Generator
) -> Lessons:
    """Lessons from `count` segments that leave and arrive at places [n, d], guided toward others at most
    `reach` units away, each of them noised to one of the student's levels a few times."""
    tokens, is_free = _segments(teacher, places, reach, count, rng)
    parts = [_lesson(teacher, tokens, is_free, span) for _ in range(NOISES) for span in pairwise(LEVELS)]
    return joined(parts)


def joined(parts: Sequence[Lessons]) -> Lessons:
    """All lessons one after the other."""
    return Lessons(
        torch.cat([part.noisy for part in parts]),
        torch.cat([part.levels for part in parts]),
        torch.cat([part.target for part in parts]),
    )


def distilling_loss(student: torch.nn.Module, lessons: Lessons) -> torch.Tensor:
    """Squared error of the clean tokens, over those that are denoised."""
    error = (student(lessons.noisy, lessons.levels) - lessons.target).square().mean(dim=-1)
    is_free = lessons.levels > 0
    return (error * is_free).sum() / is_free.sum()


def _segments(
    teacher: SegmentSampler, places: FloatArray, reach: float, count: int, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """The teacher's segments as tokens [n, t, f], normalised and in the network's order, and which of them
    are denoised [n, t]: all but the boundary."""
    boundary = places[rng.integers(len(places), size=count)]
    heading = rng.standard_normal(boundary.shape)
    heading *= reach * rng.random((count, 1)) / np.linalg.norm(heading, axis=1, keepdims=True)
    query = Query(boundary, boundary + heading, rng.random(count) < 0.5, rng.choice(SCALES, size=count))
    window = torch.as_tensor(teacher(query, rng), dtype=torch.float32, device=teacher.device)
    tokens = to_tokens(teacher.scaling.normalise(window))
    is_free = torch.ones(tokens.shape[:2], dtype=torch.bool, device=teacher.device)
    is_free[:, 0] = False
    flip = torch.as_tensor(query.is_incoming, device=teacher.device)[:, None]
    tokens = torch.where(flip[..., None], mirror(tokens), tokens)
    return tokens, torch.where(flip, is_free.flip(1), is_free)


def _lesson(
    teacher: SegmentSampler, clean: torch.Tensor, is_free: torch.Tensor, span: tuple[int, int]
) -> Lessons:
    """The clean tokens that one step over a span of levels needs to end where the teacher's many steps do."""
    first, last = span
    signal = teacher.signal
    noisy = schedule.add_noise(clean, is_free * first, signal)
    tokens = noisy
    with torch.no_grad():
        for level, next_level in pairwise([*range(first, last, -TEACHER_STEP), last]):
            stepped = _stepped(
                tokens, teacher.net(tokens, is_free * level), signal[level], signal[next_level]
            )
            tokens = torch.where(is_free[..., None], stepped, tokens)
    kept = ((1.0 - signal[last]) / (1.0 - signal[first])).sqrt()
    target = (tokens - kept * noisy) / (signal[last].sqrt() - kept * signal[first].sqrt())
    return Lessons(noisy, is_free * first, target)


def _stepped(
    noisy: torch.Tensor, clean: torch.Tensor, signal: torch.Tensor, next_signal: torch.Tensor
) -> torch.Tensor:
    """DDIM without new noise."""
    noise = (noisy - signal.sqrt() * clean) / (1.0 - signal).sqrt()
    return next_signal.sqrt() * clean + (1.0 - next_signal).sqrt() * noise
