"""What straight lines between rows cut off corners, whatever the noise."""

import numpy as np
import pytest

from chronoforest.data.tracks import Spacing, Tracks


def spacing_of(*ways):
    return Spacing.of(Tracks.joined(("", np.arange(float(len(way))), way) for way in ways))


def block(spacing, noise=0.0, side=100.0, seed=3):
    """Through a town of square blocks, straight on or round the corner, a row every `spacing` units."""
    rng = np.random.default_rng(seed)
    heading = np.cumsum(rng.choice([-1, 0, 0, 1], 400)) * np.pi / 2
    corners = side * np.cumsum(np.stack([np.cos(heading), np.sin(heading)], axis=1), axis=0)
    along = np.arange(0.0, 399 * side, spacing)
    knots = side * np.arange(400)
    places = np.stack([np.interp(along, knots, axis) for axis in corners.T], axis=1)
    return places + rng.normal(0, noise, places.shape)


def test_rows_close_together_cut_little_and_noise_is_no_corner():
    for noise in (0.0, 2.0):
        fine = spacing_of(block(10.0, noise))
        assert fine.move == pytest.approx(10.0, rel=0.2)
        assert fine.cut < 3.0
        assert not fine.is_coarse


def test_rows_as_far_apart_as_corners_are_called_too_far():
    coarse = spacing_of(block(70.0, 2.0))
    assert coarse.is_coarse
    assert "m apart" in coarse.summary("m")
    assert "record more often" in coarse.summary("m")


def test_straight_ways_cut_nothing_however_far_apart_rows_are():
    straight = np.stack([np.arange(0.0, 50000.0, 1000.0), np.zeros(50)], axis=1)
    assert spacing_of(straight) == Spacing(1000.0, 0.0)


def test_too_few_rows_tell_nothing():
    assert spacing_of(np.zeros((2, 2)), np.zeros((30, 2))) == Spacing(0.0, 0.0)
