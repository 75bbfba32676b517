import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from chronoforest.models.density import (
    DensityParams,
    GridDensity,
    GridParams,
    between_cells,
    fit_density,
    jump_starts,
)

PARAMS = DensityParams()
JUMP = 1.5


def walks(num_episodes=400, num_steps=50, seed=0):
    """Short walks that fill the square [0, 10]² and never leave it."""
    rng = np.random.default_rng(seed)
    steps = rng.uniform(-0.3, 0.3, (num_episodes, num_steps, 2))
    steps[:, 0] = rng.uniform(0, 10, (num_episodes, 2))
    return np.abs((steps.cumsum(axis=1) + 10.0) % 20.0 - 10.0)


def with_portal(tracks, place=(5.0, 5.0), count=30):
    """Some recordings stand at the portal and are elsewhere one step later."""
    tracks = tracks.copy()
    tracks[:count, 20] = place
    tracks[:count, 19] = np.array(place) - 0.1
    tracks[:count, 21:] = tracks[count : 2 * count, 21:]
    tracks[:count, 21:] = np.clip(tracks[:count, 21:], 8.0, 10.0)
    return tracks


def box_density(cell=0.1):
    """A hand-made support: [2, 6] × [2, 6] in a grid from 0 to 8."""
    ticks = np.arange(0.0, 8.0 + cell / 2, cell)
    x, y = np.meshgrid(ticks, ticks, indexing="ij")
    support = (abs(x - 4) <= 2 + 1e-9) & (abs(y - 4) <= 2 + 1e-9)
    return GridDensity(np.zeros(2), cell, np.where(support, 0.0, -20.0), support, 0.2)


def test_the_margin_is_positive_inside_negative_outside_and_zero_at_the_edge():
    density = box_density()
    assert density.margin(np.array([4.0, 4.0])) == pytest.approx(2.05, abs=0.11)
    assert density.margin(np.array([1.0, 4.0])) == pytest.approx(-0.95, abs=0.11)
    for edge in ([6.05, 4.0], [1.95, 3.0], [4.0, 6.05]):
        assert density.margin(np.array(edge)) == pytest.approx(0.0, abs=1e-9)


def test_the_margin_changes_no_faster_than_one_moves():
    density = box_density()
    rng = np.random.default_rng(0)
    here = rng.uniform(0.5, 7.5, (500, 2))
    there = here + rng.normal(0, 0.3, (500, 2))
    change = np.abs(density.margin(here) - density.margin(there))
    assert (change <= np.linalg.norm(here - there, axis=1) + 2.5 * density.cell).all()


def test_far_outside_the_grid_there_is_neither_density_nor_room():
    density = box_density()
    far = np.array([[100.0, 100.0], [-50.0, 4.0]])
    assert (density.margin(far) < -1.0).all()
    assert (density.log_density(far) == -20.0).all()


def test_any_leading_shape_is_kept_however_points_lie_in_memory():
    density = box_density()
    points = np.random.default_rng(0).uniform(0, 8, (3, 4, 5, 2))
    assert density.margin(points).shape == density.log_density(points).shape == (3, 4, 5)
    np.testing.assert_allclose(density.margin(points)[1, 2, 3], density.margin(points[1, 2, 3]))
    assert density.margin(np.zeros((0, 2))).shape == (0,)
    turned = np.moveaxis(np.ascontiguousarray(np.moveaxis(points, -1, 0)), 0, -1)
    np.testing.assert_array_equal(density.margin(turned), density.margin(points))


def test_a_fitted_support_holds_the_data_and_not_much_more():
    density = fit_density(walks(), PARAMS, JUMP)
    assert (density.margin(walks()) > 0).mean() > 0.999
    beyond = np.array([[-2.0, 5.0], [12.0, 5.0], [5.0, -2.0], [5.0, 12.0]])
    assert (density.margin(beyond) < -0.5).all()
    assert np.exp(density.log_table).sum() * density.cell**2 == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(("usual", "bandwidth"), [(0.05, 0.3), (0.4, 0.4), (5.0, 2 * 0.25)])
def test_thin_recordings_widen_the_bandwidth_to_their_usual_gap_but_not_beyond_two_steps(usual, bandwidth):
    gaps = np.concatenate([np.full(95, usual), np.full(5, 9.0)])
    assert DensityParams(bandwidth=0.3).widened(gaps, step_length=0.25).bandwidth == pytest.approx(bandwidth)


