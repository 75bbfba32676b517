import json

import numpy as np
from fakes import make_planner, scattered_problem

from chronoforest.types import WorldParams
from chronoforest.view.rounds import RoundEncoder, flat


def snapshots_of(problem, **params):
    """What is seen after every round, and the result."""
    found = []
    result = make_planner(**params).plan(problem, on_snapshot=found.append)
    return found[1:], result


def test_before_the_first_round_there_is_a_route_but_no_tree():
    found = []
    result = make_planner().plan(scattered_problem(2, 3), on_snapshot=found.append)
    told = RoundEncoder().encode(found[0])
    assert (told["round"], told["trees"], told["met"], told["nodes"]) == (-1, [], [], 0)
    assert told["route"] == [list(order) for order in result.rounds[0].route.orders]
    assert len(found) == result.num_rounds + 1


def test_every_segment_is_sent_once():
    snapshots, result = snapshots_of(scattered_problem(2, 3))
    encoder = RoundEncoder()
    sent = [segment for snapshot in snapshots for segment in encoder.encode(snapshot)["trees"]]
    assert len(sent) == sum(len(tree.segments) for tree in result.trees)
    first = next(tree for tree in result.trees if len(tree.segments))
    root = result.problem.names.index(first.anchor)
    assert next(points for _, anchor, points in sent if anchor == root)[:2] == flat(first.segments[0, :1])


def test_a_directed_world_sends_both_trees_of_a_waypoint():
    snapshots, result = snapshots_of(scattered_problem(1, 2), world=WorldParams(is_reversible=False))
    encoder = RoundEncoder()
    sent = [segment for snapshot in snapshots for segment in encoder.encode(snapshot)["trees"]]
    assert len(sent) == sum(len(tree.segments) for tree in result.trees)


def test_a_segment_keeps_its_ends_when_it_is_thinned():
    snapshots, _ = snapshots_of(scattered_problem(1, 0))
    (segment, *_) = RoundEncoder().encode(snapshots[0])["trees"]
    tree = snapshots[0].trees[segment[0]]
    assert segment[2][:2] == flat(tree.segments[0, :1])
    assert segment[2][-2:] == flat(tree.segments[0, -1:])
    assert len(segment[2]) < tree.segments[0].size


def test_meetings_and_paths_are_sent_when_they_change_and_add_up_to_the_last_state():
    snapshots, _ = snapshots_of(scattered_problem(2, 3))
    encoder, meetings, paths = RoundEncoder(), {}, {}
    for snapshot in snapshots:
        told = encoder.encode(snapshot)
        meetings.update({(source, target): place for source, target, place in told["meetings"]})
        paths.update({(source, target): path for source, target, path in told["paths"]})
    last = snapshots[-1]
    assert meetings == {(pair.source, pair.target): flat(place) for pair, place in last.meetings.items()}
    assert all(paths[pair.source, pair.target] == flat(path) for pair, path in last.paths.items())
    assert encoder.encode(last)["meetings"] == []


def test_a_round_is_strict_json_even_where_no_bridge_can_exist():
    snapshots, _ = snapshots_of(scattered_problem(1, 1), world=WorldParams(is_reversible=False))
    told = RoundEncoder().encode(snapshots[0])
    assert np.isinf(snapshots[0].bridge_cost).any()
    assert any(value is None for row in told["matrix"] for value in row)
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_the_path_of_a_met_leg_leads_from_its_source_to_its_target():
    snapshots, result = snapshots_of(scattered_problem(2, 3))
    anchors = result.problem.anchors
    for leg, path in snapshots[-1].paths.items():
        assert np.allclose(path[0], anchors[leg.source])
        assert np.allclose(path[-1], anchors[leg.target])
