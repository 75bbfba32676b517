"""What somebody could have moved like, in a square with or without a block."""

import numpy as np
import pytest
from fakes import BLOCK, SPEED, STRIDE, SquareDensity

from chronoforest.search.junction import (
    LEAST_STEPS,
    has_no_jump,
    is_supported,
    longest_hop,
    sound_part,
)

HOP = SPEED * STRIDE


def test_a_segment_is_unsupported_as_soon_as_one_frame_is():
    east = np.stack([np.linspace(3.0, 6.5, 8), np.full(8, 10.0)], axis=1)
    into_block = east + np.array([1.0, 0.0])
    assert is_supported(np.stack([east, into_block]), SquareDensity(BLOCK)).tolist() == [True, False]


def test_from_an_anchor_outside_the_support_a_segment_may_come_back_but_not_stray_farther():
    back = np.stack([np.linspace(-0.4, 3.0, 8), np.full(8, 10.0)], axis=1)
    away = back * [-1.0, 1.0] - [0.8, 0.0]
    assert is_supported(np.stack([back, away]), SquareDensity()).tolist() == [True, False]


def test_a_frame_on_the_edge_of_the_support_is_outside():
    ends = [[0.0, 10.0], [0.001, 10.0]]
    segments = np.array([[[2.0, 10.0], [1.0, 10.0], end] for end in ends])
    assert is_supported(segments, SquareDensity()).tolist() == [False, True]


def test_the_first_frame_after_the_boundary_counts():
    back = np.array([[[1.0, 10.0], [-1.0, 10.0], [1.0, 10.0]]])
    assert is_supported(back, SquareDensity()).tolist() == [False]


def test_the_slip_is_how_much_farther_outside_than_the_boundary_a_frame_may_be():
    outside = np.array([[[-0.4, 10.0], [-0.4 - more, 10.0], [1.0, 10.0]] for more in (0.03, 0.07)])
    assert is_supported(outside, SquareDensity(), slip=0.05).tolist() == [True, False]
    assert is_supported(outside, SquareDensity()).tolist() == [False, False]


def test_a_hop_as_long_as_the_longest_recorded_one_is_no_jump():
    hops = np.array([[[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]]])
    assert has_no_jump(hops, 0.5).tolist() == [True]


def test_a_hop_longer_than_any_recording_is_a_jump():
    steady = np.stack([np.arange(5) * 0.5, np.zeros(5)], axis=1)
    torn = steady.copy()
    torn[3:] += [0.2, 0.0]
    assert has_no_jump(np.stack([steady, torn]), 0.5 + 1e-9).tolist() == [True, False]


def test_frames_a_step_apart_may_be_a_few_steps_apart():
    """What a denoiser blurs is as much as a step; frames that are more steps apart move much farther."""
    assert longest_hop(0.5, stride=1) == longest_hop(0.5, stride=LEAST_STEPS) == 2.0
    assert longest_hop(0.5, stride=10) == 5.0


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ([[4.0, 10.0], [4.4, 10.0], [4.8, 10.0]], 3),
        ([[4.0, 10.0], [4.4, 10.0], [6.0, 10.0]], 2),
        ([[4.0, 10.0], [6.0, 10.0], [6.2, 10.0]], 1),
        ([[4.0, 10.0], [-0.2, 10.0], [0.2, 10.0]], 1),
    ],
)
def test_a_segment_stays_before_its_first_jump_or_unsupported_frame(path, kept):
    (found,) = sound_part(np.array([path]), np.array([False]), SquareDensity(), HOP, 0.0)
    np.testing.assert_array_equal(found, [*path[:kept], *[path[kept - 1]] * (3 - kept)])
