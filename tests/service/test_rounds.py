import json
from dataclasses import replace

import numpy as np
from fakes import BLOCK, SIDE, FakeModels, StraightSampler, make_planner, scattered_problem

from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.service.planning import RoundEncoder
from chronoforest.service.worlds import flat
from chronoforest.types import Pair, Problem, TreePicture, WorldParams

CELL = 1.0


def snapshots_of(problem, **params):
    """What is seen of trees after every round, and the result."""
    found = []
    result = make_planner(**params).plan(problem, on_snapshot=found.append, variant="online")
    return found[1:], result


def proposed_snapshots(planner, problem):
    """What is seen of a plan over the roadmap, and the result."""
    found = []
    result = planner.plan(problem, on_snapshot=found.append)
    return found, result


def test_the_first_round_over_the_roadmap_is_a_whole_plan_without_a_tree():
    (first, *_), result = proposed_snapshots(make_planner(BLOCK), scattered_problem(2, 3, BLOCK))
    told = RoundEncoder(CELL).encode(first)
    legs = [[leg.source, leg.target] for leg in result.rounds[0].route.legs]
    assert (told["trees"], told["met"]) == ([], legs)
    assert [path[:2] for path in told["paths"]] == legs


def test_legs_that_nobody_has_verified_are_told():
    (first, *_), _ = proposed_snapshots(make_planner(), scattered_problem(1, 2))
    one, *others = first.stats.accepted
    elsewhere = Pair(one.target, one.source)
    told = RoundEncoder(CELL).encode(replace(first, proposed=frozenset([*others, elsewhere])))
    assert told["proposed"] == [[leg.source, leg.target] for leg in others]
    assert RoundEncoder(CELL).encode(replace(first, proposed=frozenset()))["proposed"] == []


class Hesitant(StraightSampler):
    """Segments from the left half fall short at first, so that legs are realised in different rounds."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        if len(self.queries) < 3:
            is_left = query.boundary[:, 0] < SIDE / 2
            segments[is_left] = query.boundary[is_left, None]
        return segments


def test_segments_are_sent_once_although_the_legs_before_them_get_theirs_later():
    planner = Planner(FakeModels(sampler=Hesitant()), PlannerParams())
    assert planner.prepared("verified").checker.piece_length > 0
    planner.models.sampler.queries.clear()
    problem = Problem([[2.0, 2.0]], [[18.0, 18.0]], [[2.0, 18.0], [18.0, 10.0]])
    snapshots, result = proposed_snapshots(planner, problem)
    counts = [len(snapshot.trees) for snapshot in snapshots]
    assert len(set(counts) - {0}) > 1, "all legs were realised in one round"
    encoder = RoundEncoder(CELL)
    sent = [segment for snapshot in snapshots for segment in encoder.encode(snapshot)["trees"]]
    names = result.problem.names
    last = [(names.index(tree.anchor), segment) for tree in result.trees for segment in tree.segments]
    ends = sorted((anchor, *flat(segment[:1], 2), *flat(segment[-1:], 2)) for anchor, segment in last)
    assert sorted((anchor, *points[:2], *points[-2:]) for anchor, points in sent) == ends


def test_a_segment_that_stays_is_sent_up_to_where_it_stays():
    (first, *_), _ = proposed_snapshots(make_planner(), scattered_problem(1, 0))
    moving = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
    encoder = RoundEncoder(CELL)
    for num_more, num_sent in ((0, 1), (4, 0)):
        segments = np.pad(moving, ((0, num_more), (0, 0)), mode="edge")[None]
        told = encoder.encode(replace(first, trees=(TreePicture("S1", segments),)))
        assert [points for _, points in told["trees"]] == [[1.0, 1.0, 3.0, 1.0]] * num_sent
    still = encoder.encode(replace(first, trees=(TreePicture("S1", np.ones((1, 5, 2))),)))
    assert [points for _, points in still["trees"]] == [[1.0, 1.0]]


def test_before_the_first_round_of_trees_there_is_a_route_but_no_tree():
    found = []
    result = make_planner().plan(scattered_problem(2, 3), on_snapshot=found.append, variant="online")
    told = RoundEncoder(CELL).encode(found[0])
    assert (told["trees"], told["met"], told["nodes"]) == ([], [], 0)
    assert told["route"] == [list(order) for order in result.rounds[0].route.orders]
    assert len(found) == result.num_rounds + 1


def test_every_segment_is_sent_once():
    snapshots, result = snapshots_of(scattered_problem(2, 3))
    encoder = RoundEncoder(CELL)
    sent = [segment for snapshot in snapshots for segment in encoder.encode(snapshot)["trees"]]
    assert len(sent) == sum(len(tree.segments) for tree in result.trees)
    first = next(tree for tree in result.trees if len(tree.segments))
    root = result.problem.names.index(first.anchor)
    assert next(points for anchor, points in sent if anchor == root)[:2] == flat(first.segments[0, :1], 2)


def test_a_directed_world_sends_both_trees_of_a_waypoint():
    snapshots, result = snapshots_of(scattered_problem(1, 2), world=WorldParams(is_reversible=False))
    encoder = RoundEncoder(CELL)
    sent = [segment for snapshot in snapshots for segment in encoder.encode(snapshot)["trees"]]
    assert len(sent) == sum(len(tree.segments) for tree in result.trees)


def test_a_segment_keeps_its_ends_when_it_is_thinned():
    snapshots, _ = snapshots_of(scattered_problem(1, 0))
    (segment, *_) = RoundEncoder(CELL).encode(snapshots[0])["trees"]
    tree = snapshots[0].trees[0]
    assert segment[1][:2] == flat(tree.segments[0, :1], 2)
    assert segment[1][-2:] == flat(tree.segments[0, -1:], 2)
    assert len(segment[1]) < tree.segments[0].size


def test_meetings_and_paths_are_sent_when_they_change_and_add_up_to_the_last_state():
    snapshots, _ = snapshots_of(scattered_problem(2, 3))
    encoder, meetings, paths = RoundEncoder(CELL), {}, {}
    for snapshot in snapshots:
        told = encoder.encode(snapshot)
        meetings.update({(source, target): place for source, target, place in told["meetings"]})
        paths.update({(source, target): path for source, target, path in told["paths"]})
    last = snapshots[-1]
    assert meetings == {(pair.source, pair.target): flat(place, 2) for pair, place in last.meetings.items()}
    assert all(paths[pair.source, pair.target] == flat(path, 2) for pair, path in last.paths.items())
    assert encoder.encode(last)["meetings"] == []


def test_a_round_is_strict_json_even_where_no_bridge_can_exist():
    snapshots, _ = snapshots_of(scattered_problem(1, 1), world=WorldParams(is_reversible=False))
    told = RoundEncoder(CELL).encode(snapshots[0])
    assert np.isinf(snapshots[0].bridge_cost).any()
    assert told["cost"] is None or told["cost"] > 0
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_the_path_of_a_met_leg_leads_from_its_source_to_its_target():
    snapshots, result = snapshots_of(scattered_problem(2, 3))
    anchors = result.problem.anchors
    for leg, path in snapshots[-1].paths.items():
        assert np.allclose(path[0], anchors[leg.source])
        assert np.allclose(path[-1], anchors[leg.target])


def test_places_of_a_small_world_keep_more_digits():
    assert [RoundEncoder(cell)._decimals for cell in (40.0, 0.1, 0.0004)] == [2, 2, 5]
    assert flat(np.array([[0.012345, 2.0]]), 5) == [0.01234, 2.0]
