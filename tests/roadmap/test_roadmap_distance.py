import numpy as np
import pytest
from fakes import CALIBRATION, SIDE, DriftingDistance, EuclideanDistance, WindDistance
from road_cases import gate_road, ring_road, square_road

from chronoforest.roadmap.distance import RoadmapDistance

TRUSTED = CALIBRATION.local_window


def points(count=40, seed=0):
    return np.random.default_rng(seed).uniform(1.0, SIDE - 1.0, (count, 2))


def test_near_distances_are_as_learned_and_far_ones_right_again():
    learned, places = DriftingDistance(), points()
    far_sighted = RoadmapDistance(*square_road(block=None, distance=learned))
    codes = far_sighted.encode(places)
    found, true = far_sighted.pairwise(codes, codes), EuclideanDistance().pairwise(places, places)
    is_far = true > TRUSTED
    np.testing.assert_allclose(found[~is_far], true[~is_far])
    assert (found[is_far] > 0.999 * true[is_far]).all()
    assert (found[is_far] < 1.15 * true[is_far]).all()
    assert far_sighted.reach == learned.reach


@pytest.mark.parametrize("learned", [DriftingDistance(), WindDistance()], ids=["symmetric", "directed"])
def test_one_by_one_is_as_all_against_all(learned):
    far_sighted = RoadmapDistance(*square_road(distance=learned))
    first, second = far_sighted.encode(points()), far_sighted.encode(points(30, seed=1))
    table = far_sighted.pairwise(first, second)
    rows, columns = np.indices(table.shape).reshape(2, -1)
    np.testing.assert_allclose(far_sighted.between(first[rows], second[columns]), table.ravel())


def test_what_is_not_connected_is_not_near_but_the_nearer_the_nearer_it_looks():
    road, known = gate_road(width=0)
    far_sighted = RoadmapDistance(road, known)
    places = np.array([[10.0, 5.0], [13.5, 5.0], [20.0, 5.0], [2.0, 2.0], [10.0, 10.0]])
    codes = far_sighted.encode(places)
    assert known.distance.between(places[0], places[1]) < TRUSTED
    steps = far_sighted.pairwise(codes[:1], codes[1:])[0]
    room = far_sighted.encode(road.places.position[road.places.position[:, 0] < 11.5])
    longest = far_sighted.pairwise(room, room).max()
    assert longest < steps[0] < steps[1] < np.inf
    assert (steps[2:] < longest).all()
    assert far_sighted.between(codes[:1], codes[1:2])[0] == pytest.approx(steps[0])


def test_what_a_gate_joins_is_as_far_as_the_way_through_it():
    """The points lie near each other on both sides of the wall; the gate is 5 units away."""
    far_sighted = RoadmapDistance(*gate_road(width=3))
    codes = far_sighted.encode(np.array([[10.0, 10.0], [13.5, 10.0]]))
    through = (2 * np.hypot(1.0, 4.5) + 2.0) / 0.1
    assert far_sighted.between(codes[:1], codes[1:])[0] == pytest.approx(through, rel=0.15)


def test_the_way_back_is_long_where_traffic_is_one_way_and_near_points_ahead_are_near():
    far_sighted = RoadmapDistance(*ring_road())
    codes = far_sighted.encode(10.0 * np.array([[1.0, 0.0], [0.0, 1.0]]))
    there, back = far_sighted.between(codes, codes[::-1])
    assert back > 2 * there
    angle = np.linspace(0.0, 6.0, 50)
    ahead = far_sighted.encode(10.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    assert (far_sighted.between(ahead[:-1], ahead[1:]) < TRUSTED).all()


def test_a_point_that_sees_no_place_is_as_far_as_learned():
    far_sighted = RoadmapDistance(*gate_road())
    codes = far_sighted.encode(np.array([[-30.0, -30.0], [5.0, 5.0]]))
    assert far_sighted.between(codes[:1], codes[1:])[0] == pytest.approx(np.hypot(35, 35) / 0.1)


def test_nothing_is_encoded_and_compared_without_complaint():
    far_sighted = RoadmapDistance(*gate_road())
    none, some = far_sighted.encode(np.zeros((0, 2))), far_sighted.encode(np.array([[5.0, 5.0]]))
    assert none.shape == (0, some.shape[1])
    assert far_sighted.pairwise(none, some).shape == (0, 1)
    assert far_sighted.between(none, none).shape == (0,)
