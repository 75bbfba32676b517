import sys
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from fake_ants import gliding_ants

from chronoforest.report import closeups, drawing
from chronoforest.report.closeups import Closeups, gl_libraries
from chronoforest.report.maps import rgb
from chronoforest.report.rendering import CloseupRequest

SHAPE = (80, 120)
STEPS = [0, 10, 20, 30]


@pytest.fixture
def asked():
    result, rollouts = gliding_ants()
    return CloseupRequest(result, rollouts, STEPS, 2, SHAPE)


def renderer_that(monkeypatch, script):
    """Replace the process that renders by a script that has the `job` and writes pictures to `out`."""
    head = "import os, pickle, sys, time; job = pickle.load(sys.stdin.buffer); out = sys.stdout.buffer\n"
    monkeypatch.setattr(closeups, "RENDERER", [sys.executable, "-c", head + script])
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")


def is_drawn(picture, agent):
    """Whether the ant's colour is at the middle of the picture."""
    return np.abs(picture[SHAPE[0] // 2, SHAPE[1] // 2] - rgb(drawing.agent_colour(agent))).max() < 5


RENDER = "for k in range({n}): out.write(bytes([k]) * (80 * 120 * 3))\n"


def test_rendered_pictures_come_in_order(asked, monkeypatch):
    renderer_that(monkeypatch, RENDER.format(n=8))
    with closing(Closeups(asked)) as view:
        taken = [[int(picture[0, 0, 0]) for picture in view.pictures(step)] for step in STEPS]
    assert taken == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert view.note == "ants rendered by MuJoCo with egl"


def test_the_first_library_that_works_is_taken(asked, monkeypatch):
    renderer_that(monkeypatch, "assert os.environ['MUJOCO_GL'] == 'osmesa'\n" + RENDER.format(n=8))
    with closing(Closeups(asked)) as view:
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
def test_where_nothing_renders_ants_are_drawn(asked, monkeypatch, script, reason, patience):
    monkeypatch.setattr(closeups, "FIRST_PICTURE", patience)
    renderer_that(monkeypatch, script)
    with closing(Closeups(asked)) as view:
        taken = [view.pictures(step) for step in STEPS]
    assert view.note.startswith("ants drawn")
    assert reason in view.note
    for step in taken[1:]:
        assert [picture.shape for picture in step] == [(*SHAPE, 3)] * 2
        assert is_drawn(step[0], 0)
        assert is_drawn(step[1], 1)


def test_a_process_that_does_not_even_listen_is_no_renderer(asked, monkeypatch):
    renderer_that(monkeypatch, "")
    monkeypatch.setattr(closeups, "RENDERER", [sys.executable, "-m", "chronoforest.report.nowhere"])
    long_walk = replace(asked, steps=[0] * 50_000)  # more than a pipe holds
    with closing(Closeups(long_walk)) as view:
        assert "No module named chronoforest.report.nowhere" in view.note


def test_a_crash_on_the_way_is_survived(asked, monkeypatch):
    renderer_that(monkeypatch, RENDER.format(n=3) + "out.flush(); os.abort()")
    with closing(Closeups(asked)) as view:
        taken = [view.pictures(step) for step in STEPS]
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


def test_a_rendered_picture_shows_an_ant_in_its_colour(asked):
    """Where this machine can render at all."""
    with closing(Closeups(asked)) as view:
        if not view.note.startswith("ants rendered"):
            pytest.skip(view.note)
        first, second = (view.pictures(STEPS[0])[k][30:60, 40:80].astype(int) for k in range(2))
    assert (first[..., 0] - first[..., 1]).max() > 80  # red
    assert (second[..., 2] - second[..., 0]).max() > 80  # teal
