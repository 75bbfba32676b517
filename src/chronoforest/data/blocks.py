"""The world in blocks: which of them steps of recordings touch, and between which they lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.types import FloatArray, IntArray

MOST_POINTS = 4_000_000
"""Looked at at once, so that memory suffices for any number of steps."""


@dataclass(frozen=True)
class Grid:
    """Blocks of an edge length, numbered from a corner [2] on, so many to a column."""

    block: float
    low: IntArray
    height: int

    @classmethod
    def around(cls, points: FloatArray, block: float) -> Grid:
        """That has a number for every point [n, 2]."""
        low, high = (np.floor(bound / block).astype(np.int64) for bound in (points.min(0), points.max(0)))
        return cls(block, low, int(high[1] - low[1]) + 1)

    def numbers(self, points: FloatArray) -> IntArray:
        """[..., 2] → [...] the block that a point lies in."""
        cells = np.floor(points / self.block).astype(np.int64) - self.low
        return np.asarray(cells[..., 0] * self.height + cells[..., 1])

    def cells(self, numbers: IntArray) -> IntArray:
        """[n, 2] column and row of blocks."""
        return np.stack(np.divmod(numbers, self.height), axis=1)


@dataclass(frozen=True, eq=False)
class Visits:
    """Blocks that steps touch.

    blocks: [m] their numbers, rising; cells: [m, 2] column and row; counts: [m] and sums: [m, 2] of the
    points in each; passes: [2, p] a block's place among these and a recording that came by, once; links:
    [2, l] places of two blocks one after the other, once.
    """

    blocks: IntArray
    cells: IntArray
    counts: IntArray
    sums: FloatArray
    passes: IntArray
    links: IntArray


def visited(start: FloatArray, end: FloatArray, owner: IntArray, block: float) -> Visits:
    """Blocks of an edge length that straight steps from [n, 2] to [n, 2] touch; owner: [n] recordings."""
    longest = float(np.linalg.norm(end - start, axis=1).max(initial=0.0))
    ticks = max(1, int(np.ceil(2.0 * longest / block)))
    grid = Grid.around(np.concatenate([start, end]), block)
    size = max(1, MOST_POINTS // (ticks + 1))
    parts = (slice(first, first + size) for first in range(0, len(start), size))
    return _together(grid, [_of_part(grid, start[k], end[k], owner[k], ticks) for k in parts])


def _of_part(grid: Grid, start: FloatArray, end: FloatArray, owner: IntArray, ticks: int) -> Visits:
    """Of some steps, each looked at in so many parts that no block on the way is skipped."""
    points = start + np.linspace(0.0, 1.0, ticks + 1)[:, None, None] * (end - start)
    blocks, rows = np.unique(grid.numbers(points), return_inverse=True)
    rows = rows.reshape(points.shape[:-1])  # [ticks + 1, n]
    sums = [np.bincount(rows.ravel(), points[..., k].ravel(), len(blocks)) for k in range(2)]
    return Visits(
        blocks,
        grid.cells(blocks),
        np.bincount(rows.ravel(), minlength=len(blocks)),
        np.stack(sums, axis=1),
        _once(rows.ravel(), np.broadcast_to(owner, rows.shape).ravel()),
        _once(rows[:-1].ravel(), rows[1:].ravel()),
    )


def _together(grid: Grid, parts: Sequence[Visits]) -> Visits:
    """Of all steps, from those of parts of them."""
    blocks, rows = np.unique(np.concatenate([part.blocks for part in parts]), return_inverse=True)
    places = np.split(rows, np.cumsum([len(part.blocks) for part in parts])[:-1])
    counts, sums = (np.concatenate([getattr(part, name) for part in parts]) for name in ("counts", "sums"))
    pairs = list(zip(parts, places, strict=True))
    passes = np.concatenate([[place[part.passes[0]], part.passes[1]] for part, place in pairs], axis=1)
    links = np.concatenate([place[part.links] for part, place in pairs], axis=1)
    return Visits(
        blocks,
        grid.cells(blocks),
        np.bincount(rows, counts, len(blocks)).astype(np.int64),
        np.stack([np.bincount(rows, sums[:, k], len(blocks)) for k in range(2)], axis=1),
        _once(*passes),
        _once(*links),
    )


def _once(first: IntArray, second: IntArray) -> IntArray:
    """[2, m] every pair once."""
    width = int(second.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(first * width + second), width))
