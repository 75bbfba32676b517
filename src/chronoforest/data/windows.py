"""Training windows for the denoiser: a boundary frame and `horizon` frames after (or before) it."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from chronoforest.errors import require_at_least

PADDED_SHARE = 0.4
"""Of the windows may start late and are padded. Without them every tail lies exactly as far as the recordings
travel, so tree nodes would sit on a lattice and two trees might never meet."""

LATEST_SHARE = 0.4
"""Of a window's span by which it may start late."""


@dataclass(frozen=True)
class WindowParams:
    """How recordings are cut.

    stride: steps between two frames; horizon: generated frames after the boundary frame.
    """

    stride: int = 5
    horizon: int = 40

    def __post_init__(self) -> None:
        require_at_least(self, 1, "stride", "horizon")

    @property
    def span(self) -> int:
        """Environment steps in a window."""
        return self.stride * self.horizon

    @property
    def max_late(self) -> int:
        """Steps by which a window may start late."""
        return round(LATEST_SHARE * self.span)


def draw_windows(
    tracks: torch.Tensor, num_windows: int, params: WindowParams, padded_share: float = PADDED_SHARE
) -> torch.Tensor:
    """tracks [E, T, D] → windows [num_windows, horizon + 1, D], boundary frame first.

    Frames past the end of a recording repeat its last one.
    """
    num_episodes, num_steps, _ = tracks.shape
    device = tracks.device
    latest = max(num_steps - 1 - params.span, 0)
    episode = torch.randint(num_episodes, (num_windows, 1), device=device)
    start = torch.randint(latest + 1, (num_windows, 1), device=device)
    late = torch.randint(params.max_late + 1, (num_windows, 1), device=device)
    is_padded = torch.rand(num_windows, 1, device=device) < padded_share
    start = torch.clamp(start + torch.where(is_padded, late, 0), max=num_steps - 1)
    steps = start + params.stride * torch.arange(params.horizon + 1, device=device)
    return tracks[episode, torch.clamp(steps, max=num_steps - 1)]
