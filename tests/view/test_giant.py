"""`chronoforest view` as a person starts it, on the giant maze with the shipped weights."""

import os
import re
import subprocess
import sys
import time

import pytest
from viewer_page import Page


@pytest.fixture(scope="module")
def viewer():
    """The command in a process of its own, with its address; ended as by ctrl-C."""
    command = [sys.executable, "-c", "from chronoforest.cli import main; raise SystemExit(main())", "view"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--no-open-page"], stdout=subprocess.PIPE, text=True, env=environment
    )
    line = process.stdout.readline()
    address = re.search(r"http://127.0.0.1:\d+/", line)[0]
    yield type("Viewer", (), {"address": address, "process": process, "began": began})
    process.terminate()
    process.wait(timeout=20)


def test_the_giant_maze_is_planned_walked_for_real_and_timed(chromium, viewer, record_property):
    page = Page(chromium, viewer)
    page.open()
    opened = time.perf_counter() - viewer.began
    record_property("opening seconds", opened)
    print(f"\nthe example is on the screen {opened:.2f} s after the command was given")
    assert page["preset"].get_attribute("value") == "pointmaze-giant-stitch-v0"
    assert "flip" in page.text("example-note")
    page["mode"].send_keys("fast")
    page.plan()
    assert page.js("return [viewer.first.plan.complete, viewer.first.flips]") == [True, [0]]
    assert "the order flipped once" in page.text("outcome")
    page.click("real")
    page.until("return viewer.walk")
    assert page.text("walk-note").count("arrived") == 2
    page.click("cancel")
    assert page.js("return viewer.panes[0].walkers.length") == 0
    page.click("walls")
    assert page.js("return viewer.ground.showsWalls && viewer.world.walls.centres.length > 0")
    page["mode"].send_keys("default")
    page.click("plan")
    seconds = page.until("return viewer.first.firstRoundMs") / 1000
    page.click("cancel")
    record_property("first round seconds", seconds)
    print(f"\nfirst round on the screen after {seconds:.2f} s")
    assert page.severe() == []


def test_ctrl_c_ends_the_viewer(viewer):
    viewer.process.send_signal(2)
    assert viewer.process.wait(timeout=20) == 0