def test_the_step_length_is_one_that_hardly_any_walk_exceeded_and_jumps_do_not_count():
    tracks = with_portal(walks())
    hops = np.linalg.norm(np.diff(tracks, axis=1), axis=-1)
    step_length = fit_density(tracks, PARAMS, JUMP).step_length
    walked = hops[hops <= JUMP]
    assert step_length <= JUMP < hops.max()
    assert (walked <= step_length).mean() == pytest.approx(GridParams().full_step, abs=1e-3)


def test_places_around_a_jump_are_unsupported():
    plain, portal = (fit_density(tracks, PARAMS, JUMP) for tracks in (walks(), with_portal(walks())))
    angle = np.linspace(0, 2 * np.pi, 20)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    radius = GridParams().hazard * portal.step_length
    near = 5.0 + (radius - 0.15) * circle
    assert (plain.margin(near) > 0).all()
    assert (portal.margin(near) < 0).all()
    assert (portal.margin(5.0 + (radius + 0.5) * circle) > 0).mean() > 0.9


def test_jumps_start_one_step_before_them():
    tracks = np.array([[[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [5.5, 0.0]]])
    assert jump_starts(tracks, 1.5).tolist() == [[1.0, 0.0]]
    assert jump_starts(tracks, 9.0).shape == (0, 2)


def test_a_stray_far_away_is_left_out_of_a_table_that_would_be_too_large_with_it():
    tracks = walks()
    strayed = tracks.copy()
    strayed[0, 40:] += 1e5
    plain, without = (fit_density(some, PARAMS, JUMP) for some in (tracks, strayed))
    assert without.cell == plain.cell
    assert (without.margin(tracks[1:]) > 0).mean() > 0.97
    assert without.margin(strayed[0, -1]) < 0


def test_cells_of_a_wide_world_are_as_large_as_its_table_needs():
    grid = GridParams(most_cells=2000)
    coarse = fit_density(walks(), PARAMS, JUMP, grid=grid)
    assert coarse.support.size == pytest.approx(grid.most_cells, rel=0.5)
    assert (coarse.margin(walks()) > 0).mean() > 0.99


def one_way_lane(heading_steps):
    """Drives east along y = 0 and, above x = 10, north along x = 10."""
    rng = np.random.default_rng(0)
    east = np.stack([np.linspace(0, 10, 41), np.zeros(41)], axis=1)
    north = np.stack([np.full(41, 10.0), np.linspace(0, 10, 41)], axis=1)
    tracks = np.concatenate([np.tile(east, (30, 1, 1)), np.tile(north, (30, 1, 1))])
    tracks = tracks + rng.normal(0, 0.03, tracks.shape)
    return fit_density(tracks, PARAMS, JUMP, heading_steps)


def test_only_directions_that_were_recorded_are_followed():
    density = one_way_lane(2)
    assert density.is_one_way
    places = np.array([[5.0, 0.0], [5.0, 0.0], [5.0, 0.0], [10.0, 5.0], [10.0, 5.0], [50.0, 0.0]])
    moves = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.6], [0.0, 1.0], [0.0, -1.0], [1.0, 0.0]])
    assert density.follows(places, moves).tolist() == [True, False, True, True, False, False]
    assert density.follows(places[:2], 0.01 * moves[:2]).all()


def test_the_direction_of_a_lane_is_its_own_where_the_one_beside_it_leads_back():
    """Four bandwidths apart, as carriageways are, and three times as many drive on one as on the other."""
    rng = np.random.default_rng(0)
    east = np.stack([np.linspace(0, 20, 81), np.zeros(81)], axis=1)
    aside = np.array([0.0, 4 * PARAMS.bandwidth])
    west = east[::-1] + aside
    tracks = np.concatenate([np.tile(east, (60, 1, 1)), np.tile(west, (20, 1, 1))])
    density = fit_density(tracks + rng.normal(0, 0.03, tracks.shape), PARAMS, JUMP, 2)
    middles = np.stack([np.linspace(5, 15, 21), np.zeros(21)], axis=1)
    for places, ahead in ((middles, [1.0, 0.0]), (middles + aside, [-1.0, 0.0])):
        assert density.follows(places, np.array(ahead)).all()
        assert not density.follows(places, -np.array(ahead)).any()


def test_without_a_table_every_direction_is_followed():
    density = one_way_lane(0)
    assert not density.is_one_way
    assert density.heading_bits is None
    assert density.follows(np.zeros((2, 3, 2)), -np.ones(2)).shape == (2, 3)
    assert density.follows(np.zeros((2, 3, 2)), -np.ones(2)).all()


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
