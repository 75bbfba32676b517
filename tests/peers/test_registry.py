import numpy as np
import pytest
from fakes import scattered_problem
from peer_cases import make_peer

from chronoforest.errors import BadDataset, UnknownPlanner
from chronoforest.peers import registry
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.peers.legs import LegSearch, expected_costs
from chronoforest.peers.registry import PEERS, Peer, check_planner


class StraightLine(LegSearch):
    """Finds every leg at once, without looking."""

    def advance(self, rng):
        self.found, self.gap = np.stack([self.source, self.target]), 0.0


class Toy:
    """A `Method` in a dozen lines."""

    replan_every = 25

    def __init__(self, inputs):
        self.inputs = inputs

    def costs(self, problem):
        return expected_costs(problem, self.inputs.models)

    def begin(self, source, target):
        return StraightLine(source, target)


def test_a_toy_peer_plans_once_it_is_registered(monkeypatch):
    monkeypatch.setitem(PEERS, "toy", Peer(Toy))
    check_planner("toy")
    peer = make_peer("toy")
    result = peer.plan(scattered_problem(2, 3))
    assert result.complete
    assert result.variant == "toy"
    assert peer.execution.replan_every == 25


def test_a_peer_that_does_not_ask_for_new_plans_is_walked_as_the_preset_says():
    peer = make_peer("dataset-graph")
    assert peer.execution == peer.preset.execution
    assert make_peer("diffusion-replan").execution.replan_every > 0


def test_an_unknown_planner_is_told_what_there_is():
    with pytest.raises(
        UnknownPlanner, match=r"unknown planner 'rrt'; available: chronoforest, dataset-graph"
    ):
        check_planner("rrt")
    check_planner(CHRONOFOREST)


def test_only_the_graph_reads_recordings(monkeypatch, tmp_path):
    host = make_peer("tree-single")
    monkeypatch.setattr("chronoforest.presets.loading.load_planner", lambda preset, **options: host)
    host.models.sampler.net = None
    assert registry.load(PlannerChoice("world")) is host
    with pytest.raises(BadDataset, match=r"world\.npz: no such file.*chronoforest data generate world"):
        registry.load(PlannerChoice("world", planner="dataset-graph", data=tmp_path))
    assert registry.load(PlannerChoice("world", planner="tree-single", data=tmp_path)).peer == "tree-single"
