from dataclasses import replace

import numpy as np
import pytest
from fakes import BLOCK, CALIBRATION, SPEED, EuclideanDistance, SquareDensity, make_planner, scattered_problem

from chronoforest.errors import InvalidParameter
from chronoforest.planning import assembly
from chronoforest.planning.assembly import (
    Bridge,
    Clock,
    Walkways,
    best_effort,
    bridge_path,
    joined,
    make_plan,
)
from chronoforest.planning.closed_loop import ClosedLoop
from chronoforest.planning.shortening import (
    CROWDING,
    AssemblyParams,
    cut_corners,
    resample,
    settle,
    shorten,
)
from chronoforest.search.tree import Representatives, plant
from chronoforest.types import Leg, Meeting, Pair, Problem, path_length

PARAMS = AssemblyParams()
DISTANCE = EuclideanDistance()
CLOCK = Clock(DISTANCE, 1.0 / SPEED, 0.9, PARAMS)


class Corridor:
    """Supported where 0 < y < width; as long as one likes."""

    def __init__(self, width, is_one_way=False):
        self.width = width
        self.is_one_way = is_one_way

    def margin(self, points):
        y = np.asarray(points)[..., 1]
        return np.minimum(y, self.width - y)

    def follows(self, points, moves):
        return np.ones(np.shape(points)[:-1], dtype=bool)


class SlowMiddle(EuclideanDistance):
    """Crossing x = 10 below y = 15 takes five hundred steps more."""

    def between(self, source, target):
        is_across = (source[..., 0] < 10) != (target[..., 0] < 10)
        is_below = np.minimum(source[..., 1], target[..., 1]) < 15
        return super().between(source, target) + 500.0 * (is_across & is_below)


def wander(seed, density=None, count=30):
    """A random walk that stays in the support with some room."""
    rng = np.random.default_rng(seed)
    density = density or SquareDensity(BLOCK)
    path = [np.array([3.0, 10.0])]
    while len(path) < count:
        step = path[-1] + rng.normal(0.15, 0.6, 2)
        between = np.linspace(path[-1], step, 9)
        if density.margin(between).min() > 0.4:
            path.append(step)
    return np.array(path)


each_walk = pytest.mark.parametrize("seed", range(8))


@each_walk
def test_resampling_keeps_the_ends_and_bounds_the_spacing(seed):
    path = wander(seed)
    for spacing in (0.1, 0.25, 3.0):
        dense = resample(path, spacing)
        np.testing.assert_allclose(dense[[0, -1]], path[[0, -1]])
        assert np.linalg.norm(np.diff(dense, axis=0), axis=1).max() <= spacing + 1e-9
        assert path_length(dense) <= path_length(path) + 1e-9


def test_resampling_a_straight_line_spaces_points_evenly():
    dense = resample(np.array([[0.0, 0.0], [3.0, 4.0]]), 0.3)
    hops = np.linalg.norm(np.diff(dense, axis=0), axis=1)
    np.testing.assert_allclose(hops, 5.0 / 17)


@pytest.mark.parametrize("path", [[[1.0, 2.0]], [[1.0, 2.0]] * 3])
def test_a_path_that_goes_nowhere_is_one_point(path):
    np.testing.assert_allclose(resample(np.array(path), 0.25), [[1.0, 2.0]])


def test_repeated_points_do_not_disturb_resampling():
    path = wander(0)
    np.testing.assert_allclose(resample(np.repeat(path, 3, axis=0), 0.25), resample(path, 0.25))


@each_walk
def test_cutting_corners_never_lengthens_and_keeps_the_ends(seed):
    path = wander(seed)
    (cut,) = cut_corners([path], SquareDensity(BLOCK), DISTANCE, PARAMS)
    assert path_length(cut) <= path_length(path) + 1e-9
    np.testing.assert_array_equal(cut[[0, -1]], path[[0, -1]])


@each_walk
def test_cut_corners_are_points_of_the_path_in_its_order(seed):
    path = wander(seed)
    (cut,) = cut_corners([path], SquareDensity(BLOCK), DISTANCE, PARAMS)
    rows = [int(np.flatnonzero((path == point).all(axis=1))[0]) for point in cut]
    assert rows == sorted(set(rows))


@each_walk
def test_a_path_inside_the_support_stays_inside(seed):
    density = SquareDensity(BLOCK)
    short = shorten(wander(seed), density, DISTANCE, PARAMS)
    assert density.margin(resample(short, 0.05)).min() > 0


