"""Worlds of one's own in the browser: imported, trained for a moment, opened with streets over them, planned,
exported and looked at, from a yard to a strait across the antimeridian."""

import json
from pathlib import Path

import numpy as np
import pytest
from generated_worlds import SIDE, WORLDS, trained_world
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import Select
from viewer_page import Page
from viewer_screens import MISFITS, resize, snap
from viewer_service import running

from chronoforest.data.geofiles import parse_xml
from chronoforest.peers.choice import PlannerChoice
from chronoforest.view.jobs import JobLimits
from chronoforest.view.opening import open_worlds

ROUND = np.array([[-1, -0.5], [1, -0.5], [1, 0.5], [-1, 0.5], [-1, -0.5]]) * SIDE


def write_streets(world):
    """The middle of the lanes as GeoJSON in the user's coordinates; returns its name."""
    line = world.frame.to_user(world.scale * ROUND).tolist()
    with open("streets.geojson", "w") as file:
        json.dump(
            {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": line}},
            file,
        )
    return "streets.geojson"


@pytest.fixture(scope="module", params=WORLDS, ids=lambda world: world.name)
def world(request, tmp_path_factory):
    with trained_world(request.param, tmp_path_factory.mktemp("shown")) as world:
        yield world


@pytest.fixture(scope="module")
def page(chromium, world):
    worlds = open_worlds(PlannerChoice(world.name), Path(write_streets(world)))
    with running(worlds=worlds, limits=JobLimits(grace=0.2)) as service:
        page = Page(chromium, service)
        page.open()
        for path in chromium.downloads.iterdir():
            path.unlink()
        yield page
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        assert page.severe() == []


def put(page, world, places):
    """The problem S1 → W1 → G1 at places of the ring."""
    local = [world.frame.to_user(world.scale * SIDE * np.array(place)).tolist() for place in places]
    page.js(
        """const [start, waypoint, goal] = arguments[0].map((place) => viewer.frame.toLocal(place));
        viewer.problem.replace({ starts: [start], goals: [goal], waypoints: [waypoint] });
        document.getElementById("places").open = true;""",
        local,
    )


def test_the_world_is_opened_with_its_streets_in_the_users_coordinates(page, world):
    assert page["preset"].get_attribute("value") == world.name
    assert page.js("return viewer.frame.isDegrees") == world.frame.is_degrees
    assert page["overlay-item"].is_displayed()
    assert page.js("return viewer.ground.overlay !== null")
    middle = world.frame.to_user(world.scale * np.array([0.0, 0.5 * SIDE]))
    place = page.js("return viewer.frame.toLocal(arguments[0])", middle.tolist())
    ActionChains(page.browser).move_to_element_with_offset(page.map, *page.offset(place)).perform()
    seen = np.array([float(number) for number in page.text("cursor").split(", ")])
    apart = world.frame.to_local(seen) - world.frame.to_local(middle)
    assert np.linalg.norm(apart) < world.scale * SIDE / 100


def test_it_is_planned_and_exported(page, world):
    put(page, world, [(-1, 0), (0, -0.5), (1, 0)])
    page.plan()
    assert page.js("return viewer.first.state") == "done"
    endings = ["geojson", "csv", *(["gpx"] if world.frame.is_degrees else [])]
    for ending in endings:
        page.click(f"save-{ending}")
        assert page.download(f"plan.{ending}").stat().st_size > 100
    line = json.loads((page.browser.downloads / "plan.geojson").read_text())["features"][0]
    start = world.frame.to_local(np.array(line["geometry"]["coordinates"][0]))
    assert np.linalg.norm(start - world.scale * SIDE * np.array([-1, 0])) < 0.5
    assert line["properties"]["time_unit"] == "s"
    assert page["save-gpx"].is_enabled() == world.frame.is_degrees
    if world.frame.is_degrees:
        gpx = parse_xml((page.browser.downloads / "plan.gpx").read_bytes())
        assert len(list(gpx.iter("trkpt"))) == len(line["geometry"]["coordinates"])


def test_it_is_walked_by_the_clock_of_the_recordings_and_looks_right(page, world, screens):
    page.js("arguments[0].value = 300; arguments[0].dispatchEvent(new Event('input'))", page["clock"])
    assert page.text("clock-label").split(" of ")[1].endswith((" s", " min", " h"))
    assert len(page.js("return viewer.panes[0].walkers")) == 1
    for width in (390, 1400):
        resize(page, width, "light")
        snap(page, screens / f"world-{world.name}-{width}-light.png")
        assert page.js(MISFITS) == []


def test_another_world_is_switched_to_and_back(page, world):
    names = [option.text for option in Select(page["preset"]).options]
    assert names[0] == world.name
    assert "pointmaze-giant-stitch-v0" in names
    for name in ("pointmaze-giant-stitch-v0", world.name):
        Select(page["preset"]).select_by_value(name)
        page.until("return viewer.world.preset === arguments[0] && viewer.first === null", name)
        assert page["overlay-item"].is_displayed() == (name == world.name)
