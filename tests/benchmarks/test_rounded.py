"""Ways that keep a true distance to the walls are as long as geometry says."""

import numpy as np
import pytest

from benchmarks.rounded import corners_of, room_left, rounded_matrix
from chronoforest.bench.references import geodesic_matrix
from chronoforest.envs.mazes import Maze, cell_centre, maze

GIANT = maze("giant")
CENTRES = cell_centre(GIANT.free_cells[::5])


def drawn(*rows):
    return Maze("drawn", np.array([[letter == "#" for letter in row] for row in rows]), ())


BEND = drawn("####", "#..#", "##.#", "####")
ACROSS = [(0.0, 0.0), (4.0, 4.0)]
"""From one end of the bend to the other: the wall's corner lies half-way between them."""


@pytest.mark.parametrize("room", [1e-6, 0.5, 1.0, 1.3])
def test_a_bend_takes_two_tangents_and_the_arc_between_them(room):
    to_corner = 8**0.5
    expected = 2 * (8 - room**2) ** 0.5 + 2 * room * np.arcsin(room / to_corner)
    lengths = rounded_matrix(BEND, ACROSS, room)
    assert lengths[0, 1] == lengths[1, 0] == pytest.approx(expected)
    assert (np.diag(lengths) == 0.0).all()


def test_two_walls_that_touch_at_a_corner_leave_no_way_between_them():
    assert np.isinf(rounded_matrix(drawn("####", "#.##", "##.#", "####"), ACROSS, 1.0)[0, 1])


def test_without_room_it_is_the_geodesic():
    np.testing.assert_allclose(
        rounded_matrix(GIANT, CENTRES, 1e-6), geodesic_matrix(GIANT, CENTRES, 1e-6), atol=1e-4
    )


def test_round_corners_are_shorter_than_square_ones_and_more_room_is_longer():
    near, far = (rounded_matrix(GIANT, CENTRES, room) for room in (1.0, 1.3))
    assert (near <= far + 1e-9).all()
    assert (near <= geodesic_matrix(GIANT, CENTRES, 1.0) + 1e-9).all()
    assert (near < far - 1e-3).any()


def test_every_corner_can_have_a_room_of_its_own():
    centres = cell_centre(GIANT.free_cells)
    corners, _ = corners_of(GIANT)
    common = rounded_matrix(GIANT, centres, 1.0)
    room = np.full(len(corners), 1.0)
    room[0] = 1.2
    own = rounded_matrix(GIANT, centres, room)
    is_longer = own > common + 1e-9
    assert (own >= common - 1e-9).all()
    assert is_longer.any()
    assert not is_longer.all()


def test_the_room_left_is_measured_from_the_corner():
    class Walls:
        def margin(self, points):
            clearance = GIANT.wall_clearance(points.reshape(-1, 2))
            return clearance.reshape(points.shape[:-1]) - 0.2

    np.testing.assert_allclose(room_left(GIANT, Walls(), 1.1), 1.3, atol=0.02)
