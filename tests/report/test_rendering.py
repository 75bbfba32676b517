import numpy as np
import pytest

from chronoforest.report.rendering import camera_path


def test_the_camera_looks_where_the_ant_goes_and_turns_smoothly():
    along_x = np.stack([np.arange(100) * 0.4, np.zeros(100)], axis=1)
    along_y = along_x[-1] + np.stack([np.zeros(100), np.arange(1, 101) * 0.4], axis=1)
    centres, headings = camera_path(np.concatenate([along_x, along_y]))
    assert headings[20] == pytest.approx(0.0, abs=1.0)
    assert headings[180] == pytest.approx(90.0, abs=1.0)
    assert np.abs(np.diff(headings)).max() < 6.0
    np.testing.assert_allclose(centres[50], along_x[50], atol=0.1)


def test_an_ant_that_stands_keeps_its_last_heading():
    walk = np.stack([np.zeros(60), -0.4 * np.arange(60)], axis=1)
    _, headings = camera_path(np.concatenate([walk, np.repeat(walk[-1:], 200, axis=0)]))
    np.testing.assert_allclose(headings, -90.0, atol=1e-6)


def test_the_camera_goes_through_portals_with_the_ant():
    before = np.stack([np.arange(50) * 0.4, np.zeros(50)], axis=1)
    after = np.array([40.0, 20.0]) - before
    centres, headings = camera_path(np.concatenate([before, after]))
    np.testing.assert_allclose(centres[49], before[-1], atol=1.0)
    np.testing.assert_allclose(centres[50], after[0], atol=1.0)
    assert headings[49] == pytest.approx(0.0, abs=1e-6)
    assert abs(headings[50]) == pytest.approx(180.0)


def test_an_ant_that_never_moved_is_looked_at():
    centres, headings = camera_path(np.array([[3.0, 4.0]]))
    np.testing.assert_array_equal(centres, [[3.0, 4.0]])
    assert headings.tolist() == [0.0]
