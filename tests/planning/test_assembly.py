import numpy as np
import pytest
from fakes import BLOCK, CALIBRATION, SPEED, EuclideanDistance, SquareDensity

from chronoforest.errors import InvalidParameter
from chronoforest.planning.assembly import (
    Bridge,
    along,
    best_effort,
    concatenated,
    make_plan,
    step_times,
    travel_times,
    way_times,
)
from chronoforest.planning.shortening import (
    AssemblyParams,
    cut_corners,
    settle,
    shorten_all,
)
from chronoforest.roadmap.straight import resample
from chronoforest.search.tree import Representatives, plant
from chronoforest.types import Leg, Pair, Plan, Problem, path_length

PARAMS = AssemblyParams()
DISTANCE = EuclideanDistance()


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
        np.testing.assert_allclose(resample(np.repeat(path, 3, axis=0), spacing), dense)
    for point in ([[1.0, 2.0]], [[1.0, 2.0]] * 3):
        np.testing.assert_allclose(resample(np.array(point), 0.25), [[1.0, 2.0]])
    along_a_line = resample(np.array([[0.0, 0.0], [3.0, 4.0]]), 0.3)
    np.testing.assert_allclose(np.linalg.norm(np.diff(along_a_line, axis=0), axis=1), 5.0 / 17)


@each_walk
def test_cutting_corners_never_lengthens_and_keeps_the_ends(seed):
    path = wander(seed)
    (cut,) = cut_corners([path], SquareDensity(BLOCK), DISTANCE, PARAMS)
    assert path_length(cut) <= path_length(path) + 1e-9
    rows = [int(np.flatnonzero((path == point).all(axis=1))[0]) for point in cut]
    assert rows == sorted({0, len(path) - 1, *rows})


@each_walk
def test_shortening_keeps_the_ends_bounds_the_hops_and_shortens_a_random_walk(seed):
    path = wander(seed)
    short = shorten_all([path], SquareDensity(BLOCK), DISTANCE, PARAMS)[0]
    np.testing.assert_allclose(short[[0, -1]], path[[0, -1]])
    assert np.linalg.norm(np.diff(short, axis=0), axis=1).max() <= PARAMS.spacing + 1e-9
    assert path_length(short) < path_length(path)
    assert SquareDensity(BLOCK).margin(resample(short, 0.05)).min() > 0


def test_a_path_round_the_block_is_not_cut_through_it():
    path = resample(np.array([[3.0, 10.0], [3.0, 17.0], [17.0, 17.0], [17.0, 10.0]]), 0.5)
    short = shorten_all([path], SquareDensity(BLOCK), DISTANCE, PARAMS)[0]
    assert SquareDensity(BLOCK).margin(short).min() > 0.8
    around = path_length(np.array([[3.0, 10.0], [7.0, 13.0], [13.0, 13.0], [17.0, 10.0]]))
    assert around < path_length(short) < 0.8 * path_length(path)


def test_tight_right_angles_at_the_edge_of_the_support_do_not_leave_it():
    """A staircase round the block's corner with hardly any room: resampling must not round it off."""
    path = np.array([[6.9, 8.0], [6.9, 13.1], [12.0, 13.1]])
    short = shorten_all([path], SquareDensity(BLOCK), DISTANCE, PARAMS)[0]
    assert SquareDensity(BLOCK).margin(resample(short, 0.02)).min() > 0


@pytest.mark.parametrize("width", [3.0, 5.0])
def test_in_a_corridor_a_path_along_the_wall_moves_to_where_there_is_room(width):
    xs = np.linspace(0.0, 20.0, 41)
    path = np.stack([xs, np.full_like(xs, 0.3)], axis=1)
    settled = shorten_all([path], Corridor(width), DISTANCE, PARAMS)[0]
    room = Corridor(width).margin(settled)
    inner = (settled[:, 0] > 3.0) & (settled[:, 0] < 17.0)
    assert room[inner].min() >= min(PARAMS.keep_margin, width / 2) - 2 * PARAMS.tube_step


def test_with_room_to_spare_the_path_becomes_the_straight_line():
    path = np.array([[0.0, 5.0], [5.0, 6.5], [10.0, 5.0]])
    short = shorten_all([path], Corridor(10.0), DISTANCE, PARAMS)[0]
    np.testing.assert_allclose(path_length(short), 10.0, rtol=1e-3)


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
    path, stops = concatenated(parts)
    assert path.tolist() == [[0, 0], [1, 0], [1, 1], [1, 2]]
    assert stops == (0, 1, 3)
    both = along([Bridge(parts[0], 3.0), Bridge(parts[1], 4.0)])
    assert (both.path.tolist(), both.raw_length) == (path.tolist(), 7.0)


