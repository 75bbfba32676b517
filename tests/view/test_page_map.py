"""What the maps show besides plans: a scale, places, names, a clock; from centimetres to kilometres."""

import json

import numpy as np
import pytest
from fakes import BLOCK, make_planner
from selenium.webdriver.common.action_chains import ActionChains
from viewer_service import running

from chronoforest.view.jobs import JobLimits

IMPORTED = (
    "const [done] = [...arguments].slice(-1); import('/static/{module}').then((module) => done({call}));"
)


@pytest.fixture(scope="module")
def service():
    with running({"default": make_planner(BLOCK)}, JobLimits(grace=0.2)) as service:
        yield service


def from_module(page, module, call, *arguments):
    script = IMPORTED.format(module=module, call=call)
    return page.browser.execute_async_script(script, *arguments)


@pytest.mark.parametrize(
    ("metres", "text"),
    [
        (0.034, "3.4 cm"),
        (0.5, "50 cm"),
        (7.25, "7.25 m"),
        (186.26, "186.3 m"),
        (4321, "4.321 km"),
        (310_000, "310 km"),
    ],
)
def test_lengths_are_written_by_their_scale(page, metres, text):
    assert from_module(page, "format.js", "module.lengthText(arguments[0], { unit: 'm' })", metres) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0421337, "0.04213 units"), (40.123, "40.12 units"), (446123.4, "446123 units"), (0, "0 units")],
)
def test_lengths_without_a_unit_keep_four_digits(page, value, text):
    assert from_module(page, "format.js", "module.lengthText(arguments[0], { unit: 'units' })", value) == text


@pytest.mark.parametrize(
    ("value", "has_clock", "text"),
    [(431.2, False, "431 steps"), (12.34, True, "12.3 s"), (75, True, "1:15 min"), (7384, True, "2:03:04 h")],
)
def test_times_are_written_by_the_clock(page, value, has_clock, text):
    call = "module.timeText(arguments[0], { hasClock: arguments[1] })"
    assert from_module(page, "format.js", call, value, has_clock) == text


@pytest.mark.parametrize("scale", [1e-3, 1.0, 37.0, 1e6])
def test_the_scale_bar_is_a_round_length_that_fits(page, scale):
    length = from_module(page, "format.js", "module.roundLength(arguments[0])", 150 / scale)
    assert 60 <= length * scale <= 150
    assert f"{length:e}"[0] in "125"


def test_the_scale_bar_follows_the_zoom(page):
    before = page.until("return viewer.panes[0].scaleBar")
    page.keys("+++++")
    assert page.until("return viewer.panes[0].scaleBar < arguments[0]", before)


def test_the_place_under_the_pointer_is_told(page):
    ActionChains(page.browser).move_to_element_with_offset(page.map, *page.offset([10.0, 3.5])).perform()
    x, y = (float(number) for number in page.text("cursor").split(", "))
    assert (x, y) == pytest.approx((10.0, 3.5), abs=0.06)


PLACED = """module.placeNames(arguments[0].map(([x, y], k) => (
    { name: `W${k + 1}`, spot: [x, y], isChosen: k === arguments[1] })), 6.5, () => 20, 260)"""


def test_names_of_thirty_anchors_never_lie_on_each_other(page):
    spots = np.random.default_rng(0).uniform(0, 260, (30, 2)).tolist()
    placed = from_module(page, "marks.js", PLACED, spots, 29)
    assert "W30" in [one["name"] for one in placed]
    assert len(placed) > 15
    boxes = np.array([[one["x"], one["y"]] for one in placed])
    apart = np.abs(boxes[:, None] - boxes)
    is_clear = (apart[..., 0] >= 20) | (apart[..., 1] >= 14) | np.eye(len(boxes), dtype=bool)
    assert is_clear.all()


