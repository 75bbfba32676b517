import sys
from dataclasses import replace

import numpy as np
import pytest
from fake_ants import gliding_ants

from chronoforest.report import closeups
from chronoforest.report import drawing as pictures
from chronoforest.report.canvas import rgb
from chronoforest.report.closeups import Closeups, Storyboard, gl_libraries, thinned

SHAPE = (80, 120)
STEPS = [0, 10, 20, 30]


@pytest.fixture
def story():
    result, rollouts = gliding_ants()
    return Storyboard(result, rollouts, STEPS, 2, SHAPE)


def studio_that(monkeypatch, script):
    """Replace the process that renders by a script that has the `job` and writes pictures to `out`."""
    head = "import os, pickle, sys, time; job = pickle.load(sys.stdin.buffer); out = sys.stdout.buffer\n"
    monkeypatch.setattr(closeups, "STUDIO", [sys.executable, "-c", head + script])
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")


def is_drawn(picture, agent):
    """Whether the ant's colour is at the middle of the picture."""
    return np.abs(picture[SHAPE[0] // 2, SHAPE[1] // 2] - rgb(pictures.agent_colour(agent))).max() < 5


RENDER = "for k in range({n}): out.write(bytes([k]) * (80 * 120 * 3))\n"


def test_rendered_pictures_come_in_order(story, monkeypatch):
    studio_that(monkeypatch, RENDER.format(n=8))
    with Closeups(story) as view:
        taken = [[int(picture[0, 0, 0]) for picture in view.take(step)] for step in STEPS]
    assert taken == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert view.note == "ants rendered by MuJoCo with egl"


def test_the_first_library_that_works_is_taken(story, monkeypatch):
    studio_that(monkeypatch, "assert os.environ['MUJOCO_GL'] == 'osmesa'\n" + RENDER.format(n=8))
    with Closeups(story) as view:
        assert view.note == "ants rendered by MuJoCo with osmesa"


@pytest.mark.parametrize(
    ("script", "reason", "patience"),
    [
        ("sys.exit('no such display')", "egl: no such display; osmesa: no such display", 60.0),
        ("os.abort()", "egl: ended with status -6", 60.0),
        ("time.sleep(60)", "egl: ended with status -9", 0.5),
    ],
    ids=["error", "crash", "hang"],
)
def test_where_nothing_renders_ants_are_drawn(story, monkeypatch, script, reason, patience):
    monkeypatch.setattr(closeups, "FIRST_PICTURE", patience)
    studio_that(monkeypatch, script)
    with Closeups(story) as view:
        taken = [view.take(step) for step in STEPS]
    assert view.note.startswith("ants drawn")
    assert reason in view.note
    for step in taken[1:]:
        assert [picture.shape for picture in step] == [(*SHAPE, 3)] * 2
        assert is_drawn(step[0], 0)
        assert is_drawn(step[1], 1)


def test_a_process_that_does_not_even_listen_is_no_studio(story, monkeypatch):
    studio_that(monkeypatch, "")
    monkeypatch.setattr(closeups, "STUDIO", [sys.executable, "-m", "chronoforest.report.nowhere"])
    long_walk = replace(story, moments=[0] * 5000)  # more than a pipe holds
    with Closeups(long_walk) as view:
        assert "No module named chronoforest.report.nowhere" in view.note


def test_a_crash_on_the_way_is_survived(story, monkeypatch):
    studio_that(monkeypatch, RENDER.format(n=3) + "out.flush(); os.abort()")
    with Closeups(story) as view:
        taken = [view.take(step) for step in STEPS]
    assert taken[0][1][0, 0, 0] == 1
    assert is_drawn(taken[1][0], 0)
    assert "with egl until step 10, drawn from there" in view.note


def test_the_user_chooses_the_library(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    assert gl_libraries() == ("egl", "osmesa")
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    assert gl_libraries() == ("glfw",)
    monkeypatch.delenv("MUJOCO_GL")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert gl_libraries() == ("",)


def test_a_rendered_picture_shows_an_ant_in_its_colour(story):
    """Where this machine can render at all."""
    with Closeups(story) as view:
        if not view.note.startswith("ants rendered"):
            pytest.skip(view.note)
        first, second = (view.take(STEPS[0])[k][30:60, 40:80].astype(int) for k in range(2))
    assert (first[..., 0] - first[..., 1]).max() > 80  # red
    assert (second[..., 2] - second[..., 0]).max() > 80  # teal


def test_thinned_paths_keep_their_ends():
    path = np.stack([np.linspace(0, 10, 501), np.zeros(501)], axis=1)
    shown = thinned(path)
    np.testing.assert_array_equal(shown[[0, -1]], path[[0, -1]])
    assert 10 / closeups.SPACING <= len(shown) <= 10 / closeups.SPACING + 3
