import numpy as np
import pytest
from fakes import EuclideanDistance
from road_cases import ring_road, square_road

from chronoforest.roadmap.ways import Joiner, join

GROUPS = [
    np.array([[3.0, 10.0], [17.0, 10.0]]),
    np.array([[3.0, 10.2], [3.5, 10.2], [10.0, 3.0]]),
    np.array([[10.0, 17.0], [17.2, 10.0]]),
]
"""Anchors of one problem lie beside those of another."""


def assert_same(one, other):
    np.testing.assert_array_equal(one.places.position, other.places.position)
    np.testing.assert_array_equal(one.places.spacing, other.places.spacing)
    for name in ("source", "target", "steps", "is_driven"):
        np.testing.assert_array_equal(getattr(one.hops, name), getattr(other.hops, name))
    assert one.num_anchors == other.num_anchors


@pytest.mark.parametrize("world", [square_road, ring_road])
def test_the_anchors_of_each_problem_are_joined_as_if_they_were_alone(world):
    road, known = world()
    groups = GROUPS if world is square_road else [10.0 * np.eye(2), -10.0 * np.eye(2)[:1]]
    together = Joiner(road, known).each(groups)
    assert len(together) == len(groups)
    for group, joined in zip(groups, together, strict=True):
        assert_same(joined, join(road, group, known))
        assert (joined.turns is None) == (world is square_road)


def test_nobody_has_nothing_joined():
    assert Joiner(*square_road()).each([]) == []


class CountingDistance(EuclideanDistance):
    """Counts the places that are encoded."""

    num_encoded = 0

    def encode(self, points):
        CountingDistance.num_encoded += len(points)
        return super().encode(points)


def test_the_places_of_the_roadmap_are_encoded_once():
    road, known = square_road(distance=CountingDistance())
    joiner = Joiner(road, known)
    joiner(GROUPS[0])
    CountingDistance.num_encoded = 0
    joiner(GROUPS[1])
    assert CountingDistance.num_encoded == len(GROUPS[1])
