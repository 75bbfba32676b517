"""`diffusion-replan`: the denoiser without a tree, one guided segment after another, planned anew on the
way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.peers.legs import Inputs, LegSearch, expected_costs
from chronoforest.peers.registry import Peer
from chronoforest.types import Distance, FloatArray, Problem, Query

Params = TypeVar("Params")


class Chained(Generic[Params]):
    """A `Method` whose legs are expected to cost h(d), and are looked for one by one."""

    params_type: ClassVar[type[Any]]
    leg_type: ClassVar[type[Any]]

    def __init__(self, inputs: Inputs, params: Params | None = None) -> None:
        self.inputs = inputs
        self.params: Params = params or self.params_type()

    def costs(self, problem: Problem) -> FloatArray:
        """[A, A] h(d)."""
        return expected_costs(problem, self.inputs.models)

    def begin(self, source: FloatArray, target: FloatArray) -> LegSearch:
        """A search from the source."""
        search: LegSearch = self.leg_type(self, source, target)
        return search


@dataclass(frozen=True)
class Arrival:
    """Row and frame of segments at which the target is near enough, and the steps left from there."""

    row: int
    frame: int
    gap: float


def arrival(segments: FloatArray, target: FloatArray, inputs: Inputs) -> Arrival | None:
    """The earliest frame of segments [n, t, 2] that counts as meeting the target, by the forest's radius."""
    radius = inputs.params.search.meeting_steps
    is_near = np.linalg.norm(segments - target, axis=-1) <= radius * inputs.models.step_length
    rows, frames = np.nonzero(is_near)
    gap = steps_to(segments[rows, frames], target, inputs.models.distance)
    rows, frames, gap = rows[gap <= radius], frames[gap <= radius], gap[gap <= radius]
    if len(rows) == 0:
        return None
    first = int(np.lexsort((gap, frames))[0])
    return Arrival(int(rows[first]), int(frames[first]), float(gap[first]))


def steps_to(places: FloatArray, target: FloatArray, distance: Distance) -> FloatArray:
    """[n] d from places [n, 2] to a target [2]."""
    return distance.pairwise(distance.encode(places), distance.encode(target[None]))[:, 0]


@dataclass(frozen=True)
class ReplanParams:
    """Segments that are strung together, each from where the one before ends.

    num_samples: segments in a batch, of which the one that ends nearest to the target is taken; scales:
    guidance they are split over, world units; max_segments: batches before a leg is given up.
    """

    num_samples: int = 12
    scales: tuple[float, ...] = (16.0, 0.0)
    max_segments: int = 30

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_samples", "max_segments")
        if not self.scales or min(self.scales) < 0:
            raise InvalidParameter(f"scales must be a non-empty list of numbers ≥ 0, got {self.scales}")


class _Chain(LegSearch):
    """Segments strung together so far: `attempt`."""

    def __init__(self, method: DiffusionReplan, source: FloatArray, target: FloatArray) -> None:
        super().__init__(source, target)
        self.inputs, self.params = method.inputs, method.params

    def advance(self, rng: np.random.Generator) -> None:
        """One more segment; a batch without a sound one is a lost round."""
        self.num_expanded += 1
        self.is_spent = self.num_expanded >= self.params.max_segments
        count = self.params.num_samples
        query = Query(
            boundary=np.repeat(self.attempt[-1:], count, axis=0),
            target=np.repeat(self.target[None], count, axis=0),
            is_incoming=np.zeros(count, dtype=np.bool_),
            guidance=np.resize(self.params.scales, count),
        )
        segments = self.inputs.models.sampler(query, rng)
        segments = segments[self.inputs.is_sound(segments)]
        if len(segments) == 0:
            return
        reached = arrival(segments, self.target, self.inputs)
        if reached is not None:
            self._append(segments[reached.row, : reached.frame + 1])
            self.found, self.gap = np.concatenate([self.attempt, self.target[None]]), reached.gap
            return
        left = steps_to(segments[:, -1], self.target, self.inputs.models.distance)
        self._append(segments[int(np.argmin(left))])

    def _append(self, segment: FloatArray) -> None:
        """Lengthen the chain; the picture's segments all have one number of frames, the last repeated."""
        missing = self.inputs.models.sampler.horizon + 1 - len(segment)
        resized = np.concatenate([segment, np.repeat(segment[-1:], missing, axis=0)])
        self.attempt = np.concatenate([self.attempt, segment[1:]])
        self.segments.append(resized[None])


class DiffusionReplan(Chained[ReplanParams]):
    """A chain of greedily chosen segments; what is found is never reconsidered."""

    params_type, leg_type = ReplanParams, _Chain


PEER = Peer(DiffusionReplan, replan_every=100)