@each_walk
def test_shortening_keeps_the_ends_bounds_the_hops_and_shortens_a_random_walk(seed):
    path = wander(seed)
    short = shorten(path, SquareDensity(BLOCK), DISTANCE, PARAMS)
    np.testing.assert_allclose(short[[0, -1]], path[[0, -1]])
    assert np.linalg.norm(np.diff(short, axis=0), axis=1).max() <= PARAMS.spacing + 1e-9
    assert path_length(short) < path_length(path)


def test_a_path_round_the_block_is_not_cut_through_it():
    path = resample(np.array([[3.0, 10.0], [3.0, 17.0], [17.0, 17.0], [17.0, 10.0]]), 0.5)
    short = shorten(path, SquareDensity(BLOCK), DISTANCE, PARAMS)
    assert SquareDensity(BLOCK).margin(short).min() > 0.8
    around = path_length(np.array([[3.0, 10.0], [7.0, 13.0], [13.0, 13.0], [17.0, 10.0]]))
    assert around < path_length(short) < 0.8 * path_length(path)


def test_tight_right_angles_at_the_edge_of_the_support_do_not_leave_it():
    """A staircase round the block's corner with hardly any room: resampling must not round it off."""
    path = np.array([[6.9, 8.0], [6.9, 13.1], [12.0, 13.1]])
    short = shorten(path, SquareDensity(BLOCK), DISTANCE, PARAMS)
    assert SquareDensity(BLOCK).margin(resample(short, 0.02)).min() > 0


@pytest.mark.parametrize("width", [3.0, 5.0])
def test_in_a_corridor_a_path_along_the_wall_moves_to_where_there_is_room(width):
    xs = np.linspace(0.0, 20.0, 41)
    path = np.stack([xs, np.full_like(xs, 0.3)], axis=1)
    settled = shorten(path, Corridor(width), DISTANCE, PARAMS)
    room = Corridor(width).margin(settled)
    inner = (settled[:, 0] > 3.0) & (settled[:, 0] < 17.0)
    assert room[inner].min() >= min(PARAMS.keep_margin, width / 2) - 2 * PARAMS.tube_step


def test_with_room_to_spare_the_path_becomes_the_straight_line():
    path = np.array([[0.0, 5.0], [5.0, 6.5], [10.0, 5.0]])
    short = shorten(path, Corridor(10.0), DISTANCE, PARAMS)
    np.testing.assert_allclose(path_length(short), 10.0, rtol=1e-3)


def test_settling_never_makes_the_price_of_a_path_higher():
    """The unmoved path is one of the chains that are compared."""
    density = SquareDensity(BLOCK)

    def price(path):
        unit = 1 + CROWDING * np.maximum(0, 1 - density.margin(path) / PARAMS.keep_margin)
        return float((np.linalg.norm(np.diff(path, axis=0), axis=1) * (unit[:-1] + unit[1:]) / 2).sum())

    for seed in range(8):
        path = resample(wander(seed), 0.5)
        assert price(settle([path], density, PARAMS)[0]) <= price(path) + 1e-9


def test_a_cut_that_takes_longer_than_the_way_it_replaces_is_refused():
    """The support is open, but the temporal distance knows that crossing the middle is slow."""
    path = np.array([[4.0, 5.0], [4.0, 18.0], [16.0, 18.0], [16.0, 5.0]])
    path = resample(path, 1.0)
    open_square = SquareDensity()
    assert cut_corners([path], open_square, DISTANCE, PARAMS)[0][:, 1].max() < 15
    assert cut_corners([path], open_square, SlowMiddle(), PARAMS)[0][:, 1].max() >= 15


def test_short_paths_are_left_alone():
    for path in (np.zeros((1, 2)), np.array([[1.0, 1.0], [2.0, 2.0]])):
        np.testing.assert_array_equal(cut_corners([path], SquareDensity(), DISTANCE, PARAMS)[0], path)
        np.testing.assert_array_equal(settle([path], SquareDensity(), PARAMS)[0], path)


def test_joined_legs_share_their_ends_once_and_stops_point_at_them():
    parts = [np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])]
    path, stops = joined(parts)
    assert path.tolist() == [[0, 0], [1, 0], [1, 1], [1, 2]]
    assert stops == (0, 1, 3)
    assert path_length(path) == sum(map(path_length, parts))


def test_a_finished_plan_says_by_how_much_post_processing_shortened_it():
    result = make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK))
    np.testing.assert_allclose(result.saved, 1 - result.length / result.raw_length)
    assert result.raw_length == sum(route.raw_length for route in result.routes)


