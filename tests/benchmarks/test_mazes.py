import numpy as np
import pytest

from benchmarks.mazes import cell_of, maze
from chronoforest.envs.maps import MAPS, cell_centre
from chronoforest.envs.tasks import make_env


@pytest.mark.parametrize("name", MAPS)
def test_maps_tasks_and_portals_are_those_of_ogbench(name):
    env = make_env(f"pointmaze-{name}-stitch-v0").unwrapped
    ours = maze(name)
    np.testing.assert_array_equal(ours.is_wall, env.maze_map == 1)
    assert list(ours.tasks) == [(task["init_ij"], task["goal_ij"]) for task in env.task_infos]
    portals = env._teleport_info or {"teleport_in_ijs": [], "teleport_out_ijs": []}
    assert list(ours.portals_in) == portals["teleport_in_ijs"]
    assert list(ours.portals_out) == portals["teleport_out_ijs"]


def test_cells_and_points_agree_with_ogbench():
    rng = np.random.default_rng(0)
    env = make_env("pointmaze-giant-stitch-v0").unwrapped
    for x, y in rng.uniform((-5, -5), (57, 41), (200, 2)):
        assert tuple(cell_of(np.array([x, y]))) == env.xy_to_ij((x, y))
    assert tuple(cell_centre(np.array([3, 5]))) == env.ij_to_xy((3, 5)) == (16, 8)


def test_clearance_is_the_distance_to_the_nearest_wall_box():
    giant = maze("giant")
    # Cell (1, 1) has walls left, below and to the right of it.
    points = np.array([[0.0, 0.0], [-1.5, 0.0], [0.5, -1.0], [4.0, 0.0], [-100.0, 0.0]])
    np.testing.assert_allclose(giant.wall_clearance(points), [2.0, 0.5, 1.0, 0.0, 0.0])


def test_clearance_of_a_path_sees_the_corner_it_passes_between_its_points():
    giant = maze("giant")
    # From cell (2, 1) through (3, 1) to (3, 2), cutting the corner of wall (2, 2) at (2, 6).
    path = np.array([2.0, 6.0]) + np.array([(-2.0, -1.0), (1.0, 2.0)])
    assert giant.path_clearance(path) == pytest.approx(np.sqrt(0.5))
    assert not giant.crosses_wall(path)


def test_a_path_crosses_a_wall_even_between_free_points():
    giant = maze("giant")
    assert giant.crosses_wall(np.array([[0.0, 0.0], [8.0, 0.0]]))
    assert giant.crosses_wall(np.array([[1.0, 5.0], [3.0, 7.0], [2.5, 5.5]]))
    assert giant.path_clearance(np.array([[0.0, 0.0], [8.0, 0.0]])) == 0.0


def test_a_single_point_and_a_path_off_the_map_are_judged_too():
    giant = maze("giant")
    assert giant.crosses_wall(np.array([[4.0, 0.0]]))
    assert not giant.crosses_wall(np.array([[0.0, 0.0]]))
    assert giant.crosses_wall(np.array([[-50.0, 0.0], [-50.0, 5.0]]))


def test_crossing_agrees_with_dense_sampling():
    """Random segments cross a wall exactly when one of many points along them lies in one."""
    giant, rng = maze("giant"), np.random.default_rng(1)
    starts = rng.uniform((0, 0), (52, 36), (300, 2))
    for start, end in zip(starts, starts + rng.normal(0, 3, (300, 2)), strict=True):
        dense = start + np.linspace(0, 1, 2000)[:, None] * (end - start)
        assert giant.crosses_wall(np.array([start, end])) == (not giant.is_free(dense).all())
