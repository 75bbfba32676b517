"""Every state of the page as a picture, at the widths of a phone, a tablet and a desk, light and dark.

The pictures go to the folder that CHRONOFOREST_SCREENS names, for people to look at, or to a temporary one.
What a program can see is asserted: nothing scrolls sideways, no text leaves its button, none is too faint.
"""

import base64
import os
from pathlib import Path

import pytest
from fakes import BLOCK, make_planner
from selenium.webdriver.support.ui import Select
from viewer_page import Page
from viewer_service import SlowPlanner, running

from chronoforest.view.jobs import JobLimits

SIZES = {390: 844, 768: 1024, 1400: 900}
THEMES = ("light", "dark")

MISFITS = """
const wide = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
const isCut = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
  scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
const buttons = [...document.querySelectorAll("button, figcaption, .stop, #status, output")].filter(isCut);
return [...wide, ...buttons.map((element) => `${element.id || element.className}: ${element.textContent}`)];
"""

FAINT = """
const parts = (colour) => {
  const values = colour.match(/[\\d.]+/g).map(Number);
  return colour.startsWith("color(") ? values.map((value, k) => (k < 3 ? 255 * value : value)) : values;
};
const light = (colour) => {
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = parts(colour).map((value) => linear(value / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  const { backgroundColor: colour } = getComputedStyle(element);
  return parts(colour)[3] === 0 && element.parentElement ? ground(element.parentElement) : colour;
};
const faint = (element) => {
  const [one, other] = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => a - b);
  return (other + 0.05) / (one + 0.05) < 4;
};
const kinds = "button:enabled, label, p, dt, dd, legend, summary, li, th, td, h1, #alert-text";
const isShown = (element) =>
  element.checkVisibility() && element.textContent.trim() && !element.querySelector("input:disabled");
const found = [...document.querySelectorAll(kinds)].filter((element) => isShown(element) && faint(element));
return found.map((element) => element.id || element.textContent);
"""


@pytest.fixture(scope="module")
def service():
    planners = {"default": make_planner(BLOCK), "fast": SlowPlanner(make_planner(BLOCK), 1.5)}
    with running(planners, JobLimits(grace=0.2)) as service:
        yield service


@pytest.fixture
def page(chromium, service):
    page = Page(chromium, service)
    page.open()
    yield page
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.js("localStorage.clear()")
    assert page.severe() == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    named = os.environ.get("CHRONOFOREST_SCREENS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screens")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def ready(page):
    pass


def proposed(page):
    """In the middle of planning: all legs are proposed, none is verified yet."""
    Select(page["mode"]).select_by_value("fast")
    page.click("plan")
    page.until("return viewer.first.rounds.length === 1")
    page.js("viewer.first.stop(); viewer.first.rounds[0].proposed = viewer.first.rounds[0].met")


def planned(page):
    page.plan()


def trees(page):
    Select(page["variant"]).select_by_value("online")
    page.plan()
    page.js("arguments[0].value = 1; arguments[0].dispatchEvent(new Event('input'))", page["slider"])


def compared(page):
    page.click("compare")
    page.until("return viewer.second?.isOver")


def walking(page):
    page.plan()
    page.js("arguments[0].value = 400; arguments[0].dispatchEvent(new Event('input'))", page["clock"])


def outside(page):
    page.drag(page.problem()["waypoints"][0], [10.0, 10.0])


def refused(page):
    outside(page)
    page.plan()


def crowded(page):
    """Thirty anchors."""
    for name, count in (("agents", 4), ("waypoints", 22)):
        page.js(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))",
            page[name],
            count,
        )
    page.plan()


def listed(page):
    page.click("places")
    page.js("arguments[0].scrollIntoView({block: 'center'})", page["places"])


def linked(page):
    page.plan()
    page.click("copy-link")


def keys(page):
    page.click("help")


STATES = (ready, proposed, planned, trees, compared, walking, outside, refused, crowded, listed, linked, keys)


def resize(page, width, theme):
    values = {"width": width, "height": SIZES[width], "deviceScaleFactor": 1, "mobile": False}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", values)
    if page.js("return document.documentElement.dataset.theme") != theme:
        page.js("document.getElementById('theme').click()")
    page.browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
    )


def snap(page, path):
    """The whole page, also what would have to be scrolled to."""
    width, height = page.js("return [innerWidth, document.documentElement.scrollHeight]")
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    options = {"captureBeyondViewport": True, "clip": clip}
    picture = page.browser.execute_cdp_cmd("Page.captureScreenshot", options)
    path.write_bytes(base64.b64decode(picture["data"]))


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_state_fits_and_is_readable(page, folder, state):
    state(page)
    for width in SIZES:
        for theme in THEMES:
            resize(page, width, theme)
            snap(page, folder / f"{state.__name__}-{width}-{theme}.png")
            assert page.js(MISFITS) == [], f"{width} pixels, {theme}"
            assert page.js(FAINT) == [], f"{width} pixels, {theme}"
