"""Where the noise of a batch comes from: one generator, or several that share the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chronoforest.types.problems import FloatArray


class Noise(Protocol):
    """What a sampler draws from: a NumPy generator will do. The first number of a size counts rows."""

    def standard_normal(self, size: tuple[int, ...], /) -> FloatArray:
        """Normal numbers of mean 0 and variance 1."""

    def uniform(self, low: float, high: float, size: int | tuple[int, ...], /) -> FloatArray:
        """Numbers in [low, high)."""


@dataclass(frozen=True)
class SharedNoise:
    """Noise for the rows of several askers, one behind the other: each draws for its own rows from its own
    generator, and so gets what it would get alone.

    shares: a generator and its number of rows for each asker.
    """

    shares: Sequence[tuple[np.random.Generator, int]]

    def standard_normal(self, size: tuple[int, ...], /) -> FloatArray:
        """Normal numbers of mean 0 and variance 1; size[0] is the rows of all."""
        return np.concatenate([rng.standard_normal((count, *size[1:])) for rng, count in self.shares])

    def uniform(self, low: float, high: float, size: int | tuple[int, ...], /) -> FloatArray:
        """Numbers in [low, high); the first number of size is the rows of all."""
        inner = () if isinstance(size, int) else size[1:]
        return np.concatenate([rng.uniform(low, high, (count, *inner)) for rng, count in self.shares])
