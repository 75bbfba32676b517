import numpy as np
import pytest

from benchmarks.mazes import maze
from benchmarks.references import bfs_matrix, centre_path, geodesic_matrix, geodesics, task_points
from chronoforest.envs.maps import MAPS, cell_centre
from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.types import path_length

GIANT = maze("giant")


def bfs_length(world, start, goal):
    return bfs_matrix(world, [start, goal])[0, 1]


def random_points(world, num_points, seed=0, spread=1.9):
    rng = np.random.default_rng(seed)
    cells = rng.choice(world.free_cells, num_points)
    return cell_centre(cells) + rng.uniform(-spread, spread, (num_points, 2))


@pytest.mark.parametrize(
    ("clearance", "expected"), [(1.0, [98.0, 86.0, 93.2, 85.2, 55.3]), (0.25, [88.6, 78.3, 81.1, 75.2, 50.0])]
)
def test_any_angle_lengths_of_the_giant_tasks(clearance, expected):
    lengths = [geodesics(GIANT, clearance).length(*ends) for ends in task_points(GIANT)]
    np.testing.assert_allclose(lengths, expected, atol=0.15)


def test_cell_lengths_of_the_tasks():
    def lengths(name):
        return [bfs_length(maze(name), *ends) for ends in task_points(maze(name))]

    assert lengths("medium") == [40, 40, 24, 40, 32]
    assert lengths("large") == [60, 76, 48, 56, 60]
    assert lengths("giant") == [120, 104, 120, 104, 68]
    assert lengths("teleport") == [92, 60, 56, 100, 108], "the ways that enter no portal"


@pytest.mark.parametrize("name", MAPS)
def test_ways_through_centres_join_free_neighbours_and_are_shortest(name):
    world = maze(name)
    for start, goal in task_points(world):
        path = centre_path(world, start, goal)
        np.testing.assert_array_equal(path[[0, -1]], [start, goal])
        assert path_length(path) == bfs_length(world, start, goal)
        np.testing.assert_array_equal(np.linalg.norm(np.diff(path, axis=0), axis=1), 4.0)
        assert world.path_clearance(path) >= 2.0


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("clearance", [0.25, 1.0, 1.5])
def test_paths_have_their_stated_length_and_keep_their_clearance(name, clearance):
    world = maze(name)
    ways = geodesics(world, clearance)
    centres = cell_centre(world.free_cells)
    pairs = np.random.default_rng(0).choice(centres, (12, 2))
    for start, goal in pairs[[is_usable(ways, *pair) for pair in pairs]]:
        path = ways.path(start, goal)
        assert path_length(path) == pytest.approx(ways.length(start, goal))
        assert world.path_clearance(path) >= clearance - 1e-9
        np.testing.assert_array_equal(path[[0, -1]], [start, goal] if len(path) > 1 else [start, start])


def is_usable(ways, start, goal):
    """Neither end in a portal, and a way between them."""
    try:
        return np.isfinite(ways.length(start, goal))
    except InvalidProblem:
        return False


def test_lengths_are_a_metric_between_the_straight_line_and_the_cells():
    points = random_points(GIANT, 40, spread=0.99)
    lengths = geodesic_matrix(GIANT, points, 1.0)
    np.testing.assert_allclose(lengths, lengths.T)
    assert (lengths[:, :, None] <= lengths[:, None] + lengths.T[None] + 1e-9).all()
    assert (lengths >= np.linalg.norm(points[:, None] - points, axis=-1) - 1e-9).all()
    centres = cell_centre(GIANT.free_cells)
    assert (geodesic_matrix(GIANT, centres, 1.0) <= bfs_matrix(GIANT, centres) + 1e-9).all()


def test_points_close_to_a_wall_step_away_from_it_first():
    ways = geodesics(GIANT, 1.0)
    beside = np.array([-1.9, 0.0])
    assert ways.length(beside, [0.0, 8.0]) == pytest.approx(0.9 + np.hypot(1.0, 8.0))
    assert ways.length(beside, beside) == 0.0
    np.testing.assert_allclose(ways.path(beside, [0.0, 8.0]), [[-1.9, 0.0], [-1.0, 0.0], [0.0, 8.0]])


def test_the_sealed_cell_has_no_way_out():
    teleport = maze("teleport")
    trap, outside = cell_centre(np.array([(1, 7), (1, 1)]))
    assert np.isinf(geodesics(teleport).length(trap, outside))
    assert np.isinf(bfs_length(teleport, trap, outside))
    with pytest.raises(InvalidProblem, match="no way"):
        geodesics(teleport).path(trap, outside)


def test_bad_input_is_refused():
    with pytest.raises(InvalidParameter, match="clearance must be between 0 and 2 units, got 2"):
        geodesics(GIANT, 2.0)
    with pytest.raises(InvalidProblem, match="lies in a wall"):
        geodesics(GIANT).length([4.0, 0.0], [0.0, 0.0])
    with pytest.raises(InvalidProblem, match="off the map"):
        bfs_length(GIANT, [-50.0, 0.0], [0.0, 0.0])
