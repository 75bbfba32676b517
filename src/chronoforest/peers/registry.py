"""The peers by name, and planners made of them that stand in for ChronoForest's everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chronoforest.data import episodes
from chronoforest.errors import BadDataset, UnknownPlanner, UnknownVariant
from chronoforest.execution.route import ExecutionParams
from chronoforest.modules import value_in
from chronoforest.names import DEFAULT_VARIANT, preset_file
from chronoforest.peers.choice import CHRONOFOREST, PLANNERS, PlannerChoice
from chronoforest.peers.dataset_graph import DatasetGraph
from chronoforest.peers.legs import Inputs, LegByLeg, Method
from chronoforest.presets import loading
from chronoforest.presets.loading import PresetPlanner
from chronoforest.roadmap.ways import Joined
from chronoforest.search.memory import ForestMemory
from chronoforest.types import FloatArray, Problem

_NO_LIMIT = 10**6  # a method that lives by planning anew is never told to stop


@dataclass(frozen=True)
class Peer:
    """How to make a method; needs_states: from recorded places too, not only from the learned models."""

    make: Callable[[Inputs], Method]
    needs_states: bool = False


PEERS: dict[str, Peer] = {
    "dataset-graph": Peer(DatasetGraph, needs_states=True),
}
"""Those that every copy of the package has."""

PAPER_PEERS = {
    "diffusion-replan": "benchmarks.peers.diffusion_replan",
    "compositional": "benchmarks.peers.compositional",
    "tree-single": "benchmarks.peers.tree_single",
}
"""The paper's baselines and their modules, which only the repository has."""


class PeerPlanner(PresetPlanner):
    """A peer behind `Planner.plan`, with the models, the checks and the default stop of a preset's planner.

    shortens: found legs are shortened as ChronoForest's are; otherwise they are walked as they were found.
    """

    def __init__(
        self, name: str, method: Method, host: PresetPlanner, inputs: Inputs, shortens: bool = True
    ) -> None:
        super().__init__(host.preset, host.models, host.num_threads)
        self.peer = name
        self.method = method
        self.inputs = inputs
        self.shortens = shortens

    @property
    def execution(self) -> ExecutionParams:
        """As the preset says, but planned anew as often as the method wants."""
        params, every = super().execution, self.method.replan_every
        if every == 0:
            return params
        return replace(params, replan_every=every, max_replans=_NO_LIMIT)

    def _check_variant(self, variant: str, has_order: bool) -> None:
        """A peer has no variants, but may be given an order."""
        if variant not in (DEFAULT_VARIANT, "online") and not has_order:
            raise UnknownVariant(variant, choices=[DEFAULT_VARIANT])
        super()._check_variant(variant, has_order)

    def _begin(
        self,
        problem: Problem,
        variant: str,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
        joined: Joined | None = None,
    ) -> LegByLeg:
        """A peer remembers nothing between calls, and needs no roadmap."""
        return LegByLeg(self.peer, self.method, self.inputs, problem, order, seed, self.shortens)

    def _joined(self, problems: Sequence[Problem], variant: str) -> Sequence[None]:
        return [None] * len(problems)


def find_peer(name: str) -> Peer:
    """A peer by its name, or by the path of a module that holds it as `PEER`, such as `my_folder.my_peer`."""
    if name in PEERS:
        return PEERS[name]
    peer = value_in(PAPER_PEERS.get(name, name), "PEER")
    if not isinstance(peer, Peer):
        module = PAPER_PEERS.get(name)
        reason = f"there is no {module} here, only in the repository" if module else ""
        raise UnknownPlanner(name, PLANNERS, reason)
    return peer


def load(choice: PlannerChoice) -> PresetPlanner:
    """ChronoForest's planner or a peer."""
    peer = None if choice.planner == CHRONOFOREST else find_peer(choice.planner)
    host = loading.load_planner(
        choice.preset,
        device=choice.device,
        weights=choice.weights,
        mode=choice.mode,
        tracker=choice.tracker,
        distance=choice.distance,
    )
    if peer is None:
        return host
    states = recorded_places(choice.data, choice.preset) if peer.needs_states else np.zeros((0, 2))
    inputs = Inputs(host.models, host.params, states)
    return PeerPlanner(choice.planner, peer.make(inputs), host, inputs)


def recorded_places(folder: Path, preset: str) -> FloatArray:
    """[n, 2] every place in the training recordings of a preset."""
    path = folder / f"{preset_file(preset).stem}.npz"
    if not path.is_file():
        raise BadDataset(
            f"{path}: no such file; planning on recorded states needs the recordings, which "
            f"`chronoforest data generate {preset}` makes and --data FOLDER finds elsewhere"
        )
    return episodes.load(path).xy.reshape(-1, 2).astype(np.float64)
