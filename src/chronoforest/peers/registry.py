"""The peers by name, and planners made of them that stand in for ChronoForest's everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chronoforest.data import episodes
from chronoforest.errors import BadDataset, UnknownPlanner, UnknownVariant
from chronoforest.names import DEFAULT_VARIANT, preset_file, value_in
from chronoforest.peers.choice import CHRONOFOREST, PLANNERS, PlannerChoice
from chronoforest.peers.legs import Inputs, Method, PeerSource
from chronoforest.planning.loop import Search
from chronoforest.planning.result import PlanResult
from chronoforest.planning.variants import Variant
from chronoforest.presets import loading
from chronoforest.presets.loading import PresetPlanner
from chronoforest.search.tree import ForestMemory
from chronoforest.types import FloatArray, Problem


@dataclass(frozen=True)
class Peer:
    """How to make a method; needs_states: from recorded places too, not only from the learned models;
    needs_networks: whether it asks models that are trained; replan_every: steps after which a walk asks for a
    new plan although nothing is wrong, 0 for never."""

    make: Callable[[Inputs], Method]
    needs_states: bool = False
    needs_networks: bool = True
    replan_every: int = 0


class PeerPlanner(PresetPlanner):
    """A peer behind `Planner.plan`, with the models, the checks and the stop of a preset's planner."""

    def __init__(self, name: str, method: Method, host: PresetPlanner, inputs: Inputs) -> None:
        super().__init__(host.preset, host.models, host.num_threads)
        self.peer, self.method, self.inputs = name, method, inputs

    def _check_variant(self, variant: Variant, has_order: bool) -> None:
        """A peer has no variants, but may be given an order."""
        if variant.name not in (DEFAULT_VARIANT, "online") and not has_order:
            raise UnknownVariant(variant.name, choices=[DEFAULT_VARIANT])
        super()._check_variant(variant, has_order)

    def _source(
        self,
        problem: Problem,
        variant: Variant,
        order: Sequence[Sequence[str]] | None,
        memory: ForestMemory | None,
        seed: int,
    ) -> PeerSource:
        """A peer remembers nothing between calls, and needs no roadmap."""
        return PeerSource(self.peer, self.method, self.inputs, problem, order, seed)

    def _result(self, search: Search, problem: Problem, variant: str) -> PlanResult:
        """A plan that says whose it is."""
        return super()._result(search, problem, self.peer)


def find_peer(name: str) -> Peer:
    """A peer by its name, or by the path of a module that holds it as `PEER`, such as `my_folder.my_peer`."""
    module = f"benchmarks.peers.{name.replace('-', '_')}" if name in PLANNERS else name
    peer = value_in(module, "PEER")
    if not isinstance(peer, Peer):
        reason = f"there is no {module} here, only in the repository" if name in PLANNERS else ""
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
    if peer.replan_every:  # a method that lives by planning anew is never told to stop
        execution = replace(host.execution, replan_every=peer.replan_every, max_replans=10**6)
        host.preset = replace(host.preset, execution=execution)
    return PeerPlanner(choice.planner, peer.make(inputs), host, inputs)


def recorded_places(folder: Path, preset: str) -> FloatArray:
    """[n, 2] every place in the training recordings of a preset."""
    path = folder / f"{preset_file(preset).stem}.npz"
    if not path.is_file():
        raise BadDataset(
            f"{path}: no such file; planning on recorded states needs the recordings, which "
            f"`python -m benchmarks generate {preset}` makes and --data FOLDER finds elsewhere"
        )
    return episodes.load(path).xy.reshape(-1, 2).astype(np.float64)
