"""What the learned models and the parts of the loop must be able to do, and nothing about how; where the
noise of a batch comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chronoforest.types.evidence import Calibration, RoundStats, Snapshot, Support
from chronoforest.types.problems import BoolArray, FloatArray, JointRoute, Problem


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


class Distance(Protocol):
    """Learned travel time in environment steps. Codes are computed once per state and compared often."""

    reach: float
    """Largest distance it can state; beyond it the straight line is as good a guide."""

    def encode(self, points: FloatArray) -> NDArray[Any]:
        """[n, 2] → [n, F]."""

    def between(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """Elementwise d: [n, F] × [n, F] → [n]."""

    def pairwise(self, source_codes: NDArray[Any], target_codes: NDArray[Any]) -> FloatArray:
        """All against all: [n, F] × [m, F] → [n, m]."""


class Density(Protocol):
    """Where the recordings went."""

    @property
    def is_one_way(self) -> bool:
        """Whether directions of motion count: ways are lanes, and going back over one is a detour."""

    def log_density(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...] natural logarithm of the data's density; very low outside."""

    def margin(self, points: FloatArray) -> FloatArray:
        """[..., 2] → [...] world units to the nearest unsupported place; negative outside the support."""

    def follows(self, points: FloatArray, moves: FloatArray) -> BoolArray:
        """[..., 2] places and moves → [...] whether recordings moved in about this direction there; true
        everywhere where directions do not matter."""


@dataclass(frozen=True)
class Query:
    """Lookaheads asked of the sampler, one row each.

    boundary, target: [n, 2]; is_incoming: [n], the segment arrives at the boundary instead of leaving it;
    guidance: [n] scale in world units, 0 for an unguided sample, infinite for one that is held at both ends:
    its last frames stand at the target.
    """

    boundary: FloatArray
    target: FloatArray
    is_incoming: BoolArray
    guidance: FloatArray

    def __len__(self) -> int:
        return len(self.boundary)


class Sampler(Protocol):
    """Generates segments of recorded-looking motion."""

    horizon: int
    """Generated frames per segment."""

    stride: int
    """Steps between two frames."""

    def __call__(self, query: Query, rng: Noise) -> FloatArray:
        """[n, horizon + 1, 2] world units, ordered outward from the boundary frame in row 0."""

    def guided_by(self, **changes: Any) -> Sampler:
        """The same sampler with other guidance settings; those it does not have are refused."""

    def in_steps(self, num_steps: int) -> Sampler:
        """The same sampler with at most so many denoising steps."""
        ...

    def denoising_by(self, **changes: Any) -> Sampler:
        """The same sampler with other settings of its denoising, by its full network where it has a quicker
        one; settings that it does not have are refused."""
        ...


class PlanningModels(Protocol):
    """What was learned of a world. Without training there is a density alone, and asking for a network is
    refused."""

    @property
    def has_networks(self) -> bool:
        """Whether there are sampler, distance and calibration."""

    @property
    def sampler(self) -> Sampler:
        """Generates segments."""

    @property
    def distance(self) -> Distance:
        """Tells travel time."""

    @property
    def density(self) -> Density:
        """Tells where recordings went."""

    @property
    def calibration(self) -> Calibration:
        """Tells how far the distance may be trusted."""

    @property
    def support(self) -> Support:
        """The supported region, for pictures."""

    @property
    def step_length(self) -> float:
        """World units that hardly any recording exceeded in one step."""

    @property
    def gap(self) -> float:
        """World units that recordings lie apart where they are thin; 0 where that was not measured."""


class Tracker(Protocol):
    """Turns an observation and a relative subgoal into an action."""

    def __call__(self, observation: FloatArray, subgoal: FloatArray) -> FloatArray:
        """[observation_dim], [2] world units relative to the agent → [action_dim]."""


class RouteSolver(Protocol):
    """Solves who visits what in which order on a complete cost matrix."""

    def __call__(self, cost: FloatArray, problem: Problem, previous: JointRoute | None) -> JointRoute:
        """cost: [A, A] closure in steps; `previous` is last round's route, to start from."""


class StopCriterion(Protocol):
    """Decides whether planning has spent enough.

    One that also has `is_over(seconds) -> bool` is asked before every denoising step and may end a round.
    """

    def __call__(self, rounds: Sequence[RoundStats]) -> bool:
        """True to stop before the next round."""


RoundObserver = Callable[[RoundStats, Problem], None]
"""Sees what every round did."""

SnapshotObserver = Callable[[Snapshot], None]
"""Sees what the search looks like before the first round and after every one."""
