"""Guided sampling of segments: DDIM on tokens, together or one after another, x̂_0 corrected by the paper's
three scores (appendix A)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from chronoforest import cancellation
from chronoforest.data.scaling import Scaling
from chronoforest.errors import BadCheckpoint, InvalidParameter
from chronoforest.files import reading
from chronoforest.models import checkpoint
from chronoforest.models.denoiser import (
    Denoiser,
    mirror,
    sampling_levels,
    signal_table,
    to_tokens,
    to_window,
    token_levels,
)
from chronoforest.models.distance import TemporalDistance
from chronoforest.models.networks import Captured, filled
from chronoforest.models.params import (
    FRAMES_PER_TOKEN,
    DenoiserParams,
    GuidanceParams,
    SamplerParams,
    WindowParams,
    num_tokens,
)
from chronoforest.models.store import STUDENT, Stored, model_path
from chronoforest.typed import from_plain
from chronoforest.types import FloatArray, Noise, Query

log = logging.getLogger(__name__)

ANCHOR_WEIGHT = 0.1
"""Of U_anchor against U_goal."""

STEP_RATE, LARGEST_STEP = 0.2, 1.0
"""η = min(LARGEST_STEP, STEP_RATE · √((1−ᾱ)/ᾱ))."""


@dataclass(frozen=True)
class Student:
    """A network distilled to denoise in few steps; levels: the noise levels it visits, from all noise to
    none."""

    net: Denoiser
    levels: tuple[int, ...]


class SegmentSampler:
    """The planner's `Sampler`: one batched call for all leaves, each row with its own target.

    Without a distance only unguided rows can be sampled. Where there is a student and its steps are allowed,
    it denoises instead of the network.
    """

    def __init__(
        self,
        net: Denoiser,
        distance: TemporalDistance | None,
        params: SamplerParams,
        device: torch.device | str = "cpu",
        student: Student | None = None,
    ) -> None:
        self.teacher, self.student = net, student
        self.levels = sampling_levels(params.num_steps)
        if student is not None and params.num_steps >= len(student.levels) - 1:
            net, self.levels = student.net, student.levels
        self.net = net.to(device).eval().requires_grad_(False)
        self.scaling = self.net.scaling
        self.distance = distance
        self.params = params
        self.device = torch.device(device)
        self.horizon, self.stride = net.window.horizon, net.window.stride
        self.signal = signal_table(self.device)
        num_generated = num_tokens(self.horizon) - 1
        self._token_levels = token_levels(self.levels, num_generated, params.token_lag).to(device)
        self._loop: Captured | None = None
        if self.device.type == "cuda" and distance is not None:
            self._loop = Captured(lambda noise, *rows: self._denoise_fully(noise, _Rows(*rows)))

    def guided_by(self, **changes: Any) -> SegmentSampler:
        """The same sampler with other guidance parameters."""
        return self._with(replace(self.params, guidance=replace(self.params.guidance, **changes)))

    def in_steps(self, num_steps: int) -> SegmentSampler:
        """The same sampler with so many denoising steps, or as many as it takes now if that is less."""
        return self._with(replace(self.params, num_steps=min(num_steps, self.params.num_steps)))

    def denoising_by(self, **changes: Any) -> SegmentSampler:
        """The same sampler with other parameters, and without its student, who learned one setting."""
        return SegmentSampler(self.teacher, self.distance, replace(self.params, **changes), self.device)

    def _with(self, params: SamplerParams) -> SegmentSampler:
        return SegmentSampler(self.teacher, self.distance, params, self.device, self.student)

    def __call__(self, query: Query, rng: Noise) -> FloatArray:
        """[n, horizon + 1, 2] world units, outward from the boundary."""
        cancellation.step()
        shape = (len(query), self.horizon, query.boundary.shape[1])
        noise = self._tensor(rng.standard_normal(shape))
        if self.params.randomness > 0:
            window = self._denoise_fully(noise, self._rows(query), rng)
        elif self._loop is not None:
            window = self._loop(noise, *self._rows(query))
        else:
            window = self._denoise_fully(filled(noise), _Rows(*map(filled, self._rows(query))))
        segments: FloatArray = window[: len(query)].double().cpu().numpy()
        return segments

    def _rows(self, query: Query) -> _Rows:
        """Targets are encoded once for all denoising steps; without a distance their codes are empty."""
        target, is_held = self._tensor(query.target), np.isinf(query.guidance)
        return _Rows(
            boundary=self._tensor(query.boundary),
            target=target,
            is_incoming=torch.as_tensor(query.is_incoming, device=self.device),
            scale=self.params.guidance.strength * self._tensor(np.where(is_held, 0.0, query.guidance)),
            target_codes=target[:, :0] if self.distance is None else self.distance.place_codes(target),
            is_held=torch.as_tensor(is_held, device=self.device),
        )

    def _denoise_fully(self, frames: torch.Tensor, rows: _Rows, rng: Noise | None = None) -> torch.Tensor:
        """From noise [n, horizon, d] to windows [n, horizon + 1, d] in world units."""
        with torch.no_grad():
            for levels, next_levels in pairwise(self._token_levels):
                if self._loop is None:  # a captured loop is one step
                    cancellation.step()
                frames = self._step(self._held(frames, rows), rows, levels, next_levels, rng)
        frames = self._held(frames, rows)
        return torch.cat([rows.boundary[:, None], self.scaling.restore(frames)], dim=1)

    def _held(self, frames: torch.Tensor, rows: _Rows) -> torch.Tensor:
        """Frames [n, horizon, d], the last token of those that are held at both ends standing at its target:
        as the recordings' windows that end early are padded."""
        target = self.scaling.normalise(rows.target)[:, None].expand(-1, FRAMES_PER_TOKEN, -1)
        last = torch.where(rows.is_held[:, None, None], target, frames[:, -FRAMES_PER_TOKEN:])
        return torch.cat([frames[:, :-FRAMES_PER_TOKEN], last], dim=1)

    def _step(
        self,
        frames: torch.Tensor,
        rows: _Rows,
        levels: torch.Tensor,
        next_levels: torch.Tensor,
        rng: Noise | None,
    ) -> torch.Tensor:
        """One step of frames [n, horizon, d] from the levels of their tokens [t] to the next ones; tokens
        whose level stays are left alone."""
        signal, next_signal = self._frame_signal(levels), self._frame_signal(next_levels)
        if self.params.guidance.inject == "noisy":
            frames = self._inject(frames, rows, levels)
            clean = self._denoise(frames, rows, levels)
        else:
            clean = self._denoise(frames, rows, levels)
            clean = clean + self._correction(clean, rows, signal) / self.scaling.std
        noise = (frames - signal.sqrt() * clean) / (1.0 - signal).sqrt()
        fresh = (
            self.params.randomness
            * (((1.0 - next_signal) / (1.0 - signal)) * (1.0 - signal / next_signal)).clamp_min(0.0).sqrt()
        )
        moved = next_signal.sqrt() * clean + (1.0 - next_signal - fresh.square()).clamp_min(0).sqrt() * noise
        if self.params.randomness > 0:
            assert rng is not None
            moved = moved + fresh * self._tensor(rng.standard_normal(frames.shape))
        return torch.where(signal == next_signal, frames, moved)

    def _frame_signal(self, levels: torch.Tensor) -> torch.Tensor:
        """ᾱ of every generated frame, [horizon, 1], from the levels of their tokens [t]."""
        return self.signal[levels][:, None].expand(-1, FRAMES_PER_TOKEN).reshape(-1, 1)

    def _denoise(self, frames: torch.Tensor, rows: _Rows, levels: torch.Tensor) -> torch.Tensor:
        """x̂_0 of the generated frames [n, horizon, d], normalised.

        Clean tokens are the boundary, the last one where it is held, and those that are done: they are scaled
        to the level that they are said to have, but get no noise.
        """
        window = torch.cat([self.scaling.normalise(rows.boundary)[:, None], frames], dim=1)
        tokens = to_tokens(window)
        levels = torch.cat([torch.zeros_like(levels[:1]), levels]).expand(tokens.shape[:2])
        is_last = torch.arange(levels.shape[1], device=self.device) == levels.shape[1] - 1
        levels = levels.masked_fill(rows.is_held[:, None] & is_last, 0)
        is_clean, said = levels == 0, self.params.stabilisation
        tokens = torch.where(is_clean[..., None], self.signal[said].sqrt() * tokens, tokens)
        levels = levels.masked_fill(is_clean, said)
        flip = rows.is_incoming
        tokens = torch.where(flip[:, None, None], mirror(tokens), tokens)
        levels = torch.where(flip[:, None], levels.flip(1), levels)
        clean = self.net(tokens, levels)
        clean = torch.where(flip[:, None, None], mirror(clean), clean)
        return to_window(clean)[:, 1:]

    def _correction(self, clean: torch.Tensor, rows: _Rows, signal: torch.Tensor) -> torch.Tensor:
        """η · ∇U on the generated frames, world units; only the guided rows are computed on the CPU, all of
        them on CUDA, where a row costs nothing and a choice would break the captured loop."""
        moved = torch.zeros_like(clean)
        guided = slice(None) if self._loop is not None else torch.nonzero(rows.scale > 0).squeeze(-1)
        if len(rows.scale[guided]) == 0:
            return moved
        if self.distance is None:
            raise InvalidParameter("a guided sample needs a temporal distance; this sampler was made without")
        boundary, target = rows.boundary[guided], rows.target[guided]
        window = torch.cat([boundary[:, None], self.scaling.restore(clean[guided])], dim=1)
        steps_left, downhill = self.distance.downhill(
            window[:, -1], rows.target_codes[guided], rows.is_incoming[guided]
        )
        straight = target - window[:, -1]
        straight = straight / (straight.norm(dim=-1, keepdim=True) + 1e-8)
        is_far = (steps_left > self.distance.far)[:, None]
        direction = torch.where(is_far, straight, downhill)
        step = correction(window, direction, rows.scale[guided], self.params.guidance)
        moved[guided] = step_size(signal) * step
        return moved

    def _inject(self, frames: torch.Tensor, rows: _Rows, levels: torch.Tensor) -> torch.Tensor:
        """Appendix B's alternative: X_t + Jᵀ(η ∇U), the correction sent back through the network."""
        with torch.enable_grad():
            frames = frames.detach().requires_grad_(True)
            clean = self._denoise(frames, rows, levels)
            step = self._correction(clean.detach(), rows, self._frame_signal(levels))
            wanted = (step / self.scaling.std).detach()
            (pulled,) = torch.autograd.grad((clean * wanted).sum(), frames)
        return (frames + pulled).detach()

    def _tensor(self, values: FloatArray) -> torch.Tensor:
        return torch.as_tensor(np.asarray(values, dtype=np.float32), device=self.device)


