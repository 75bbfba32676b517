import numpy as np
from fakes import BLOCK, SIDE, SPEED, FakeModels, SquareDensity
from road_cases import grid_density, support_of
from scipy.spatial import cKDTree

from chronoforest.roadmap.places import LEAST, MOST, Places, sees_place, spread
from chronoforest.types import Support


def square_places(block=BLOCK):
    density = SquareDensity(block)
    return spread(FakeModels(density=density).support, density, SPEED), density


def corridor_world(width):
    """A hall of 10 by 10 units and a corridor of `width` cells that leaves it."""
    mask = np.zeros((120, 48), dtype=bool)
    mask[4:44, 4:44] = True
    mask[40:116, 20 : 20 + width] = True
    return grid_density(mask)


def test_places_are_supported_and_every_supported_point_sees_one():
    places, density = square_places()
    assert (density.margin(places.position) > 0).all()
    points = np.random.default_rng(0).uniform(0.3, SIDE - 0.3, (2000, 2))
    points = points[density.margin(points) > 0.2]
    assert sees_place(points, places, density, 0.05).all()


def test_places_are_closer_where_the_way_is_narrow():
    density = corridor_world(3)
    places = spread(support_of(density), density, SPEED)
    in_hall = (places.position < 10.0).all(axis=1)
    gap = cKDTree(places.position).query(places.position, k=2)[0][:, 1]
    assert np.median(gap[~in_hall]) < 0.6 * np.median(gap[in_hall])
    assert gap.min() >= SPEED * LEAST - 1e-9


def test_a_place_beside_the_wall_of_a_hall_is_not_on_a_narrow_way():
    density = corridor_world(3)
    places = spread(support_of(density), density, SPEED)
    beside = (density.margin(places.position) < 1.0) & (places.position < 10.0).all(axis=1)
    # Its walls are 40 units long; at the corridor's spacing they would have more than 100.
    assert beside.sum() < 20


def test_no_place_is_farther_from_the_next_than_the_longest_spacing_allows():
    places, _ = square_places(block=None)
    gap = cKDTree(places.position).query(places.position, k=2)[0][:, 1]
    assert places.spacing.max() <= MOST * SPEED + 1e-9
    assert gap.max() <= 2 * MOST * SPEED


def test_the_same_world_gives_the_same_places():
    first, second = square_places()[0], square_places()[0]
    np.testing.assert_array_equal(first.position, second.position)


def test_a_wall_thinner_than_the_spacing_has_places_on_both_sides():
    mask = np.zeros((60, 60), dtype=bool)
    mask[4:56, 4:56] = True
    mask[4:50, 30] = False
    density = grid_density(mask)
    places = spread(support_of(density), density, SPEED)
    cells = density.cell * np.argwhere(mask)
    assert sees_place(cells, places, density, density.cell).mean() > 0.995


def test_an_empty_support_has_no_places():
    density = SquareDensity()
    nowhere = Support(np.zeros(2), 0.5, np.zeros((4, 4), dtype=bool))
    places = spread(nowhere, density, SPEED)
    assert len(places) == 0
    assert not sees_place(np.ones((1, 2)), places, density, 0.2).any()


def test_nothing_sees_no_place():
    assert len(sees_place(np.zeros((0, 2)), Places(np.ones((1, 2)), np.ones(1)), SquareDensity(), 0.2)) == 0
