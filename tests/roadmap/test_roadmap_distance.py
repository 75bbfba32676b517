import numpy as np
import pytest
from fakes import CALIBRATION, SIDE, DriftingDistance, EuclideanDistance, WindDistance
from road_cases import gate_road, ring_road, square_road

from chronoforest.roadmap.distance import RoadmapDistance
from chronoforest.roadmap.hops import Hops
from chronoforest.roadmap.places import Places
from chronoforest.roadmap.ways import Roadmap

TRUSTED = CALIBRATION.local_window


def distance(road, known, **options):
    return RoadmapDistance(road, known, **options)


def points(count=40, seed=0):
    return np.random.default_rng(seed).uniform(1.0, SIDE - 1.0, (count, 2))


def test_near_distances_are_as_learned_and_far_ones_right_again():
    learned, places = DriftingDistance(), points()
    far_sighted = distance(*square_road(block=None, distance=learned))
    codes = far_sighted.encode(places)
    found, true = far_sighted.pairwise(codes, codes), EuclideanDistance().pairwise(places, places)
    is_far = true > TRUSTED
    np.testing.assert_allclose(found[~is_far], true[~is_far])
    assert (found[is_far] > 0.999 * true[is_far]).all()
    assert (found[is_far] < 1.1 * true[is_far]).all()


@pytest.mark.parametrize("learned", [DriftingDistance(), WindDistance()], ids=["symmetric", "directed"])
def test_one_by_one_is_as_all_against_all(learned):
    far_sighted = distance(*square_road(distance=learned))
    first, second = far_sighted.encode(points()), far_sighted.encode(points(30, seed=1))
    table = far_sighted.pairwise(first, second)
    rows, columns = np.indices(table.shape).reshape(2, -1)
    np.testing.assert_allclose(far_sighted.between(first[rows], second[columns]), table.ravel())


def test_what_is_not_connected_is_not_near():
    road, known = gate_road(width=0)
    places = np.array([[10.0, 5.0], [13.5, 5.0]])
    for far_sighted, far in (
        (distance(road, known), np.inf),
        (distance(road, known, unconnected=900.0), 900.0),
    ):
        codes = far_sighted.encode(places)
        assert known.distance.between(*places) < TRUSTED
        assert far_sighted.between(codes[:1], codes[1:])[0] == far


def test_the_way_back_is_long_where_traffic_is_one_way():
    far_sighted = distance(*ring_road())
    codes = far_sighted.encode(10.0 * np.array([[1.0, 0.0], [0.0, 1.0]]))
    there, back = far_sighted.between(codes, codes[::-1])
    assert back > 2 * there


def test_a_point_without_a_door_is_as_far_as_learned():
    far_sighted = distance(*gate_road())
    codes = far_sighted.encode(np.array([[-30.0, -30.0], [5.0, 5.0]]))
    assert far_sighted.between(codes[:1], codes[1:])[0] == pytest.approx(np.hypot(35, 35) / 0.1)


def test_without_places_everything_is_as_learned():
    _, known = square_road()
    nowhere = Roadmap(
        Places(np.zeros((0, 2)), np.zeros(0)),
        Hops(np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0)),
        10.0,
    )
    far_sighted, places = distance(nowhere, known), points(3)
    codes = far_sighted.encode(places)
    np.testing.assert_allclose(far_sighted.pairwise(codes, codes), known.distance.pairwise(places, places))
    np.testing.assert_allclose(far_sighted.between(codes, codes), 0.0)