class _Rows(NamedTuple):
    """A query on the device: boundary, target [n, 2] world units; is_incoming, scale, is_held [n];
    target_codes."""

    boundary: torch.Tensor
    target: torch.Tensor
    is_incoming: torch.Tensor
    scale: torch.Tensor
    target_codes: torch.Tensor
    is_held: torch.Tensor


def load_sampler(
    folder: Path, preset: str, params: SamplerParams, distance: TemporalDistance, device: torch.device | str
) -> SegmentSampler:
    """The sampler of a folder, with its student where it has one that was distilled from this denoiser."""
    teacher = Stored.read(folder, "denoiser", preset=preset)
    student, path = None, model_path(folder, STUDENT)
    if path.is_file():
        stored = Stored.read(folder, STUDENT, preset=preset)
        if stored.card.get("teacher") == checkpoint.written_content(teacher.path):
            net = stored.filled(make_denoiser)
            with reading(path, "a student", BadCheckpoint):
                student = Student(net, tuple(int(level) for level in stored.card["levels"]))
        else:
            log.warning(
                "%s was distilled from another denoiser and is not used; `chronoforest train student` helps",
                path,
            )
    return SegmentSampler(teacher.filled(make_denoiser), distance, params, device, student)


def make_denoiser(stored: Stored) -> Denoiser:
    """The network that a card describes, without its weights."""
    params = from_plain(DenoiserParams, stored.card["params"])
    return Denoiser(params, from_plain(WindowParams, stored.card["window"]), Scaling.unit(2))


