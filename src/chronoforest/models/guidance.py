"""Corrections of the denoised segment x̂_0: the paper's three scores and their gradients (appendix A)."""

from __future__ import annotations

import torch

from chronoforest.models.params import GuidanceParams

ANCHOR_WEIGHT = 0.1
"""Of U_anchor against U_goal."""

STEP_RATE, LARGEST_STEP = 0.2, 1.0
"""η = min(LARGEST_STEP, STEP_RATE · √((1−ᾱ)/ᾱ))."""


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


def frame_weights(num_frames: int, params: GuidanceParams, like: torch.Tensor) -> torch.Tensor:
    """How much of the tail's correction each frame after the boundary receives, [num_frames]."""
    if params.spread == "ramp":
        return torch.arange(1, num_frames + 1, dtype=like.dtype, device=like.device) / num_frames
    return torch.cat([like.new_zeros(num_frames - 1), like.new_ones(1)])


def correction(
    window: torch.Tensor, direction: torch.Tensor, scale: torch.Tensor, params: GuidanceParams
) -> torch.Tensor:
    """Unscaled step of the generated frames, in world units: [n, 1 + frames, 2] → [n, frames, 2].

    direction [n, 2] is the unit goal direction at the tail, scale [n] its strength; an unguided row
    (scale 0) is left alone by all three terms.
    """
    boundary, head, tail = window[:, 0], window[:, 1], window[:, -1]
    push = scale[:, None] * direction + params.rdf_weight * rdf_gradient(tail, boundary, params)
    moved = frame_weights(window.shape[1] - 1, params, window)[None, :, None] * push[:, None]
    moved[:, 0] += ANCHOR_WEIGHT * anchor_gradient(head, boundary)
    return moved * (scale > 0)[:, None, None]
