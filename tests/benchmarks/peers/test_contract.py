"""What `Planner.plan` promises, asked of every peer."""

from itertools import pairwise

import numpy as np
import pytest
from fakes import BLOCK, scattered_problem
from peer_cases import make_peer

from benchmarks.ablations import named
from chronoforest.errors import InvalidParameter, InvalidProblem, UnknownVariant
from chronoforest.exports.saved import load_result
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.peers.choice import PLANNERS
from chronoforest.planning.planner import MaxRounds
from chronoforest.planning.variants import PlannerParams, unshortened
from chronoforest.types import Problem, path_length

SIZES = [(1, 0), (1, 3), (2, 2), (3, 4)]
CORNERS = Problem(starts=[[3.0, 3.0]], goals=[[17.0, 17.0]], waypoints=[[3.0, 17.0]])

NEED_TRACKS = {"state-graph", "point-graph"}
"""The places of these tests are scattered; `test_recorded_graphs.py` has tracks."""

every_peer = pytest.mark.parametrize("name", sorted(set(PLANNERS[1:]) - NEED_TRACKS))


@every_peer
@pytest.mark.parametrize("size", SIZES)
def test_a_complete_plan_is_connected_and_visits_every_waypoint_once(name, size):
    problem = scattered_problem(*size)
    result = make_peer(name).plan(problem, seed=1)
    assert result.complete, result.summary()
    for agent, route in enumerate(result.routes):
        assert (route.order[0], route.order[-1]) == (f"S{agent + 1}", f"G{agent + 1}")
        assert all(leg.is_met for leg in route.legs)
        assert np.linalg.norm(np.diff(route.path, axis=0), axis=1).max() < 0.6
        places = [problem.anchors[problem.names.index(stop)] for stop in route.order]
        np.testing.assert_allclose(route.path[list(route.stops)], places, atol=1e-6)
    visited = sorted(stop for route in result.routes for stop in route.order[1:-1])
    assert visited == sorted(problem.names[k] for k in problem.waypoint_indices)


@every_peer
def test_a_complete_plan_goes_round_a_block(name):
    peer = make_peer(name, BLOCK)
    results = [peer.plan(Problem([[4.0, 8.0]], [[16.0, 6.0]]), seed=seed) for seed in range(5)]
    assert any(result.complete for result in results)
    for result in results:
        room = peer.models.density.margin(result.routes[0].path).min()
        assert room > -0.1 if result.complete else result.unmet == (("S1", "G1"),)


@every_peer
def test_the_seed_decides(name):
    peer = make_peer(name)
    first, again, other = (peer.plan(CORNERS, seed=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first.routes[0].path, again.routes[0].path)
    assert first.routes[0].order == again.routes[0].order
    assert other.complete


@every_peer
def test_stop_is_asked_before_every_round_and_the_unmet_legs_are_named(name):
    result = make_peer(name).plan(CORNERS, stop=MaxRounds(0))
    assert not result.complete
    assert result.num_rounds == 0
    assert set(result.unmet) == set(pairwise(result.routes[0].order))
    np.testing.assert_array_equal(result.routes[0].path, [[3.0, 3.0]])


@every_peer
def test_every_round_is_seen_once(name):
    seen, pictures = [], []
    result = make_peer(name).plan(
        CORNERS,
        on_round=lambda stats, problem: seen.append(stats.round_index),
        on_snapshot=lambda snapshot: pictures.append(snapshot.stats.round_index),
    )
    assert seen == list(range(result.num_rounds))
    assert pictures == [-1, *seen]
    assert result.rounds[-1].accepted == result.rounds[-1].route.legs


@every_peer
def test_an_order_may_be_given(name):
    problem = Problem([[3.0, 3.0]], [[17.0, 3.0]], [[6.0, 3.0], [12.0, 3.0]])
    order = [["S1", "W2", "W1", "G1"]]
    result = make_peer(name).plan(problem, order=order, variant=named("graph-fixed"))
    assert [route.order for route in result.routes] == order


@every_peer
def test_legs_may_be_left_as_they_were_found(name):
    found = make_peer(name, params=unshortened(PlannerParams())).plan(CORNERS, seed=2)
    shorter = make_peer(name).plan(CORNERS, seed=2)
    assert found.length == pytest.approx(found.raw_length, rel=0.02)
    assert shorter.length <= found.length + 1e-6


@every_peer
def test_a_result_is_saved_drawn_and_named_after_the_peer(name, tmp_path):
    result = make_peer(name).plan(CORNERS)
    result.save(tmp_path / "plan.json")
    result.plot(tmp_path / "plan.png")
    loaded = load_result(tmp_path / "plan.json")
    assert loaded.variant == name
    assert loaded.length == pytest.approx(path_length(result.routes[0].path), abs=1e-3)
    assert not loaded.certificate.premises_hold


@every_peer
def test_bad_input_is_refused_in_a_sentence(name):
    peer = make_peer(name)
    with pytest.raises(InvalidProblem, match=r"G1 at \(40, 3\) lies outside the data's support"):
        peer.plan(Problem([[3.0, 3.0]], [[40.0, 3.0]]))
    with pytest.raises(InvalidParameter, match="seed must be a whole number of 0 or more, got -1"):
        peer.plan(CORNERS, seed=-1)
    with pytest.raises(UnknownVariant, match=f"unknown variant 'single'; available: {DEFAULT_VARIANT}$"):
        peer.plan(CORNERS, variant=named("single"))
    with pytest.raises(InvalidProblem):
        peer.plan(CORNERS, order=[["S1", "G1"]])