@pytest.mark.parametrize("broken", ["spacing", "keep_margin", "tube_step", "longest_cut"])
def test_parameters_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match=broken):
        AssemblyParams(**{broken: -1.0})


def test_the_way_back_over_a_bridge_is_the_same_way_reversed():
    bridge = Bridge(wander(0), 30.0)
    np.testing.assert_array_equal(bridge.reversed.path, bridge.path[::-1])
    np.testing.assert_array_equal(bridge.reversed.reversed.path, bridge.path)
    assert bridge.reversed.length == pytest.approx(bridge.length)
    assert bridge.reversed.raw_length == 30.0


def test_a_way_takes_its_length_at_the_pace_unless_it_surely_takes_longer():
    path = resample(np.array([[3.0, 3.0], [11.0, 3.0]]), 0.25)
    for pace, surely, steps in ((10.0, 0.9, 80.0), (12.0, 0.9, 96.0), (8.0, 0.9, 72.0)):
        assert way_times([path], DISTANCE, pace, surely, PARAMS) == [pytest.approx(steps)]


LINE = Problem(starts=[[0.0, 0.0]], goals=[[3.0, 0.0]], waypoints=[[1.0, 0.0], [2.0, 0.0]])


def line_plan(num_met):
    """A plan along four anchors in a row, of which so many legs are met; ways have three rows each."""
    order = (0, 1, 2, 3)

    def describe(pair):
        names = LINE.names[pair.source], LINE.names[pair.target]
        return Leg(*names, pair.source < num_met, 1.0, 0.0, 0.0, names, "verified")

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


def route(costs, is_met=True):
    """Two legs of three and of six units along a line, with a point at every unit."""
    path = np.stack([np.arange(10.0), np.zeros(10)], axis=1)
    names = ["S1", "W1", "G1"]
    legs = [
        Leg(names[k], names[k + 1], is_met, cost, 0.0, 0.0, (names[k], names[k + 1]), "verified")
        for k, cost in enumerate(costs)
    ]
    return Plan(names, path, tuple(legs), 9.0, (0, 3, 9))


def test_a_leg_in_doubt_is_dear_but_not_slow():
    params = AssemblyParams(timing_hop=1.0)
    cheap, dear = (step_times(route(costs), EuclideanDistance(), params) for costs in ((3, 6), (150, 6)))
    np.testing.assert_allclose(cheap, dear)
    assert dear[-1] == pytest.approx(9.0 / SPEED)


def test_a_leg_takes_its_time_evenly():
    class Slower(EuclideanDistance):
        """Beyond x = 3 everything takes twice as long."""

        def between(self, source, target):
            return super().between(source, target) * np.where(target[..., 0] > 3.0, 2.0, 1.0)

    times = step_times(route((1, 1)), Slower(), AssemblyParams(timing_hop=1.0))
    np.testing.assert_allclose(np.diff(times)[:3], 1.0 / SPEED)
    np.testing.assert_allclose(np.diff(times)[3:], 2.0 / SPEED)


@pytest.mark.parametrize(("hop", "units"), [(4.0, 8.0), (8.0, 32**0.5)])
def test_travel_time_is_counted_over_hops_and_so_cuts_the_corners_between_them(hop, units):
    corner = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]])
    params = AssemblyParams(timing_hop=hop)
    assert travel_times([corner], EuclideanDistance(), params) == [pytest.approx(units / SPEED)]
    assert travel_times([], EuclideanDistance(), params) == []


def test_the_times_of_many_paths_are_those_of_each_alone():
    """Paths that lie far apart: a hop from one to the next would be seen in a sum."""
    paths = [np.array([[x, 0.0], [x, 3.0 + x]]) for x in (0.0, 40.0, 7.0)]
    alone = [travel_times([path], EuclideanDistance(), AssemblyParams())[0] for path in paths]
    assert travel_times(paths, EuclideanDistance(), AssemblyParams()) == pytest.approx(alone)
    assert alone == pytest.approx([3.0 / SPEED, 43.0 / SPEED, 10.0 / SPEED])