def test_a_name_without_room_is_left_out_but_not_the_chosen_one(page):
    spots = [[100 + k % 3, 100 + k // 3] for k in range(30)]
    placed = from_module(page, "marks.js", PLACED, spots, 17)
    assert 0 < len(placed) < 30
    assert placed[0]["name"] == "W18"


def seek(page, share):
    script = "arguments[0].value = 1000 * arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    page.js(script, page["clock"], share)


def test_the_clock_brings_everybody_to_where_they_are_then(page):
    page.plan()
    seek(page, 0.5)
    times, path = (page.js(f"return viewer.first.plan.routes[0].{name}") for name in ("times", "path"))
    now = page.js("return viewer.walk.now")
    assert now == pytest.approx(page.js("return viewer.walk.duration / 2"), rel=0.01)
    expected = [np.interp(now, times, np.array(path)[:, axis]) for axis in range(2)]
    assert page.js("return viewer.panes[0].walkers[0].place") == pytest.approx(expected, abs=1e-3)
    assert page.text("clock-label").startswith(f"{round(now)} steps of ")
    seek(page, 1)
    goal = page.problem()["goals"][0]
    assert page.js("return viewer.panes[0].walkers[0].place") == pytest.approx(goal, abs=1e-3)


def test_a_walker_looks_where_it_goes(page):
    page.plan()
    seek(page, 0.3)
    here, heading = page.js("const [one] = viewer.panes[0].walkers; return [one.place, one.heading]")
    seek(page, 0.33)
    there = page.js("return viewer.panes[0].walkers[0].place")
    moved = np.subtract(there, here)
    ahead = [np.cos(heading), np.sin(heading)]
    assert moved @ ahead > 0.7 * np.linalg.norm(moved)


def test_the_plan_is_saved_for_maps_and_tables(page):
    page.plan()
    for ending in ("geojson", "csv"):
        page.click(f"save-{ending}")
    line = json.loads(page.download("plan.geojson").read_text())["features"][0]
    assert line["geometry"]["coordinates"][0] == pytest.approx(page.problem()["starts"][0])
    assert page.download("plan.csv").read_text().startswith("agent,point,x,y,along,time,speed,stop\n")
    assert not page["save-gpx"].is_enabled()


@pytest.mark.parametrize("width", [0.08, 52.0, 4e5])
def test_places_are_told_apart_in_worlds_of_any_width(page, width):
    digits = from_module(page, "problem.js", "module.digitsFor(arguments[0])", width)
    assert 10.0**-digits <= width / 5000


def touch(page, kind, points):
    values = {"type": kind, "touchPoints": [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]}
    page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", values)


def test_two_fingers_zoom(page):
    box = page.map.rect
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch(page, "touchStart", [(x - 40, y)])
    touch(page, "touchStart", [(x - 40, y), (x + 40, y)])
    for apart in (60, 80, 100, 120):
        touch(page, "touchMove", [(x - apart, y), (x + apart, y)])
    touch(page, "touchEnd", [])
    page.until("return viewer.view.zoom > 2.5")
    assert page.js("return viewer.view.zoom") == pytest.approx(3.0, rel=0.1)


def test_a_legs_way_is_dashed_until_it_is_verified(page):
    """Seen from outside: the canvas is asked to dash lines exactly while a leg is proposed."""
    page.plan()
    dashed = """
        const dashes = [];
        const { prototype } = CanvasRenderingContext2D;
        const known = prototype.setLineDash;
        prototype.setLineDash = function (dash) { dashes.push(dash.length); known.call(this, dash); };
        viewer.first.plan.routes[0].legs[0].evidence = arguments[0];
        viewer.panes[0].redraw();
        const done = arguments[1];
        requestAnimationFrame(() => requestAnimationFrame(() => {
          prototype.setLineDash = known;
          done(dashes.filter((length) => length === 2).length);
        }));
    """
    assert page.browser.execute_async_script(dashed, "verified") == 0
    assert page.browser.execute_async_script(dashed, "proposed") == 1
