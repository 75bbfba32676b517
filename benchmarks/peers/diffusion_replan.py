"""`diffusion-replan`: the denoiser without a tree, one guided segment after another, planned anew on the way.

In the manner of Diffuser with re-planning and of Diffusion Forcing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.peers.arrivals import arrival, steps_to
from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.peers.legs import Inputs, LegSearch, expected_costs
from chronoforest.peers.registry import Peer
from chronoforest.types import FloatArray, Problem, Query


@dataclass(frozen=True)
class ReplanParams:
    """Segments that are strung together, each from where the one before was cut.

    num_samples: segments in a batch, of which the one that ends nearest to the target is taken; scales:
    guidance they are split over, world units; kept_share: share of the chosen segment that is kept;
    max_segments: batches before a leg is given up; replan_every: steps of a walk between two plans.
    """

    num_samples: int = 12
    scales: tuple[float, ...] = (16.0, 0.0)
    kept_share: float = 1.0
    max_segments: int = 30
    replan_every: int = 100

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_samples", "max_segments", "replan_every")
        if not self.scales or min(self.scales) < 0:
            raise InvalidParameter(f"scales must be a non-empty list of numbers ≥ 0, got {self.scales}")
        if not 0.0 < self.kept_share <= 1.0:
            raise InvalidParameter(f"kept_share must lie in (0, 1], got {self.kept_share}")


class DiffusionReplan:
    """The `Method`: a chain of greedily chosen segments; what is found is never reconsidered."""

    def __init__(self, inputs: Inputs, params: ReplanParams | None = None) -> None:
        self.inputs = inputs
        self.params = params or ReplanParams()
        self.replan_every = self.params.replan_every

    def costs(self, problem: Problem) -> FloatArray:
        """[A, A] h(d)."""
        return expected_costs(problem, self.inputs.models)

    def begin(self, source: FloatArray, target: FloatArray) -> LegSearch:
        """A chain that begins at the source."""
        return _Chain(self.inputs, self.params, source, target)


class _Chain(LegSearch):
    """Segments strung together so far: `attempt`."""

    def __init__(self, inputs: Inputs, params: ReplanParams, source: FloatArray, target: FloatArray) -> None:
        super().__init__(source, target)
        self.inputs = inputs
        self.params = params

    def advance(self, rng: np.random.Generator) -> None:
        """One more segment; a batch without a sound one is a lost round."""
        self.num_expanded += 1
        self.is_spent = self.num_expanded >= self.params.max_segments
        segments = self.inputs.models.sampler(self._query(), rng)
        segments = segments[self.inputs.is_sound(segments)]
        if len(segments) == 0:
            return
        reached = arrival(segments, self.target, self.inputs)
        if reached is not None:
            self._append(segments[reached.row, : reached.frame + 1])
            self.found, self.gap = np.concatenate([self.attempt, self.target[None]]), reached.gap
            return
        left = steps_to(segments[:, -1], self.target, self.inputs.models.distance)
        num_kept = max(1, round(self.params.kept_share * (segments.shape[1] - 1)))
        self._append(segments[int(np.argmin(left)), : num_kept + 1])

    def _query(self) -> Query:
        count = self.params.num_samples
        return Query(
            boundary=np.repeat(self.attempt[-1:], count, axis=0),
            target=np.repeat(self.target[None], count, axis=0),
            is_incoming=np.zeros(count, dtype=np.bool_),
            guidance=np.resize(self.params.scales, count),
        )

    def _append(self, segment: FloatArray) -> None:
        """Lengthen the chain; the picture's segments all have one number of frames, the last repeated."""
        missing = self.inputs.models.sampler.horizon + 1 - len(segment)
        resized = np.concatenate([segment, np.repeat(segment[-1:], missing, axis=0)])
        self.attempt = np.concatenate([self.attempt, segment[1:]])
        self.segments.append(resized[None])


PEER = Peer(DiffusionReplan)
