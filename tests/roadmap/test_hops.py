from dataclasses import replace

import numpy as np
import pytest
from fakes import CALIBRATION, SPEED, EuclideanDistance, WindDistance
from road_cases import gate_road, ring_road, square_road
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from chronoforest.roadmap.hops import SPAN, TRUSTED_SHARE, Lines, Usual, price, survey


class Lucky(EuclideanDistance):
    """A portal near the origin makes everything there look near."""

    def between(self, source, target):
        steps = super().between(source, target)
        return np.where(np.linalg.norm(source, axis=-1) < 6.0, 0.1 * steps, steps)


def lengths(road):
    return np.linalg.norm(
        road.places.position[road.hops.target] - road.places.position[road.hops.source], axis=1
    )


def test_every_hop_stays_inside_the_support():
    road, known = square_road()
    starts, ends = road.places.position[road.hops.source], road.places.position[road.hops.target]
    for share in np.linspace(0.0, 1.0, 50):
        assert (known.density.margin(starts + share * (ends - starts)) > 0).all()


def test_hops_are_within_the_trusted_range_and_span():
    road, _ = square_road()
    trusted = TRUSTED_SHARE * CALIBRATION.local_window
    spacing = road.places.spacing
    mean = 0.5 * (spacing[road.hops.source] + spacing[road.hops.target])
    assert (CALIBRATION.local_ratios[0] * lengths(road) / SPEED <= trusted).all()
    assert (lengths(road) <= SPAN * mean + 1e-9).all()
    assert (lengths(road) > 0).all()


def test_a_hop_takes_the_usual_pace():
    road, _ = square_road()
    np.testing.assert_allclose(road.hops.steps, lengths(road) / SPEED)
    assert road.pace == pytest.approx(1 / SPEED)


def test_luck_makes_no_hop_cheaper_than_the_usual_pace():
    road, _ = square_road(distance=Lucky())
    assert (road.hops.steps >= 0.999 * lengths(road) / SPEED).all()


def test_a_hop_against_the_wind_is_dearer_than_the_way_back():
    road, _ = square_road(distance=WindDistance())
    moves = road.places.position[road.hops.target] - road.places.position[road.hops.source]
    pace = road.hops.steps / lengths(road)
    heading = moves[:, 0] / lengths(road)
    assert np.median(pace[heading < -0.9]) > 1.3 * np.median(pace[heading > 0.9])


def test_hops_follow_the_traffic():
    road, _ = ring_road()
    starts, ends = road.places.position[road.hops.source], road.places.position[road.hops.target]
    turn = starts[:, 0] * ends[:, 1] - starts[:, 1] * ends[:, 0]
    is_long = (lengths(road) > 1.0) & road.hops.is_driven
    assert is_long.sum() > 100
    assert (turn[is_long] > 0).mean() > 0.99


def test_a_gate_of_a_few_cells_is_found():
    road, _ = gate_road(width=2)
    graph = csr_matrix((road.hops.steps, (road.hops.source, road.hops.target)))
    num_parts, _ = connected_components(graph, connection="strong")
    assert num_parts == 1


def test_what_the_distance_cannot_mean_to_be_near_is_no_hop():
    class TwoRooms(EuclideanDistance):
        def between(self, source, target):
            is_across = (source[..., 0] < 10) != (target[..., 0] < 10)
            return super().between(source, target) + 100.0 * is_across

    road, _ = square_road(block=None, distance=TwoRooms())
    x = road.places.position[:, 0]
    assert ((x[road.hops.source] < 10) == (x[road.hops.target] < 10)).all()


def test_a_way_nobody_measured_is_walked_at_full_speed():
    road, known = square_road()
    nobody = replace(road.places, position=road.places.position[:0], spacing=road.places.spacing[:0])
    lines = survey(nobody, road.places, known)
    assert Usual.along(lines, known).pace == pytest.approx(1 / SPEED)
    assert len(price(lines, Usual(10.0), CALIBRATION)) == 0


def test_prices_are_never_below_what_the_distance_means_at_least():
    lines = Lines(
        np.array([0, 1]),
        np.array([1, 0]),
        np.array([1.0, 1.0]),
        np.array([5.0, 100.0]),
        np.zeros(2),
        np.ones(2, dtype=bool),
    )
    assert price(lines, Usual(10.0), CALIBRATION).steps.tolist() == [10.0, 90.0]
