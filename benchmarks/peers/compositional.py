"""`compositional`: a leg is several segments denoised together, in the manner of GSC and CompDiffuser."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.random import Generator

from benchmarks.peers.diffusion_replan import Chained
from chronoforest.errors import InvalidParameter, require_at_least, require_positive
from chronoforest.models.denoiser import mirror, sampling_levels, to_tokens, to_window
from chronoforest.models.sampler import SegmentSampler
from chronoforest.peers.legs import Inputs, LegSearch
from chronoforest.peers.registry import Peer
from chronoforest.roadmap.straight import resample
from chronoforest.search.junction import is_supported
from chronoforest.types import FloatArray, path_length


class ChainSampler(Protocol):
    """Generates several segments in a row together, each beginning where the one before it ends."""

    def __call__(
        self, start: FloatArray, goal: FloatArray, num_segments: int, num_samples: int, rng: Generator
    ) -> FloatArray:
        """[samples, segments · horizon + 1, 2] world units, from start [2] to goal [2]."""


class JointSampler:
    """The `ChainSampler` of a trained denoiser: each window is predicted as leaving its first frame and as
    arriving at its last; either is trusted near the frame it was given, and neighbours meet halfway."""

    def __init__(self, sampler: SegmentSampler) -> None:
        self.sampler = sampler.denoising_by()
        self.horizon = sampler.horizon

    def __call__(
        self, start: FloatArray, goal: FloatArray, num_segments: int, num_samples: int, rng: Generator
    ) -> FloatArray:
        """[samples, segments · horizon + 1, 2] world units, from start to goal."""
        scaling, signal = self.sampler.net.scaling, self.sampler.signal
        shape = (num_samples, num_segments * self.horizon + 1, len(start))
        ends = scaling.normalise(self._tensor(np.stack([start, goal])))
        share = torch.linspace(0.0, 1.0, shape[1], device=ends.device)[:, None]
        clean = (ends[0] + share * (ends[1] - ends[0])).expand(shape)
        with torch.no_grad():
            for level, _ in pairwise(sampling_levels(self.sampler.params.num_steps)):
                noise = self._tensor(rng.standard_normal(shape))
                noisy = signal[level].sqrt() * clean + (1.0 - signal[level]).sqrt() * noise
                clean = self._denoise(noisy, clean, level)
                clean[:, [0, -1]] = ends
        chains: FloatArray = scaling.restore(clean).double().cpu().numpy()
        return chains

    def _denoise(self, noisy: torch.Tensor, guess: torch.Tensor, level: int) -> torch.Tensor:
        """x̂_0 of chains [n, segments · horizon + 1, d]; windows are told the boundary frames of `guess`."""
        windows = noisy.unfold(1, self.horizon + 1, self.horizon).transpose(2, 3)
        bounds = guess[:, :: self.horizon]
        leaving = self._predict(windows, bounds[:, :-1], level)
        arriving = self._predict(windows.flip(2), bounds[:, 1:], level, is_incoming=True).flip(2)
        late = torch.linspace(0.0, 1.0, self.horizon + 1, device=noisy.device)[:, None]
        inner = (1.0 - late) * leaving + late * arriving
        shared = 0.5 * (leaving[:, :-1, -1] + arriving[:, 1:, 0])
        first, last = arriving[:, :1, 0], leaving[:, -1:, -1]
        corners = torch.cat([first, shared, last], dim=1)
        pieces = torch.cat([corners[:, :-1, None], inner[:, :, 1:-1]], dim=2)
        return torch.cat([pieces.flatten(1, 2), corners[:, -1:]], dim=1)

    def _predict(
        self, windows: torch.Tensor, boundary: torch.Tensor, level: int, is_incoming: bool = False
    ) -> torch.Tensor:
        """x̂_0 of windows [n, k, horizon + 1, d], outward from their boundary [n, k, d], which is kept."""
        net, dims = self.sampler.net, windows.shape[-1]
        outward = torch.cat([boundary[:, :, None], windows[:, :, 1:]], dim=2).flatten(0, 1)
        tokens = to_tokens(outward)
        levels = torch.full(tokens.shape[:2], level, device=tokens.device)
        levels[:, 0] = 0
        clean = mirror(net(mirror(tokens), levels.flip(1))) if is_incoming else net(tokens, levels)
        frames = to_window(clean)[:, 1:].reshape(*windows.shape[:2], self.horizon, dims)
        return torch.cat([boundary[:, :, None], frames], dim=2)

    def _tensor(self, values: FloatArray) -> torch.Tensor:
        return torch.as_tensor(np.asarray(values, dtype=np.float32), device=self.sampler.device)


@dataclass(frozen=True)
class CompositionalParams:
    """Chains of segments that are denoised together.

    num_samples: chains in a batch; steps_per_segment: steps by h(d) that ask for one segment, and each lost
    batch for one more; max_rounds: batches before a leg is given up.
    """

    num_samples: int = 12
    steps_per_segment: float = 90.0
    max_rounds: int = 4

    def __post_init__(self) -> None:
        require_at_least(self, 1, "num_samples", "max_rounds")
        require_positive(self, "steps_per_segment")


class _Chains(LegSearch):
    """Batches of chains until one of them is sound from end to end."""

    def __init__(self, method: Compositional, source: FloatArray, target: FloatArray) -> None:
        super().__init__(source, target)
        self.inputs, self.chains, self.params = method.inputs, method.chains, method.params
        inputs, self.num_rounds = self.inputs, 0
        self.fewest_faults = np.inf
        codes = inputs.models.distance.encode(np.stack([source, target]))
        steps = inputs.models.calibration.inflate(inputs.models.distance.between(codes[:1], codes[1:]))
        self.fewest = max(1, int(np.ceil(float(steps[0]) / self.params.steps_per_segment)))

    def advance(self, rng: np.random.Generator) -> None:
        """Sample a batch of chains and take the shortest that can be walked."""
        num_segments = self.fewest + self.num_rounds
        chains = self.chains(self.source, self.target, num_segments, self.params.num_samples, rng)
        self.num_rounds += 1
        self.num_expanded += num_segments
        self.is_spent = self.num_rounds >= self.params.max_rounds
        # The chain with the fewest frames outside the support is what is walked when none is sound.
        density, horizon = self.inputs.models.density, self.inputs.models.sampler.horizon
        faults = (density.margin(chains) < 0).mean(axis=1)
        best = int(np.argmin(faults))
        if faults[best] < self.fewest_faults:
            self.fewest_faults, self.attempt = float(faults[best]), chains[best]
        self.segments.append(sliding_window_view(chains[best], horizon + 1, axis=0)[::horizon].swapaxes(1, 2))
        # A jump is no fault where the straight line across it is supported: joint denoising leaves many, and
        # the tracker walks the line.
        spacing = self.inputs.params.assembly.spacing
        walkable = [one for one in chains if is_supported(resample(one, spacing)[None], density)[0]]
        if walkable:
            self.found, self.gap = min(walkable, key=path_length), 0.0


class Compositional(Chained[CompositionalParams]):
    """Start and goal are given, everything between them is sampled at once; `chains`: by the denoiser that
    every peer samples from, unless given."""

    params_type, leg_type = CompositionalParams, _Chains

    def __init__(
        self, inputs: Inputs, chains: ChainSampler | None = None, params: CompositionalParams | None = None
    ) -> None:
        super().__init__(inputs, params)
        sampler = inputs.models.sampler
        if chains is None:
            if not isinstance(sampler, SegmentSampler):
                raise InvalidParameter(
                    f"compositional needs a trained denoiser, got {type(sampler).__name__}"
                )
            chains = JointSampler(sampler)
        self.chains = chains


PEER = Peer(Compositional)
