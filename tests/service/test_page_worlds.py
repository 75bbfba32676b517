"""Worlds of one's own in the browser: learned in seconds, planned, walked, exported and looked at, from a
yard to a strait across the antimeridian."""

import json
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from generated_worlds import SIDE, WORLDS
from selenium.webdriver.support.ui import Select
from viewer_page import Page
from viewer_screens import misfits, resize, snap
from viewer_service import running

from chronoforest.cli import main
from chronoforest.peers.choice import PlannerChoice
from chronoforest.service.worlds import Worlds


@pytest.fixture(scope="module", params=WORLDS, ids=lambda world: world.name)
def world(request, tmp_path_factory):
    world, folder = request.param, tmp_path_factory.mktemp("shown")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        world.write(folder / world.file, world.frame)
        assert main(["learn", world.file, "--name", world.name]) == 0
        yield world


@pytest.fixture(scope="module")
def page(chromium, world):
    with running(worlds=Worlds(PlannerChoice(world.name))) as service:
        page = Page(chromium, service)
        page.open()
        for path in chromium.downloads.iterdir():
            path.unlink()
        yield page
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        assert page.severe() == []


def local(world, place):
    """A place of the ring of lanes, in the plane of the world's frame."""
    return world.scale * SIDE * np.array(place)


def test_it_opens_with_its_ways_and_a_plan(page, world):
    assert page["preset"].get_attribute("value") == world.name
    assert page.js("return viewer.frame.isDegrees") == world.frame.is_degrees
    assert page.js("return viewer.world.ways.length") > 20
    assert page.js("return viewer.run.plan.complete")


def test_it_is_planned_and_exported(page, world):
    stops = [world.frame.to_user(local(world, place)).tolist() for place in [(-1, 0), (0, -0.5), (1, 0)]]
    page.js(
        """const places = arguments[0].map((place) => viewer.frame.toLocal(place));
        viewer.problem.stops = Object.fromEntries(["S", "W", "G"].map(
          (kind, k) => [kind, [{ place: places[k], label: "" }]]));""",
        stops,
    )
    page.keys("p")
    page.planned()
    assert page.js("return viewer.run.plan.complete")
    for ending in ["geojson", "csv", *(["gpx"] if world.frame.is_degrees else [])]:
        page.click(f"save-{ending}")
        assert page.download(f"plan.{ending}").stat().st_size > 100
    line = json.loads((page.browser.downloads / "plan.geojson").read_text())["features"][0]
    start = world.frame.to_local(np.array(line["geometry"]["coordinates"][0]))
    assert np.linalg.norm(start - local(world, (-1, 0))) < 0.05 * world.scale * SIDE
    assert line["properties"]["time_unit"] == "s"
    assert page["save-gpx"].is_enabled() == world.frame.is_degrees
    if world.frame.is_degrees:
        gpx = fromstring((page.browser.downloads / "plan.gpx").read_bytes())
        assert len(gpx.findall(".//{*}trkpt")) == len(line["geometry"]["coordinates"])


def test_it_is_walked_by_the_clock_of_the_recordings_and_looks_right(page, world, screens):
    page.planned()
    page.set("clock", 300)
    page.until("return viewer.map.walkers.length === viewer.run.plan.routes.length")
    assert page.js("return viewer.walk.clock.hasClock")
    lasts = page.js("return viewer.run.plan.routes.map((route) => route.duration)")
    assert page.js("return viewer.walk.duration") == pytest.approx(max(lasts), rel=0.01)
    for width in (390, 1400):
        resize(page, width, "light")
        snap(page, screens / f"world-{world.name}-{width}-light.png")
        assert misfits(page) == []


def test_another_world_is_switched_to_and_back(page, world):
    names = [option.get_attribute("value") for option in Select(page["preset"]).options]
    assert names[0] == world.name
    for name in ("pointmaze-medium-stitch-v0", world.name):
        Select(page["preset"]).select_by_value(name)
        page.until("return viewer.run?.request.preset === arguments[0]", name)
        page.planned()
        assert page.js("return viewer.run.plan.complete")
