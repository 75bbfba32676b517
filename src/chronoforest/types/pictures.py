"""What a search looks like, as values: the data's support, its trees, and the moment after a round."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chronoforest.types.evidence import RoundStats
from chronoforest.types.problems import BoolArray, FloatArray, Pair, Problem


@dataclass(frozen=True)
class Support:
    """Where the recordings went: `mask` [nx, ny], first cell centred at `origin`, cells of `cell` units."""

    origin: FloatArray
    cell: float
    mask: BoolArray

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top in world units."""
        low = self.origin - self.cell / 2
        high = low + self.cell * np.array(self.mask.shape)
        return float(low[0]), float(high[0]), float(low[1]), float(high[1])

    @property
    def places(self) -> FloatArray:
        """[n, d] the middles of the supported cells."""
        return np.asarray(self.origin + self.cell * np.argwhere(self.mask))

    def holds(self, place: FloatArray) -> bool:
        """Whether a place [d] lies in a supported cell."""
        row = np.rint((place - self.origin) / self.cell).astype(np.int64)
        return bool(((row >= 0) & (row < self.mask.shape)).all() and self.mask[tuple(row)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; eight cells are packed into a byte."""
        return {
            "origin": self.origin.tolist(),
            "cell": self.cell,
            "shape": list(self.mask.shape),
            "bits": base64.b64encode(np.packbits(self.mask).tobytes()).decode(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Support:
        """The inverse of `to_dict`; ValueError where the values are not those of a support."""
        width, height = map(int, values["shape"])
        packed = np.frombuffer(base64.b64decode(values["bits"], validate=True), dtype=np.uint8)
        if min(width, height) < 1 or width * height > 8 * len(packed):
            raise ValueError(f"support of {width} × {height} cells in {8 * len(packed)} bits")
        mask = np.unpackbits(packed)[: width * height].astype(bool).reshape(width, height)
        origin, cell = np.array(values["origin"], dtype=float), float(values["cell"])
        if origin.shape != (2,) or not np.isfinite(origin).all() or not 0 < cell < np.inf:
            raise ValueError(f"support at {values['origin']!r} with cells of {values['cell']!r}")
        return cls(origin, cell, mask)


@dataclass(frozen=True)
class TreePicture:
    """A tree's segments [n, frames, 2], named after its anchor."""

    anchor: str
    segments: FloatArray


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a search looks like after a round, or before the first one (index −1), for those who watch it.

    trees: all segments so far; bridge_cost: [A, A] steps, infinite where no bridge can exist; meetings: [2]
    where the trees of a pair touch; paths: [T, 2] for each met leg of the route; proposed: those of them
    whose way nobody has verified.
    """

    problem: Problem
    stats: RoundStats
    trees: tuple[TreePicture, ...]
    bridge_cost: FloatArray
    meetings: Mapping[Pair, FloatArray]
    paths: Mapping[Pair, FloatArray]
    proposed: frozenset[Pair] = frozenset()
