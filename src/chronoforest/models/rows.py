"""Batches whose rows do not notice how many they are."""

from __future__ import annotations

import torch

from chronoforest.models.captured import repeat_rows

FEWEST_ROWS = 8
"""A matrix product of two or three rows rounds otherwise than the same rows among others, on a processor."""


def filled(rows: torch.Tensor) -> torch.Tensor:
    """The rows [n, …], the last repeated until there are `FEWEST_ROWS`; none stay none."""
    return repeat_rows(rows, FEWEST_ROWS) if 0 < len(rows) < FEWEST_ROWS else rows
