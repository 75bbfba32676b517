import numpy as np
import pytest
from fakes import (
    CALIBRATION,
    SIDE,
    DriftingDistance,
    EuclideanDistance,
    FakeModels,
    SquareDensity,
    WindDistance,
)

from chronoforest.search.landmarks import MOST_LANDMARKS, LandmarkDistance, scatter

TRUSTED = CALIBRATION.local_window


class Saturated(EuclideanDistance):
    """Never more than twice what can be trusted."""

    def between(self, source, target):
        return np.minimum(super().between(source, target), 2 * TRUSTED)


class TwoRooms(EuclideanDistance):
    """Nothing leads from x < 10 to x > 10 within reach."""

    def between(self, source, target):
        steps = super().between(source, target)
        return np.where((source[..., 0] < 10) == (target[..., 0] < 10), steps, 10 * TRUSTED)


def landmarks(spacing=1.0):
    return scatter(FakeModels().support, spacing)


def places(count=40, seed=0):
    return np.random.default_rng(seed).uniform(1.0, SIDE - 1.0, (count, 2))


@pytest.mark.parametrize("learned", [DriftingDistance(), Saturated()], ids=["too far", "too near"])
def test_far_distances_are_right_again(learned):
    points = places()
    true = EuclideanDistance().pairwise(points, points)
    found = LandmarkDistance(learned, landmarks(), TRUSTED).pairwise(points, points)
    is_far, is_farthest = true > TRUSTED, true > 3 * TRUSTED
    error = np.abs(learned.pairwise(points, points) - true)
    assert (error[is_farthest] > 0.2 * true[is_farthest]).all()
    assert (found[is_far] > 0.999 * true[is_far]).all()
    assert (found[is_far] < 1.1 * true[is_far]).all()


@pytest.mark.parametrize("learned", [DriftingDistance(), WindDistance()], ids=["symmetric", "directed"])
def test_one_by_one_is_as_all_against_all(learned):
    points, others = places(), places(30, seed=1)
    distance = LandmarkDistance(learned, landmarks(), TRUSTED)
    table = distance.pairwise(distance.encode(points), distance.encode(others))
    rows, columns = np.indices(table.shape).reshape(2, -1)
    np.testing.assert_allclose(distance.between(points[rows], others[columns]), table.ravel())


def test_nearby_it_is_what_was_learned():
    points = places()
    learned = WindDistance()
    steps = learned.pairwise(points, points)
    found = LandmarkDistance(learned, landmarks(), TRUSTED).pairwise(points, points)
    assert (found == steps)[steps <= TRUSTED].all()
    assert not (found == steps)[steps > TRUSTED].all()


def test_chains_go_in_the_direction_of_travel():
    ends = np.array([[2.0, 10.0], [18.0, 10.0]])
    learned = WindDistance()
    found = LandmarkDistance(learned, landmarks(), TRUSTED).pairwise(ends, ends)
    np.testing.assert_allclose(found, learned.pairwise(ends, ends), rtol=0.1)
    assert found[1, 0] > 1.8 * found[0, 1]


def test_without_a_chain_the_learned_distance_stands():
    ends = np.array([[2.0, 10.0], [18.0, 10.0]])
    found = LandmarkDistance(TwoRooms(), landmarks(), TRUSTED)
    assert found.pairwise(ends, ends)[0, 1] == 10 * TRUSTED
    assert found.between(ends[:1], ends[1:])[0] == 10 * TRUSTED


def test_nothing_to_compare_is_no_problem():
    distance = LandmarkDistance(DriftingDistance(), landmarks(), TRUSTED)
    none = np.zeros((0, 2))
    assert distance.pairwise(none, none).shape == (0, 0)
    assert distance.between(none, none).shape == (0,)


@pytest.mark.parametrize("spacing", [0.7, 2.0, 6.0])
def test_landmarks_lie_in_the_support_spread_out_and_near_every_place(spacing):
    models = FakeModels(density=SquareDensity(((7.0, 7.0), (13.0, 13.0))))
    found = scatter(models.support, spacing)
    assert (models.density.margin(found) > 0).all()
    apart = np.linalg.norm(found[:, None] - found, axis=-1) + np.where(np.eye(len(found)), np.inf, 0.0)
    assert apart.min() > spacing
    supported = models.support.origin + models.support.cell * np.argwhere(models.support.mask)
    nearest = np.linalg.norm(supported[:, None] - found, axis=-1).min(axis=1)
    assert nearest.max() <= 1.5 * spacing + models.support.cell


def test_there_are_never_too_many():
    found = scatter(FakeModels().support, 0.01)
    assert len(found) == MOST_LANDMARKS
    assert (np.ptp(found, axis=0) > 0.9 * SIDE).all()


def test_landmarks_do_not_depend_on_chance():
    np.testing.assert_array_equal(landmarks(), landmarks())


def test_an_empty_support_has_none():
    models = FakeModels()
    support = models.support
    support.mask[:] = False
    for spacing in (0.5, 1.0):
        assert scatter(support, spacing).shape == (0, 2)


def test_landmarks_come_from_a_grid_of_a_quarter_of_the_spacing():
    support = FakeModels().support
    steps = (scatter(support, 8.0) - support.origin) / 2.0
    np.testing.assert_allclose(steps, np.round(steps))
    assert len(steps) > 4


def test_at_the_edge_of_what_can_be_trusted_the_learned_distance_stands():
    """Over the landmark beside the way it would be longer."""
    ends = np.array([[2.0, 10.0], [7.0, 10.0]])
    distance = LandmarkDistance(EuclideanDistance(), np.array([[4.5, 11.0]]), TRUSTED)
    assert distance.between(ends[:1], ends[1:])[0] == TRUSTED
    assert distance.pairwise(ends, ends)[0, 1] == TRUSTED


def test_hops_of_just_what_can_be_trusted_make_a_chain():
    ends = np.array([[2.0, 10.0], [12.0, 10.0]])
    distance = LandmarkDistance(DriftingDistance(), np.array([[7.0, 10.0]]), TRUSTED)
    np.testing.assert_allclose(distance.pairwise(ends, ends)[0, 1], 2 * TRUSTED)


def test_a_hop_that_takes_no_time_is_a_hop():
    """A door at (6, 10) opens at (14, 10)."""

    class Door(DriftingDistance):
        def between(self, source, target):
            is_through = (source == [6.0, 10.0]).all(axis=-1) & (target == [14.0, 10.0]).all(axis=-1)
            return np.where(is_through, 0.0, super().between(source, target))

    ends = np.array([[2.0, 10.0], [18.0, 10.0]])
    distance = LandmarkDistance(Door(), np.array([[6.0, 10.0], [14.0, 10.0]]), TRUSTED)
    np.testing.assert_allclose(distance.pairwise(ends, ends)[0, 1], 80.0)
