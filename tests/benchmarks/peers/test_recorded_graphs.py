"""The graphs over recordings, in a crossing of two one-way streets where nobody turns."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from peer_cases import PRESET, make_inputs

from benchmarks.peers.point_graph import PointGraph
from benchmarks.peers.state_graph import StateGraph
from chronoforest.peers.registry import PeerPlanner, find_peer
from chronoforest.types import Problem

EAST = np.array([[-200.0, 0.0], [200.0, 0.0]])
NORTH = np.array([[0.0, -200.0], [0.0, 200.0]])
CORNER = np.array([[200.0, 0.0], [200.0, 200.0], [0.0, 200.0]])


def dense(*corners):
    return [np.concatenate([np.linspace(a, b, 41) for a, b in itertools.pairwise(way)]) for way in corners]


def test_states_make_no_turn_that_no_recording_makes():
    turning = np.array([[-100.0, 0.0], [0.0, 100.0]])
    assert StateGraph.made_of(dense(EAST, NORTH)).route(turning) is None
    (leg,) = PointGraph.made_of(dense(EAST, NORTH)).route(turning)
    assert np.linalg.norm(np.diff(leg, axis=0), axis=1).sum() == pytest.approx(200, abs=15)


def test_a_stop_is_left_in_the_state_in_which_it_was_reached():
    graph = StateGraph.made_of(dense(EAST, NORTH, np.concatenate([EAST, CORNER[1:]])))
    legs = graph.route(np.array([[-100.0, 0.0], [0.0, 0.0], [100.0, 200.0]]))
    assert len(legs) == 2
    assert legs[1][1, 0] > 5.0
    assert graph.route(np.array([[-100.0, 0.0], [0.0, 0.0], [0.0, 100.0]])) is None


def test_no_way_leads_against_recordings():
    for graph in (StateGraph.made_of(dense(EAST)), PointGraph.made_of(dense(EAST))):
        cost = graph.costs(np.array([[-100.0, 0.0], [100.0, 0.0]]))
        assert cost[0, 1] == pytest.approx(200.0, abs=15)
        assert np.isinf(cost[1, 0])


def planner(name, tracks):
    """A graph over recordings as a planner; every recording is walked in steps that fakes may take."""
    walks = [np.concatenate([np.linspace(a, b, 100) for a, b in itertools.pairwise(way)]) for way in tracks]
    inputs = replace(make_inputs(), states=np.concatenate(walks))
    host = SimpleNamespace(preset=PRESET, models=inputs.models, num_threads=1)
    return PeerPlanner(name, find_peer(name).make(inputs), host, inputs)


@pytest.mark.parametrize("name", ["state-graph", "point-graph"])
def test_they_plan_for_agents_of_their_own_and_say_what_they_did_not_find(name):
    east, north = np.array([[2.0, 3.0], [18.0, 3.0]]), np.array([[9.0, 8.0], [9.0, 19.0]])
    problem = Problem([[2.5, 3.0], [9.0, 9.0]], [[17.5, 3.0], [9.0, 18.0]], [[10.0, 3.0]])
    result = planner(name, [east, north]).plan(problem)
    assert result.complete
    assert [route.order for route in result.routes] == [["S1", "W1", "G1"], ["S2", "G2"]]
    back = planner(name, [east, north]).plan(Problem([[17.5, 3.0]], [[2.5, 3.0]]))
    assert back.unmet == (("S1", "G1"),)


def test_a_planner_leaves_stops_as_it_reached_them():
    """Who goes east through the crossing cannot turn north there, whatever single legs would allow."""
    east, north = np.array([[2.0, 10.0], [18.0, 10.0]]), np.array([[10.0, 2.0], [10.0, 18.0]])
    turning = Problem([[2.5, 10.0]], [[10.0, 17.5]], [[10.0, 10.0]])
    assert not planner("state-graph", [east, north]).plan(turning).complete
    assert planner("point-graph", [east, north]).plan(turning).complete