@pytest.mark.parametrize("broken", ["spacing", "keep_margin", "tube_step", "longest_cut"])
def test_parameters_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match=broken):
        AssemblyParams(**{broken: -1.0})


def two_trees():
    """A forest of two bare trees whose roots are a step apart, and the meeting of their roots."""
    problem = Problem(starts=[[3.0, 3.0]], goals=[[3.0, 3.1]])
    forest = plant(problem, 12, DISTANCE, is_reversible=True)
    return forest, Meeting(Pair(0, 1), cost=1.0, gap=1.0, source_frame=0, target_frame=0)


def test_a_bridge_runs_from_the_source_over_the_meeting_to_the_target():
    search = planned_search()
    assert search.bridges.meetings
    for pair, meeting in search.bridges.meetings.items():
        path = bridge_path(search.forest, meeting)
        ends = search.problem.anchors[[pair.source, pair.target]]
        np.testing.assert_allclose(path[[0, -1]], ends)
        gap = np.linalg.norm(np.diff(path, axis=0), axis=1).max()
        assert gap <= max(search.models.largest_hop, search.params.search.meeting_steps * SPEED) + 1e-9


def planned_search():
    planner, problem = make_planner(BLOCK), scattered_problem(2, 2, BLOCK)
    search = ClosedLoop(planner.prepared("online"), problem, None, None, 0)
    search.run(lambda rounds: len(rounds) >= 60, None)
    return search


def test_walkways_are_built_for_every_meeting_and_cost_their_length_at_one_pace():
    search = planned_search()
    paces = []
    assert search.walkways.bridges.keys() == search.bridges.meetings.keys()
    for pair, bridge in search.walkways.bridges.items():
        np.testing.assert_allclose(bridge.path[[0, -1]], search.problem.anchors[[pair.source, pair.target]])
        paces.append(search.bridges.meetings[pair].cost / bridge.length)
    assert paces == pytest.approx([paces[0]] * len(paces))
    assert paces[0] == pytest.approx(1.0 / SPEED)


def test_the_way_back_over_a_bridge_is_the_same_way_reversed():
    bridge = Bridge(wander(0), 30.0)
    np.testing.assert_array_equal(bridge.reversed.path, bridge.path[::-1])
    np.testing.assert_array_equal(bridge.reversed.reversed.path, bridge.path)
    assert bridge.reversed.length == pytest.approx(bridge.length)
    assert bridge.reversed.raw_length == 30.0


@pytest.mark.parametrize("is_reversible", [True, False])
def test_a_meeting_is_built_once_and_another_only_if_the_trees_reach_it_sooner(is_reversible):
    forest, meeting = two_trees()
    walkways = Walkways(SquareDensity(), DISTANCE, PARAMS, is_reversible, CLOCK)
    (first,) = walkways.realise(forest, [meeting])
    assert first.cost == pytest.approx(0.1 / SPEED)
    assert walkways.realise(forest, [meeting, replace(meeting, cost=0.9)]) == ()
    assert (meeting.pair.reversed in walkways.bridges) == is_reversible


def test_a_cut_against_the_direction_of_the_path_is_refused_where_ways_are_one_way():
    """A one-way loop of three sides: the way back along the fourth is shorter, free and forbidden."""
    corners = np.array([[2.0, 2.0], [14.0, 2.0], [14.0, 6.0], [2.0, 6.0]])
    loop = resample(corners, 0.5)
    free, bound = (
        cut_corners([loop], Corridor(8.0, is_one_way), DISTANCE, PARAMS)[0] for is_one_way in (False, True)
    )
    assert path_length(free) == pytest.approx(4.0)
    assert path_length(bound) > 20.0
    assert path_length(bound) < path_length(loop)


def straight_bridge(length):
    return Bridge(resample(np.array([[3.0, 3.0], [3.0 + length, 3.0]]), 0.25), length)


def built_as(lengths):
    """Bridges of the given lengths, one after another."""
    return lambda _, meetings, *__: [straight_bridge(next(lengths)) for _ in meetings]


def test_another_meeting_is_built_only_if_the_trees_reach_it_clearly_sooner(monkeypatch):
    """Every bridge built here is shorter than the one before, so that only the threshold can refuse it."""
    lengths = iter([9.0, 8.0, 7.0])
    monkeypatch.setattr(assembly, "build_bridges", built_as(lengths))
    monkeypatch.setattr(assembly, "WORTH_BUILDING", 0.95)
    forest, meeting = two_trees()
    walkways = Walkways(SquareDensity(), DISTANCE, PARAMS, is_reversible=True, clock=CLOCK)
    built = [walkways.realise(forest, [replace(meeting, cost=cost)]) for cost in (100.0, 96.0, 94.0, 90.0)]
    assert [len(found) == 1 for found in built] == [True, False, True, False]
    assert walkways.bridges[meeting.pair].length == pytest.approx(8.0)


