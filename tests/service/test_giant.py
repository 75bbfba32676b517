"""`chronoforest view` as a person starts it, on the giant maze with the shipped weights."""

import os
import re
import subprocess
import sys

import pytest
from viewer_page import Page


@pytest.fixture(scope="module")
def viewer():
    """The command in a process of its own, with its address; ended as by ctrl-C."""
    command = [sys.executable, "-m", "chronoforest", "view", "--no-open-page"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    address = re.search(r"http://127.0.0.1:\d+/", process.stdout.readline())[0]
    yield type("Viewer", (), {"address": address, "process": process})
    process.terminate()
    process.wait(timeout=60)


def test_the_giant_maze_is_planned_and_walked_for_real(chromium, viewer):
    page = Page(chromium, viewer)
    page.open()
    assert page["preset"].get_attribute("value") == "pointmaze-giant-stitch-v0"
    assert page.js("return viewer.run.plan.complete")
    page.js("document.getElementById('experts').open = true")
    page.click("real")
    page.until("return viewer.walk")
    assert page.text("walk-note").count("arrived") == 2
    page.js("document.getElementById('walls').click()")
    assert page.js("return viewer.ground.showsWalls && viewer.world.walls.centres.length > 0")
    assert page.severe() == []


def test_ctrl_c_ends_the_viewer(viewer):
    viewer.process.send_signal(2)
    assert viewer.process.wait(timeout=60) == 0
