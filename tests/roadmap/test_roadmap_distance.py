import numpy as np
import pytest
from fakes import CALIBRATION, SIDE, DriftingDistance, EuclideanDistance, WindDistance
from road_cases import gate_road, ground, square_road
from scipy.sparse.csgraph import floyd_warshall
from toy_world import ring_episodes

from chronoforest.models.density import DensityParams, fit_density
from chronoforest.roadmap.distance import Chains, RoadmapDistance
from chronoforest.roadmap.roadmap import build_roadmap
from chronoforest.roadmap.states import Track

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
    room = far_sighted.encode(road.position[road.position[:, 0] < 11.5])
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


def test_the_way_back_is_long_where_traffic_is_one_way():
    """Recordings go round a ring, always counter-clockwise."""
    xy = ring_episodes().xy.astype(float)
    density = fit_density(xy, DensityParams(bandwidth=0.4), jump=3.0)
    road = build_roadmap(
        [Track(way, np.arange(float(len(way))), k) for k, way in enumerate(xy)], both_ways=False
    )
    far_sighted = RoadmapDistance(road, ground(density, EuclideanDistance(), density.step_length))
    codes = far_sighted.encode(10.0 * np.array([[1.0, 0.0], [0.0, 1.0]]))
    there, back = far_sighted.between(codes, codes[::-1])
    assert back > 2 * there


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


def test_chains_are_found_as_they_are_asked_for_and_none_is_longer_than_the_longest():
    for road in (square_road()[0], gate_road(width=0)[0]):
        graph = road.hops.graph(len(road.position))
        chains, table, rng = Chains(graph), floyd_warshall(graph), np.random.default_rng(0)
        for _ in range(3):
            some = rng.integers(0, len(table), (4, 5))
            np.testing.assert_allclose(chains.leaving(some)[some], table[some], rtol=1e-5)
        longest = table[np.isfinite(table)].max()
        assert longest <= 1.001 * chains.longest <= 2.1 * longest
