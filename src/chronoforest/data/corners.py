"""How far apart rows lie, and by how much straight lines between them cut corners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chronoforest.data.frames import plainly
from chronoforest.types import FloatArray

MOVING = 0.1
"""Share of the usual move below which a row counts as standing."""

CUT_QUANTILE = 0.9
"""Nine of ten rows cut less."""

COARSE = 0.25
"""Share of the usual move; where corners are cut by more, ways between rows are not known."""


@dataclass(frozen=True)
class Spacing:
    """move: units from row to row in the median; cut: units by which nine of ten lines between rows are off
    the way at most."""

    move: float
    cut: float

    @classmethod
    def of(cls, ways: Iterable[FloatArray]) -> Spacing:
        """Measured on ways [n, 2], by leaving out rows.

        The line between a row's neighbours misses it by twice the cut, for they lie twice as far apart; noise
        adds to that. The line between the next but one misses it by four times the cut and the same noise.
        The smaller of the two estimates is taken.
        """
        ways = list(ways)
        (move, near), (_, far) = _missed(ways, 1), _missed(ways, 2)
        return cls(move, min(near, max(far - near, 0.0)) / 2)

    @property
    def is_coarse(self) -> bool:
        """Whether rows are too far apart to show the way between them."""
        return self.cut > COARSE * self.move

    def summary(self, unit: str) -> str:
        """One line for people; unit: of lengths."""
        told = self.told(unit)
        return f"{told}: too far to show the ways, record more often" if self.is_coarse else told

    def told(self, unit: str) -> str:
        """The figures alone; unit: of lengths."""
        move, cut = plainly(self.move), plainly(self.cut)
        return f"{move} {unit} apart; lines between them cut corners by up to {cut} {unit}"


def _missed(ways: Iterable[FloatArray], lag: int) -> tuple[float, float]:
    """Units in the median from a row to those `lag` rows away, where bodies move, and units by which nine of
    ten lines between those miss it at most; 0 where there are none."""
    bends = [_bends(places, lag) for places in ways if len(places) > 2 * lag]
    hops, misses = np.concatenate(bends, axis=1) if bends else np.zeros((2, 0))
    moving = hops > MOVING * np.quantile(hops, 0.9) if len(hops) else np.zeros(0, dtype=bool)
    if not moving.any():
        return 0.0, 0.0
    return float(np.median(hops[moving])), float(np.quantile(misses[moving], CUT_QUANTILE))


def _bends(places: FloatArray, lag: int) -> FloatArray:
    """[2, n − 2 lag] for every row between others: the shorter of the hops to those `lag` rows before and
    after it, and how far it lies from the line between them."""
    before, after = places[lag:-lag] - places[: -2 * lag], places[2 * lag :] - places[lag:-lag]
    across = before + after
    area = np.abs(across[:, 0] * before[:, 1] - across[:, 1] * before[:, 0])
    hops = np.minimum(np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1))
    return np.stack([hops, area / np.maximum(np.linalg.norm(across, axis=1), 1e-12)])
