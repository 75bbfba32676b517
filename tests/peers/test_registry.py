import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fakes import SIDE, scattered_problem
from peer_cases import make_peer

from chronoforest.errors import BadDataset, UnknownPlanner
from chronoforest.peers import registry
from chronoforest.peers.choice import PlannerChoice
from chronoforest.peers.legs import LegSearch, expected_costs
from chronoforest.peers.registry import Peer, find_peer
from chronoforest.types import Problem


class StraightLine(LegSearch):
    """Finds every leg at once, without looking."""

    def advance(self, rng):
        self.found, self.gap = np.stack([self.source, self.target]), 0.0


class Toy:
    """A `Method` in a dozen lines."""

    def __init__(self, inputs):
        self.inputs = inputs

    def costs(self, problem):
        return expected_costs(problem, self.inputs.models)

    def begin(self, source, target):
        return StraightLine(source, target)


def test_a_toy_peer_plans_once_a_module_holds_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "toy", SimpleNamespace(PEER=Peer(Toy)))
    peer = make_peer("toy")
    result = peer.plan(scattered_problem(2, 3))
    assert result.complete
    assert result.variant == "toy"


def test_a_gap_that_a_peer_did_not_measure_is_unknown_and_not_none(monkeypatch):
    class Silent(StraightLine):
        def advance(self, rng):
            self.found = np.stack([self.source, self.target])

    class SilentToy(Toy):
        def begin(self, source, target):
            return Silent(source, target)

    monkeypatch.setitem(sys.modules, "toy", SimpleNamespace(PEER=Peer(SilentToy)))
    result = make_peer("toy").plan(Problem([[4, 4]], [[9, 9]]))
    (leg,) = result.routes[0].legs
    assert (leg.is_met, leg.gap, leg.width) == (True, np.inf, None)
    assert json.loads(result.to_json())["routes"][0]["legs"][0]["gap"] is None


def test_a_module_of_ones_own_in_the_current_folder_is_a_peer_by_its_path(monkeypatch, tmp_path):
    (tmp_path / "own_methods").mkdir()
    (tmp_path / "own_methods" / "straight.py").write_text(
        "from chronoforest.peers.registry import Peer\nPEER = Peer(lambda inputs: None, needs_states=True)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("elsewhere")  # so that the path is as before afterwards
    assert find_peer("own_methods.straight").needs_states


def test_the_planner_that_the_documentation_shows_plans(monkeypatch, tmp_path):
    """A straight line where there is support, nothing where a wall is in the way."""
    page = (Path(__file__).parents[2] / "docs" / "compare.md").read_text()
    (tmp_path / "my_planner.py").write_text(page.partition("```python\n")[2].partition("```")[0])
    monkeypatch.syspath_prepend(tmp_path)
    assert make_peer("my_planner").plan(scattered_problem(2, 3)).complete
    middle = SIDE / 2
    block = ((middle - 1, 0.0), (middle + 1, SIDE))
    across = Problem(starts=[[2.0, middle]], goals=[[SIDE - 2, middle]])
    assert not make_peer("my_planner", block).plan(across).complete


def test_the_papers_baselines_are_found_by_name_and_by_path():
    peer = make_peer("benchmarks.peers.tree_single")
    assert find_peer("tree-single") is find_peer("benchmarks.peers.tree_single")
    result = peer.plan(scattered_problem(1, 1))
    assert result.complete
    assert result.variant == "benchmarks.peers.tree_single"


def test_a_baseline_that_is_not_installed_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(registry, "value_in", lambda module, name: None)
    with pytest.raises(UnknownPlanner, match="'tree-single'"):
        find_peer("tree-single")


def test_a_module_without_a_peer_or_with_a_mistake_says_so(monkeypatch, tmp_path):
    with pytest.raises(UnknownPlanner, match=r"'json'; available: .*, or a module with a PEER"):
        find_peer("json")
    (tmp_path / "mistaken.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        find_peer("mistaken")


@pytest.mark.parametrize("name", ["rrt", "", ".", "a..b", "folder/rrt.py", "--help"])
def test_what_is_neither_a_name_nor_a_module_is_unknown(name):
    with pytest.raises(UnknownPlanner, match="or a module with a PEER"):
        find_peer(name)


def test_an_unknown_planner_is_told_what_there_is():
    with pytest.raises(
        UnknownPlanner, match=r"unknown planner 'rrt'; available: chronoforest, dataset-graph"
    ):
        find_peer("rrt")


def test_only_the_graph_reads_recordings_and_only_one_that_asks_is_planned_anew(monkeypatch, tmp_path):
    host = make_peer("tree-single")
    monkeypatch.setattr("chronoforest.presets.loading.load_planner", lambda preset, **options: host)
    assert registry.load(PlannerChoice("world")) is host
    with pytest.raises(BadDataset, match=r"world\.npz: no such file.*python -m benchmarks generate world"):
        registry.load(PlannerChoice("world", planner="dataset-graph", data=tmp_path))
    assert registry.load(PlannerChoice("world", planner="tree-single", data=tmp_path)).peer == "tree-single"
    for name, every in (("tree-single", 0), ("diffusion-replan", 100)):
        assert registry.load(PlannerChoice("world", planner=name)).execution.replan_every == every