def test_a_bridge_that_turns_out_longer_is_forgotten(monkeypatch):
    lengths = iter([5.0, 5.0, 4.0])
    monkeypatch.setattr(assembly, "build_bridges", built_as(lengths))
    forest, meeting = two_trees()
    walkways = Walkways(SquareDensity(), DISTANCE, PARAMS, is_reversible=True, clock=CLOCK)
    built = [walkways.realise(forest, [replace(meeting, cost=cost)]) for cost in (100.0, 50.0, 25.0)]
    assert [len(found) == 1 for found in built] == [True, False, True]
    assert built[2][0].cost == pytest.approx(4.0 / SPEED)


def test_a_way_takes_its_length_at_the_pace_unless_it_surely_takes_longer():
    path = resample(np.array([[3.0, 3.0], [11.0, 3.0]]), 0.25)
    for pace, surely, steps in ((10.0, 0.9, 80.0), (12.0, 0.9, 96.0), (8.0, 0.9, 72.0)):
        assert Clock(DISTANCE, pace, surely, PARAMS)([path]) == [pytest.approx(steps)]


def test_adjoining_bridges_are_joined_into_one():
    walkways = Walkways(SquareDensity(), DISTANCE, PARAMS, is_reversible=False, clock=CLOCK)
    walkways.bridges = {
        Pair(0, 1): Bridge(np.array([[0.0, 0.0], [1.0, 0.0]]), 3.0),
        Pair(1, 2): Bridge(np.array([[1.0, 0.0], [1.0, 2.0]]), 4.0),
    }
    both = walkways.along([Pair(0, 1), Pair(1, 2)])
    assert both.path.tolist() == [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]]
    assert both.raw_length == 7.0


LINE = Problem(starts=[[0.0, 0.0]], goals=[[3.0, 0.0]], waypoints=[[1.0, 0.0], [2.0, 0.0]])


def line_plan(num_met):
    """A plan along four anchors in a row, of which so many legs are met; ways have three rows each."""
    order = (0, 1, 2, 3)

    def describe(pair):
        names = LINE.names[pair.source], LINE.names[pair.target]
        return Leg(*names, pair.source < num_met, 1.0, 0.0, 0.0, names)

    def way(pair):
        ways.append(pair)
        ends = LINE.anchors[[pair.source, pair.target]]
        return Bridge(np.array([ends[0], ends.mean(axis=0), ends[1]]), 2.0)

    ways = []
    return make_plan(order, LINE, describe, way), ways


def test_a_complete_plan_stops_at_every_anchor():
    plan, _ = line_plan(3)
    assert plan.order == ["S1", "W1", "W2", "G1"]
    assert plan.stops == (0, 2, 4, 6)
    assert (len(plan.path), plan.raw_length, len(plan.legs)) == (7, 6.0, 3)


@pytest.mark.parametrize("num_met", [0, 1, 2])
def test_an_incomplete_plan_ends_with_an_effort_and_stops_only_where_it_arrives(num_met):
    plan, ways = line_plan(num_met)
    assert ways == [Pair(k, k + 1) for k in range(num_met + 1)]
    assert plan.stops == tuple(range(0, 2 * num_met + 1, 2))
    assert len(plan.path) == 2 * num_met + 3
    assert len(plan.legs) == 3


def test_the_best_effort_leads_to_the_node_from_which_the_target_looks_nearest():
    """Of a step toward the goal, one away from it and a long detour that ends next to it."""
    problem = Problem(starts=[[3.0, 3.0]], goals=[[9.0, 3.0]])
    forest = plant(problem, 1, DISTANCE, is_reversible=True)
    tree = forest.outgoing[0]
    tails = np.array([[5.0, 3.0], [1.0, 3.0], [8.9, 3.0]])
    segments = np.stack([np.repeat(tree.state, 3, axis=0), tails], axis=1)
    cost = np.array([20.0, 20.0, 500.0])
    tree.append(Representatives(np.zeros(3, dtype=int), segments, segments[:, 1:], np.ones(3), cost))
    effort = best_effort(forest, Pair(0, 1), CALIBRATION, 0.25)
    np.testing.assert_allclose(effort.path[[0, -1]], [[3.0, 3.0], [5.0, 3.0]])
    assert effort.raw_length == pytest.approx(2.0)
