"""`compositional`: a leg is several segments denoised together, in the manner of GSC and CompDiffuser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.peers.chains import ChainSampler, JointSampler
from chronoforest.errors import InvalidParameter, require_at_least, require_positive
from chronoforest.models.sampler import SegmentSampler
from chronoforest.peers.legs import Inputs, LegSearch, expected_costs
from chronoforest.peers.registry import Peer
from chronoforest.planning.shortening import resample
from chronoforest.search.soundness import is_supported
from chronoforest.types import FloatArray, Problem, path_length


@dataclass(frozen=True)
class CompositionalParams:
    """Chains of segments that are denoised together.

    num_samples: chains in a batch; steps_per_segment: steps by h(d) that ask for one segment; tries: batches
    before a chain gets one segment more; max_rounds: batches before a leg is given up.
    """

    num_samples: int = 12
    steps_per_segment: float = 90.0
    tries: int = 1
    max_rounds: int = 4

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_samples", "tries", "max_rounds")
        require_positive(self, "steps_per_segment")


class Compositional:
    """The `Method`: start and goal are given, everything between them is sampled at once."""

    replan_every = 0

    def __init__(
        self, inputs: Inputs, chains: ChainSampler, params: CompositionalParams | None = None
    ) -> None:
        self.inputs = inputs
        self.chains = chains
        self.params = params or CompositionalParams()

    @classmethod
    def from_denoiser(cls, inputs: Inputs) -> Compositional:
        """With chains of the denoiser that every peer samples from."""
        sampler = inputs.models.sampler
        if not isinstance(sampler, SegmentSampler):
            raise InvalidParameter(f"compositional needs a trained denoiser, got {type(sampler).__name__}")
        return cls(inputs, JointSampler(sampler))

    def costs(self, problem: Problem) -> FloatArray:
        """[A, A] h(d)."""
        return expected_costs(problem, self.inputs.models)

    def begin(self, source: FloatArray, target: FloatArray) -> LegSearch:
        """Chains from the source to the target."""
        return _Chains(self.inputs, self.chains, self.params, source, target)


class _Chains(LegSearch):
    """Batches of chains until one of them is sound from end to end."""

    def __init__(
        self,
        inputs: Inputs,
        chains: ChainSampler,
        params: CompositionalParams,
        source: FloatArray,
        target: FloatArray,
    ) -> None:
        super().__init__(source, target)
        self.inputs = inputs
        self.chains = chains
        self.params = params
        self.num_rounds = 0
        self.fewest_faults = np.inf
        codes = inputs.models.distance.encode(np.stack([source, target]))
        steps = inputs.models.calibration.inflate(inputs.models.distance.between(codes[:1], codes[1:]))
        self.fewest = max(1, int(np.ceil(float(steps[0]) / params.steps_per_segment)))

    def advance(self, rng: np.random.Generator) -> None:
        """Sample a batch of chains and take the shortest that can be walked."""
        num_segments = self.fewest + self.num_rounds // self.params.tries
        chains = self.chains(self.source, self.target, num_segments, self.params.num_samples, rng)
        self.num_rounds += 1
        self.num_expanded += num_segments
        self.is_spent = self.num_rounds >= self.params.max_rounds
        self._remember_best(chains)
        walkable = [chain for chain in chains if self._is_walkable(chain)]
        if walkable:
            self.found, self.gap = min(walkable, key=path_length), 0.0

    def _is_walkable(self, chain: FloatArray) -> bool:
        """Supported all along. A jump is no fault where the straight line across it is supported: joint
        denoising leaves many, and the tracker walks the line."""
        filled = resample(chain, self.inputs.params.assembly.spacing)
        return bool(is_supported(filled[None], self.inputs.models.density)[0])

    def _remember_best(self, chains: FloatArray) -> None:
        """The chain with the fewest frames outside the support is what is walked when none is sound."""
        faults = (self.inputs.models.density.margin(chains) < 0).mean(axis=1)
        best = int(np.argmin(faults))
        if faults[best] < self.fewest_faults:
            self.fewest_faults, self.attempt = float(faults[best]), chains[best]
        horizon = self.inputs.models.sampler.horizon
        self.segments.append(sliding_window_view(chains[best], horizon + 1, axis=0)[::horizon].swapaxes(1, 2))


PEER = Peer(Compositional.from_denoiser)
