"""How far recordings lie apart, whoever they were cut from."""

import numpy as np
import pytest

from chronoforest.data.episodes import gaps


def lines(*heights, num_rows=50):
    """A track from left to right at each height."""
    along = np.linspace(0.0, 10.0, num_rows)
    return np.stack([np.stack([along, np.full(num_rows, height)], axis=1) for height in heights])


def test_a_gap_is_what_lies_between_a_place_and_the_next_recording():
    np.testing.assert_allclose(gaps(lines(0.0, 1.5)), 1.5)
    assert sorted(set(gaps(lines(0.0, 1.0, 4.0)).round(6))) == [1.0, 3.0]


def test_pieces_of_one_recording_are_no_other_recording():
    tracks = lines(0.0, 0.1, 3.0)
    np.testing.assert_allclose(gaps(tracks).min(), 0.1)
    np.testing.assert_allclose(gaps(tracks, np.array([7, 7, 2])).min(), 2.9)


def test_a_recording_alone_is_farther_from_others_than_any_of_its_own_places_nearby():
    (apart,) = {round(float(gap), 6) for gap in gaps(lines(0.0, num_rows=2))}
    assert apart == pytest.approx(10.0)


def test_only_some_places_of_many_are_looked_at():
    assert len(gaps(lines(*range(100), num_rows=50))) == 2000
