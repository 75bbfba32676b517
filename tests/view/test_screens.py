"""Every state of the page as a picture, at the widths of a phone, a tablet and a desk, light and dark.

The pictures go to the folder that CHRONOFOREST_SCREENS names, for people to look at, or to a temporary one.
What a program can see is asserted: nothing scrolls sideways, no text leaves its button, none is too faint.
"""

import pytest
from fakes import BLOCK, make_planner
from selenium.webdriver.support.ui import Select
from viewer_page import Page
from viewer_screens import FAINT, MISFITS, SIZES, THEMES, resize, snap
from viewer_service import SlowPlanner, running

from chronoforest.view.jobs import JobLimits


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


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_state_fits_and_is_readable(page, screens, state):
    state(page)
    for width in SIZES:
        for theme in THEMES:
            resize(page, width, theme)
            snap(page, screens / f"{state.__name__}-{width}-{theme}.png")
            assert page.js(MISFITS) == [], f"{width} pixels, {theme}"
            assert page.js(FAINT) == [], f"{width} pixels, {theme}"
