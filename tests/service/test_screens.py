"""Every state of the page as a picture, at the widths of a phone, a tablet and a desk, light and dark.

The pictures go to the folder that CHRONOFOREST_SCREENS names, for people to look at, or to a temporary one.
What a program can see is asserted: nothing scrolls sideways, no text leaves its button, none is too faint,
and axe-core finds nothing serious that keeps people with a keyboard or a screen reader out.
"""

import shutil
import subprocess
import tarfile

import pytest
from fakes import BLOCK, make_planner
from selenium.webdriver.support.ui import Select
from viewer_page import Page
from viewer_screens import FAINT, SIZES, THEMES, misfits, resize, snap
from viewer_service import SlowPlanner, running

SERIOUS = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => done(violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`.slice(0, 300))));
"""


@pytest.fixture(scope="module")
def service():
    with running(SlowPlanner(make_planner(BLOCK), 0.1)) as service:
        yield service


@pytest.fixture
def page(chromium, service):
    page = Page(chromium, service)
    page.open()
    yield page
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.js("localStorage.clear()")
    assert page.severe() == []


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """axe-core's script, from npm."""
    if shutil.which("npm") is None:
        pytest.skip("npm is needed for axe-core")
    folder = tmp_path_factory.mktemp("axe")
    packed = subprocess.run(
        ["npm", "pack", "axe-core@4.10.2"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    if packed.returncode:
        pytest.skip("npm has no axe-core here")
    with tarfile.open(folder / packed.stdout.split()[-1]) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def planned(page):
    pass


def growing(page):
    """In the middle of planning, with trees."""
    SlowPlanner.hold.set()
    page.js("document.getElementById('experts').open = true")
    Select(page["variant"]).select_by_value("online")
    page.until("return viewer.run.request.variant === 'online' && viewer.run.rounds.length > 0")
    page.js("viewer.run.cancel()")
    SlowPlanner.hold.clear()


def incomplete(page):
    """After one round of trees."""
    page.js("document.getElementById('experts').open = true")
    Select(page["budget-unit"]).select_by_visible_text("rounds")
    page.set("budget-amount", 1, "change")
    Select(page["variant"]).select_by_value("online")
    page.until("return viewer.run.plan?.complete === false")


def walking(page):
    page.set("clock", 400)


def chosen(page):
    page.keys("n")


def moved(page):
    """A stop was dropped where nothing was recorded."""
    page.drag(page.problem()["waypoints"][0], [10.0, 10.0])
    page.until("return document.getElementById('alert').className === 'good'")


def refused(page):
    page.js("viewer.problem.stops.W[0].label = 'x'.repeat(99)")
    page.keys("p")
    page.until("return viewer.run.state === 'failed'")


def crowded(page):
    """Thirty stops of four agents, two of which share a depot."""
    page.keys("aa", "w" * 18)
    page.planned()


def named(page):
    for name in ("W1", "W2"):
        page.field(f"name of {name}").send_keys("a stop with a rather long name\n")
    page.planned()


def linked(page):
    page.click("copy-link")


def keys(page):
    page.click("help")


def closed(page):
    """With a closed area and a stop that is fixed."""
    page.keys("c")
    Select(page.field("when W1 is visited")).select_by_value("agent 2 last")
    page.until("return viewer.run.request.fix && viewer.run.request.exclude")
    page.planned()


def folded(page):
    page.js("document.getElementById('places').open = false")


STATES = (
    planned,
    growing,
    incomplete,
    walking,
    chosen,
    moved,
    refused,
    crowded,
    named,
    linked,
    keys,
    closed,
    folded,
)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_state_fits_and_is_readable(page, screens, state):
    state(page)
    for width, theme in [*((width, "light") for width in SIZES), (1400, "dark")]:
        resize(page, width, theme)
        snap(page, screens / f"{state.__name__}-{width}-{theme}.png")
        assert misfits(page) == [], f"{width} pixels, {theme}"
        assert page.js(FAINT) == [], f"{width} pixels, {theme}"


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_nothing_serious_keeps_anyone_out(page, axe, state):
    state(page)
    page.js(axe)
    for theme in THEMES:
        resize(page, 1400, theme)
        assert page.browser.execute_async_script(SERIOUS) == [], theme
