import sys
from dataclasses import replace

import numpy as np
import pytest
from fake_ants import gliding_ants

from chronoforest.errors import WorkerDied
from chronoforest.report import closeups as module
from chronoforest.report.closeups import CloseupRequest, camera_path, closeups, gl_libraries

SHAPE = (80, 120)
STEPS = [0, 10, 20, 30]


@pytest.fixture
def asked():
    result, rollouts = gliding_ants()
    return CloseupRequest(result, rollouts, STEPS, 2, SHAPE)


def renderer_that(monkeypatch, script):
    """Replace the process that renders by a script that has the `job` and writes pictures to `out`."""
    head = "import os, pickle, sys, time; job = pickle.load(sys.stdin.buffer); out = sys.stdout.buffer\n"
    monkeypatch.setattr(module, "RENDERER", [sys.executable, "-c", head + script])


RENDER = "for k in range({n}): out.write(bytes([k]) * (80 * 120 * 3))\n"


def test_rendered_pictures_come_in_order(asked, monkeypatch):
    renderer_that(monkeypatch, "assert os.environ['MUJOCO_GL'] == 'osmesa'\n" + RENDER.format(n=8))
    taken = [[int(picture[0, 0, 0]) for picture in pictures] for pictures in closeups(asked, "osmesa")]
    assert taken == [[0, 1], [2, 3], [4, 5], [6, 7]]


@pytest.mark.parametrize(
    ("script", "reason", "longest"),
    [
        ("sys.exit('no such display')", "no such display", 60.0),
        ("os.abort()", "ended with status -6", 60.0),
        ("time.sleep(60)", "ended with status -9", 0.5),
        (RENDER.format(n=3) + "out.flush(); os.abort()", "ended with status -6", 60.0),
    ],
    ids=["error", "crash", "hang", "crash on the way"],
)
def test_a_renderer_that_ends_early_says_why(asked, monkeypatch, script, reason, longest):
    monkeypatch.setattr(module, "LONGEST", longest)
    renderer_that(monkeypatch, script)
    with pytest.raises(WorkerDied) as error:
        list(closeups(asked, "egl"))
    assert reason in str(error.value)


def test_a_process_that_does_not_even_listen_is_no_renderer(asked, monkeypatch):
    monkeypatch.setattr(module, "RENDERER", [sys.executable, "-m", "chronoforest.report.nowhere"])
    long_walk = replace(asked, steps=[0] * 50_000)  # more than a pipe holds
    with pytest.raises(WorkerDied) as error:
        list(closeups(long_walk, "egl"))
    assert "chronoforest.report.nowhere" in str(error.value)


def test_the_user_chooses_the_library(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    assert gl_libraries() == ("egl", "osmesa")
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    assert gl_libraries() == ("glfw",)
    monkeypatch.delenv("MUJOCO_GL")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert gl_libraries() == ("",)


def test_a_rendered_picture_shows_an_ant_in_its_colour(asked):
    """Where this machine can render at all."""
    for library in gl_libraries():
        try:
            first, second = (picture[30:60, 40:80].astype(int) for picture in next(closeups(asked, library)))
        except WorkerDied:
            continue
        assert (first[..., 0] - first[..., 1]).max() > 80  # red
        assert (second[..., 2] - second[..., 0]).max() > 80  # teal
        return
    pytest.skip("no library of OpenGL renders here")


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