def step_size(signal: torch.Tensor) -> torch.Tensor:
    """η at signal level ᾱ."""
    return (STEP_RATE * ((1.0 - signal) / signal).sqrt()).clamp(max=LARGEST_STEP)


def anchor_gradient(head: torch.Tensor, boundary: torch.Tensor) -> torch.Tensor:
    """∂U_anchor / ∂head of U_anchor = −‖head − sg(boundary)‖²."""
    return -2.0 * (head - boundary)


def rdf_gradient(tail: torch.Tensor, head: torch.Tensor, params: GuidanceParams) -> torch.Tensor:
    """∂U_rdf / ∂tail of U_rdf = ψ(‖tail − sg(head)‖) with ψ(d) = −exp(−d²/2σ²)/(d + ε): pushes the tail away
    from its head, and only while it is near."""
    gap = (tail - head).norm(dim=-1, keepdim=True).clamp_min(1e-6)
    softened = gap + params.softness
    bell = torch.exp(-gap.square() / (2.0 * params.rdf_radius**2))
    slope = bell * (gap / params.rdf_radius**2 / softened + softened**-2)
    return slope * (tail - head) / gap


def correction(
    window: torch.Tensor, direction: torch.Tensor, scale: torch.Tensor, params: GuidanceParams
) -> torch.Tensor:
    """Unscaled step of the generated frames, in world units: [n, 1 + frames, 2] → [n, frames, 2].

    direction [n, 2] is the unit goal direction at the tail, scale [n] its strength; an unguided row
    (scale 0) is left alone by all three terms.
    """
    boundary, head, tail = window[:, 0], window[:, 1], window[:, -1]
    push = scale[:, None] * direction + params.rdf_weight * rdf_gradient(tail, boundary, params)
    num_frames = window.shape[1] - 1
    weights = torch.arange(1, num_frames + 1, dtype=window.dtype, device=window.device) / num_frames
    if params.spread == "sparse":
        weights = (weights == 1.0).to(weights)
    moved = weights[None, :, None] * push[:, None]
    moved[:, 0] += ANCHOR_WEIGHT * anchor_gradient(head, boundary)
    return moved * (scale > 0)[:, None, None]
