import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from chronoforest.models.grid import between_cells

TABLE = np.random.default_rng(0).normal(size=(7, 5))
OUTSIDE = -9.0


def looked_up(x, y):
    return map_coordinates(TABLE, [x, y], order=1, mode="constant", cval=OUTSIDE)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-0.5, 1.5)])
def test_every_bit_is_that_of_the_library(low, high):
    x, y = np.random.default_rng(1).uniform(low, high, (2, 20_000)) * np.array([[6], [4]])
    np.testing.assert_array_equal(between_cells(TABLE, x, y, OUTSIDE), looked_up(x, y))


def test_the_cells_themselves_keep_their_values_up_to_the_last_row_and_column():
    x, y = (axis.ravel().astype(float) for axis in np.indices(TABLE.shape))
    np.testing.assert_array_equal(between_cells(TABLE, x, y, OUTSIDE), TABLE.ravel())


def test_just_beyond_the_first_and_last_cells_and_nowhere_is_outside():
    x = np.array([-1e-9, 6 + 1e-9, 3.0, 3.0, np.nan, np.inf])
    y = np.array([2.0, 2.0, -1e-9, 4 + 1e-9, 2.0, 2.0])
    assert (between_cells(TABLE, x, y, OUTSIDE) == OUTSIDE).all()


def test_no_places_have_no_values():
    assert between_cells(TABLE, np.zeros(0), np.zeros(0), OUTSIDE).shape == (0,)
