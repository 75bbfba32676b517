"""Peers on fakes: straight segments, a Euclidean clock, and recordings all over the supported square."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from fakes import SIDE, FakeModels, SquareDensity

from benchmarks.peers.compositional import Compositional
from chronoforest.peers.legs import Inputs
from chronoforest.peers.registry import PeerPlanner, find_peer
from chronoforest.presets.named import get_preset

PRESET = get_preset("pointmaze-giant-stitch-v0")


class StraightChains:
    """A `ChainSampler`: every chain is the straight line, as far to the side of it as the batch is wide."""

    def __init__(self, horizon=12):
        self.horizon = horizon
        self.asked = []

    def __call__(self, start, goal, num_segments, num_samples, rng):
        self.asked.append(num_segments)
        share = np.linspace(0.0, 1.0, num_segments * self.horizon + 1)
        bulge = 4.0 * share * (1.0 - share)
        ahead = (goal - start) / np.linalg.norm(goal - start)
        aside = np.array([-ahead[1], ahead[0]])
        width = np.concatenate([[0.0], rng.uniform(-6.0, 6.0, num_samples - 1)])
        line = start + share[:, None] * (goal - start)
        return line + width[:, None, None] * bulge[None, :, None] * aside


def make_inputs(block=None, num_states=600, params=PRESET.planner, **models):
    density = SquareDensity(block)
    states = np.random.default_rng(0).uniform(0.0, SIDE, (num_states, 2))
    fakes = FakeModels(density=density, **models)
    return Inputs(fakes, params, states[density.margin(states) > 0.3])


def make_peer(name, block=None, **options):
    inputs = make_inputs(block, **options)
    host = SimpleNamespace(preset=PRESET, models=inputs.models, num_threads=1)
    is_compositional = name == "compositional"  # which needs chains, and fakes have no denoiser to make them
    method = Compositional(inputs, StraightChains()) if is_compositional else find_peer(name).make(inputs)
    return PeerPlanner(name, method, host, inputs)
