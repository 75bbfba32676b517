from dataclasses import replace

import numpy as np
import pytest
from fakes import BLOCK, SPEED
from peer_cases import make_inputs

from benchmarks.peers.dataset_graph import DatasetGraph, GraphParams
from chronoforest.errors import InvalidParameter
from chronoforest.types import Problem, path_length

ACROSS = np.array([[3.0, 10.0], [17.0, 10.0]])


def test_the_way_round_a_block_is_nearly_the_shortest():
    way = DatasetGraph(make_inputs(BLOCK)).way(*ACROSS)
    corner = 2 * np.hypot(4.0, 3.0) + 6.0
    assert corner <= path_length(way) < 1.1 * corner


def test_no_edge_leads_through_the_block():
    graph = DatasetGraph(make_inputs(BLOCK), GraphParams(num_states=300, radius=60.0))
    middle = 0.5 * (graph.states[graph.edges.source] + graph.states[graph.edges.target])
    assert graph.inputs.models.density.margin(middle).min() > 0
    assert len(graph.edges.cost) > 0


def test_the_cost_matrix_is_what_the_ways_take():
    graph = DatasetGraph(make_inputs(BLOCK))
    cost = graph.costs(Problem([ACROSS[0]], [ACROSS[1]], [[10.0, 17.0]]))
    assert cost[0, 2] == pytest.approx(path_length(graph.way(*ACROSS)) / SPEED, rel=0.1)
    assert (np.diag(cost) == 0).all()
    assert cost[0, 2] <= cost[0, 1] + cost[1, 2] + 1e-6


def test_a_graph_too_thin_to_connect_has_no_way():
    graph = DatasetGraph(make_inputs(), GraphParams(num_states=5, radius=10.0))
    assert graph.way(*ACROSS) is None
    search = graph.begin(*ACROSS)
    search.advance(np.random.default_rng(0))
    assert search.found is None
    assert search.is_spent


def test_bad_values_are_refused():
    for values in ({"num_states": 1}, {"radius": 0.0}):
        with pytest.raises(InvalidParameter, match=str(next(iter(values.values())))):
            GraphParams(**values)
    with pytest.raises(InvalidParameter, match="needs recorded states"):
        DatasetGraph(replace(make_inputs(), states=np.zeros((0, 2))))
