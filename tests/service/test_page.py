"""The page in a real browser: everything that a mouse, fingers and a keyboard can do on it."""

import base64
import json
import math
import statistics
from itertools import count, pairwise

import numpy as np
import polyline
import pytest
from fakes import BLOCK, FakeModels, SquareDensity
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait
from viewer_page import PATIENCE, Page
from viewer_service import SlowPlanner, running, worlds_of

from chronoforest.data.frames import Frame
from chronoforest.exports.saved import load_result
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.service.worlds import World

PACIFIC = Frame("degrees", (179.99995, -17.0), 2.0)

FILL = """
const [numAnchors, numNodes, numRounds, done] = arguments;
const { Run } = await import("/static/run.js");
const { Problem } = await import("/static/problem.js");
const place = (k) => [1 + (k * 7.3) % 18, 1 + (k * 3.7) % 18];
const places = Array.from({ length: numAnchors }, (_, k) => place(k));
const [starts, goals, waypoints] = [places.slice(0, 5), places.slice(5, 10), places.slice(10)];
viewer.problem = new Problem({ starts, goals, waypoints });
const run = new Run(viewer.problem.toJSON(), viewer.frame);
const rows = [...places.keys()];
const shared = rows.slice(5, numAnchors - 5);
for (let round = 0; round < numRounds; round += 1) {
  const nodes = rows.slice(0, numNodes / numRounds);
  const wiggle = (k) => Array.from({ length: 42 }, (_, t) => 10 + 9 * Math.sin(k + round + t / 20 + (t % 2)));
  const visits = (agent) => shared.filter((row) => (row + round) % 5 === agent);
  const route = rows.slice(0, 5).map((agent) => [agent, ...visits(agent), numAnchors - 5 + agent]);
  run.rounds.push(run.completed({ route, cost: 1, met: [], proposed: [], expanded: 1, paths: [], seconds: 1,
    nodes: (round + 1) * nodes.length, trees: nodes.map((k) => [k, wiggle(k)]),
    meetings: nodes.map((k) => [k, (k + 1) % numAnchors, place(k + 9)]) }));
}
run.state = "done";
viewer.run = viewer.shown = run;
done();
"""

PAN = """
const [numFrames, done] = arguments;
const between = [];
let last = performance.now();
function frame(now) {
  between.push(now - last);
  last = now;
  viewer.map.view.centre = [viewer.map.view.centre[0] + 0.01, viewer.map.view.centre[1]];
  viewer.map.redraw();
  if (between.length < numFrames) requestAnimationFrame(frame);
  else done(between);
}
requestAnimationFrame(frame);
"""


SEEDS = count(100)
"""Of plans that take long; one that was made before is there at once."""


def fake(name, frame=None):
    planner = Planner(FakeModels(density=SquareDensity(BLOCK)), PlannerParams(), name, frame)
    return World(name, SlowPlanner(planner, 0.1))


@pytest.fixture(scope="module")
def service():
    with running(worlds=worlds_of(fake("fake"), fake("pacific", PACIFIC))) as service:
        yield service


@pytest.fixture
def pacific(chromium, service):
    page = Page(chromium, service)
    page.open()
    Select(page["preset"]).select_by_value("pacific")
    page.until("return viewer.world.preset === 'pacific' && viewer.run?.frame === viewer.frame")
    page.planned()
    return page


def from_module(page, module, call, *arguments):
    script = (
        f"const [done] = [...arguments].slice(-1); import('/static/{module}').then((module) => done({call}));"
    )
    return page.browser.execute_async_script(script, *arguments)


@pytest.fixture(autouse=True)
def released():
    """No plan is held after a test."""
    yield
    SlowPlanner.hold.clear()


def grow_trees(page):
    """Plan with trees, which takes many rounds; the first of them has come, and there it stays."""
    SlowPlanner.hold.set()
    page.js("document.getElementById('experts').open = true")
    seed = next(SEEDS)
    page.set("seed", seed, "change")
    Select(page["variant"]).select_by_value("online")
    page.until("return viewer.run.request.variant === 'online' && viewer.run.rounds.length >= 1")
    assert page.js("return viewer.run.request.seed") == seed


def near(place, other, tolerance=0.3):
    return math.dist(place, other) <= tolerance


def at(page, place):
    """Actions that begin at a place of the world."""
    return ActionChains(page.browser).move_to_element_with_offset(page.map, *page.offset(place))


def test_it_opens_with_a_plan_and_its_timetable(page, record_property):
    assert page.js("return viewer.run.plan.complete")
    tables = page.browser.find_elements(By.CSS_SELECTOR, "#timetable table")
    routes = page.js("return viewer.run.plan.routes.map(({ order }) => order)")
    assert len(tables) == len(routes) == 2
    for table, order in zip(tables, routes, strict=True):
        stops = table.find_elements(By.CSS_SELECTOR, "tbody th")
        assert [stop.text for stop in stops] == order
        evidence = [row.text for row in table.find_elements(By.CSS_SELECTOR, "tbody td:last-child")]
        assert evidence[0] == ""
        assert all(evidence[1:])
    record_property("milliseconds until the first plan is shown", page.until("return viewer.run.shownAt"))


def test_a_stop_is_dragged_planned_again_at_once_and_undone_with_a_key(page, record_property):
    before, first = page.problem(), page.js("return viewer.run.plan.length")
    page.drag(before["waypoints"][0], [10.0, 3.0])
    page.until("return !viewer.run.isStale")
    page.planned()
    after = page.problem()
    assert near(after["waypoints"][0], [10.0, 3.0])
    assert {**after, "waypoints": after["waypoints"][1:]} == {**before, "waypoints": before["waypoints"][1:]}
    assert page.js("return viewer.run.request.waypoints") == after["waypoints"]
    assert page.js("return viewer.run.plan.length") != pytest.approx(first, abs=1e-6)
    took = page.until("return viewer.run.shownAt && viewer.run.shownAt - viewer.run.askedAt")
    record_property("milliseconds from the drop to the plan", took)
    ActionChains(page.browser).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    page.planned()
    assert page.problem() == before
    assert page.js("return viewer.run.plan.length") == pytest.approx(first)


def test_stops_are_added_and_deleted_with_the_mouse(page):
    before = page.problem()
    at(page, [10.0, 3.5]).double_click().perform()
    page.until("return viewer.problem.stops.W.length === arguments[0]", len(before["waypoints"]) + 1)
    assert near(page.problem()["waypoints"][-1], [10.0, 3.5])
    at(page, [10.0, 3.5]).context_click().perform()
    page.until("return viewer.problem.stops.W.length === arguments[0]", len(before["waypoints"]))
    assert page.problem() == before


def test_everything_can_be_done_with_keys(page):
    before = page.problem()
    page.keys("n", Keys.ARROW_RIGHT)
    moved = page.problem()["starts"][0]
    assert moved[0] > before["starts"][0][0]
    assert moved[1] == before["starts"][0][1]
    page.keys("w", "a")
    assert len(page.problem()["waypoints"]) == len(before["waypoints"]) + 1
    assert len(page.problem()["starts"]) == len(page.problem()["goals"]) == len(before["starts"]) + 1
    page.keys(Keys.DELETE)
    assert len(page.problem()["starts"]) == len(before["starts"])
    page.planned()
    assert page.js("return viewer.run.request.waypoints") == page.problem()["waypoints"]
    page.keys("?")
    assert page["keys"].is_displayed()
    ActionChains(page.browser).send_keys(Keys.ESCAPE).perform()
    assert not page["keys"].is_displayed()


def test_the_last_agent_stays_and_the_page_says_so(page):
    for _ in range(2):
        page.keys("n", Keys.DELETE)
    assert len(page.problem()["starts"]) == 1
    assert page["alert"].is_displayed()


def test_agents_share_a_depot_by_a_drop(page):
    starts = page.problem()["starts"]
    page.drag(starts[1], starts[0])
    page.until("return !viewer.run.isStale")
    page.planned()
    assert page.problem()["starts"] == [starts[0], starts[0]]
    assert page.js("return viewer.run.plan.complete")


def test_a_stop_is_named_and_the_name_is_in_the_table_and_the_link(page):
    field = page.field("name of W2")
    field.send_keys("school", Keys.ENTER)
    page.until("return viewer.problem.stops.W[1].label === 'school'")
    page.planned()
    names = [row.text for row in page.browser.find_elements(By.CSS_SELECTOR, "#timetable tbody th")]
    assert "school" in names
    assert "W2" not in names
    page.click("copy-link")
    link = page["link"].get_attribute("value")
    page.open(link.removeprefix(page.service.address))
    assert "school" in page.problem()["labels"]


def test_a_stop_is_fixed_to_an_agent_and_its_place_and_the_link_keeps_it(page):
    order = page.js("return viewer.run.plan.routes[0].order")
    others = [name for name in ("W1", "W2", "W3", "W4") if name not in order]
    fixed = others[0] if others else order[1]
    Select(page.field(f"when {fixed} is visited")).select_by_value("agent 1 last")
    page.until("return viewer.run.request.fix?.[arguments[0]] === 'agent 1 last'", fixed)
    page.planned()
    assert page.js("return viewer.run.plan.routes[0].order.at(-2)") == fixed
    page.click("copy-link")
    page.open(page["link"].get_attribute("value").removeprefix(page.service.address))
    assert page.problem()["fix"] == {fixed: "agent 1 last"}
    page.keys("n", Keys.DELETE)
    assert page.problem()["fix"] == {fixed: "last"}


def test_an_area_is_closed_with_the_mouse_moved_with_keys_and_opened_again(page):
    first = page.js("return viewer.run.plan.length")
    path = np.array(page.js("return viewer.run.plan.routes[0].path")).reshape(-1, 2)
    stops = np.array([stop for kind in ("starts", "waypoints", "goals") for stop in page.problem()[kind]])
    x, y = path[np.linalg.norm(path[:, None] - stops, axis=-1).min(axis=1).argmax()]
    page.click("close-area")
    corners = [(x - 0.6, y - 0.6), (x + 0.6, y - 0.6), (x + 0.6, y + 0.6), (x - 0.6, y + 0.6)]
    spots = [page.offset(corner) for corner in corners]
    drawn = ActionChains(page.browser, duration=20).move_to_element_with_offset(page.map, *spots[0])
    drawn.click_and_hold()
    for (x0, y0), (x1, y1) in pairwise(spots):
        drawn.move_by_offset(x1 - x0, y1 - y0)
    drawn.release().perform()
    page.until("return viewer.run.request.exclude?.length === 1")
    page.planned()
    (area,) = page.problem()["exclude"]
    np.testing.assert_allclose([np.min(area, 0), np.max(area, 0)], [corners[0], corners[2]], atol=0.1)
    for route in page.js("return viewer.run.plan.routes"):
        inside = np.abs(np.array(route["path"]).reshape(-1, 2) - (x, y)).max(axis=1) < 0.5
        assert not inside.any()
    page.keys(Keys.ARROW_RIGHT)
    page.until("return viewer.problem.toJSON().exclude[0][0][0] > arguments[0]", area[0][0])
    page.keys(Keys.DELETE)
    page.planned()
    assert "exclude" not in page.problem()
    assert page.js("return viewer.run.plan.length") == pytest.approx(first)
    page.keys("c")
    page.planned()
    assert len(page.problem()["exclude"][0]) == 4
    assert page.field("area 1 x")


def test_a_plan_of_one_leg_shows_other_ways_around_closed_areas(page):
    """The service's routes are played: worlds this small have one way."""
    page.js("""
        viewer.world.ways = [[0, 0, 1, 1]];
        const known = window.fetch;
        const line = (y) => ({ geometry: { coordinates: [[3, y], [17, y]] }, distance: 14, duration: 70 });
        window.fetch = (path, options) => {
          if (!path.startsWith("/route/")) return known(path, options);
          window.asked = decodeURIComponent(path);
          return Promise.resolve(new Response(JSON.stringify({ routes: [line(3), line(4), line(5)] })));
        };""")
    page.js(
        "for (const [kind, num] of [['S', 1], ['W', 0], ['G', 1]]) viewer.problem.stops[kind].length = num"
    )
    page.keys("c")
    page.until("return viewer.map.others.length === 2")
    assert page.js("return window.asked").startswith("/route/v1/fake/")
    assert "&exclude=polygon(" in page.js("return window.asked")
    button = page.browser.find_element(By.CSS_SELECTOR, "#others button")
    assert button.text == "14 units, 70 steps"
    button.send_keys(Keys.ENTER)
    assert page.js("return viewer.map.others.map(({ isChosen }) => isChosen)") == [True, False]
    page.keys(Keys.DELETE, "w")
    page.until("return viewer.map.others.length === 0")


def test_corners_are_written_as_polylines(page):
    corners = [[446041.25, 4635322.5], [-87.63001, 41.9], [0.0, -0.00001]]
    text = from_module(page, "others.js", "module.encoded(arguments[0])", corners)
    assert text == polyline.encode(corners, 5, geojson=True)


def test_places_can_be_typed(page):
    field = page.field("W2 x")
    field.clear()
    field.send_keys("10.5")
    page.until("return viewer.problem.stops.W[1].place[0] === 10.5")
    page.until("return viewer.run.request.waypoints[1][0] === 10.5")


def test_trees_are_watched_scrubbed_and_replayed(page):
    grow_trees(page)
    assert not page.js("return viewer.run.isOver")
    SlowPlanner.hold.clear()
    page.planned()
    num_rounds = page.js("return viewer.run.rounds.length")
    assert num_rounds > 1
    assert str(num_rounds) in page.text("round-label")
    trees = page.js("return viewer.run.rounds.reduce((sum, round) => sum + round.trees.length, 0)")
    assert trees == page.js("return viewer.run.rounds.at(-1).nodes")
    page.set("slider", 0)
    assert page.js("return [viewer.round, viewer.isLive]") == [0, False]
    page.click("replay")
    page.until("return viewer.isLive")


def test_the_default_variant_shows_a_whole_plan_in_its_first_round(page):
    assert page["variant"].get_attribute("value") == DEFAULT_VARIANT
    legs = page.js("return viewer.run.legs(viewer.run.rounds[0])")
    assert legs
    assert all(leg["path"] for leg in legs)


def test_an_incomplete_plan_says_what_is_missing(page):
    page.js(
        """Object.assign(viewer.run.plan, { complete: false, shortfalls: ["W1 is left out: far away"] });
        arguments[0].dispatchEvent(new Event("input"));""",
        page["slider"],
    )
    assert "W1 is left out" in page.text("outcome")


def test_what_cannot_be_planned_is_shown_where_everybody_sees_it(page):
    page.js("viewer.problem.stops.W[0].label = 'x'.repeat(99)")
    page.keys("p")
    page.until("return viewer.run.state === 'failed'")
    assert "labels" in page.text("alert-text")
    page.click("alert-close")
    assert not page["alert"].is_displayed()


def test_a_stop_outside_the_recordings_is_moved_to_the_nearest_place(page):
    page.drag(page.problem()["waypoints"][0], [10.0, 9.0])
    page.until("return document.getElementById('alert').className === 'good'")
    (x, y) = page.problem()["waypoints"][0]
    assert abs(x - 10.0) > 3.0 or abs(y - 10.0) > 3.0
    assert page.js("return viewer.run.plan.complete")


def test_an_edit_ends_the_plan_that_no_longer_fits(page):
    grow_trees(page)
    (job,) = page.service.desk._jobs
    page.js("window.former = viewer.run")
    page.drag(page.problem()["waypoints"][0], [10.0, 3.0])
    page.until("return former.state === 'cancelled' && former.isStale")
    assert page.service.settle(job._is_cancelled.is_set)
    page.keys(Keys.ESCAPE)


def test_leaving_the_page_ends_its_plan(page):
    grow_trees(page)
    (job,) = page.service.desk._jobs
    page.browser.get("about:blank")
    assert page.service.settle(job._is_cancelled.is_set)
    assert page.service.settle(lambda: len(page.service.desk) == 0)


def test_agents_walk_the_plan_by_its_clock(page):
    page.click("walk")
    page.until("return viewer.map.walkers.length === 2")
    first = page.js("return viewer.map.walkers[0].place")
    page.until("return String(viewer.map.walkers[0].place) !== String(arguments[0])", first)
    page.js("if (viewer.walk.isPlaying) arguments[0].click()", page["walk"])  # it may have arrived
    assert page.js("return [viewer.walk.isPlaying, viewer.map.walkers.length]") == [False, 2]
    times, path = (page.js(f"return viewer.run.plan.routes[0].{name}") for name in ("times", "path"))
    path = np.array(path).reshape(-1, 2)
    for share in (0.3, 0.5):
        page.set("clock", 1000 * share)
        now = page.js("return viewer.walk.now")
        assert now == pytest.approx(page.js("return viewer.walk.duration") * share, rel=0.01)
        expected = [np.interp(now, times, path[:, axis]) for axis in range(2)]
        assert page.js("return viewer.map.walkers[0].place") == pytest.approx(expected, abs=1e-3)
    page.set("clock", 1000)
    assert near(page.js("return viewer.map.walkers[0].place"), page.problem()["goals"][0], 0.02)
    page.keys(Keys.ESCAPE)
    assert page.js("return [viewer.walk, viewer.map.walkers.length]") == [None, 0]
    assert not page["real"].is_enabled()


def test_a_walker_looks_where_it_goes(page):
    ahead = []
    for clock in range(50, 800, 75):  # some of these may lie at a stop, where it turns
        page.set("clock", clock)
        here, heading = page.js("const [one] = viewer.map.walkers; return [one.place, one.heading]")
        page.set("clock", clock + 20)
        moved = np.subtract(page.js("return viewer.map.walkers[0].place"), here)
        ahead.append(moved @ [np.cos(heading), np.sin(heading)] >= 0.7 * np.linalg.norm(moved))
    assert np.mean(ahead) >= 0.7


def test_a_plan_is_saved_as_files_and_comes_back_by_its_link(page):
    for path in page.browser.downloads.iterdir():
        path.unlink()
    page.set("seed", 4, "change")
    page.until("return viewer.run.request.seed === 4")
    page.planned()
    for ending in ("json", "geojson", "csv", "png"):
        page.click(f"save-{ending}")
    result = load_result(page.download("plan.json"))
    assert (result.complete, result.seed) == (True, 4)
    line = json.loads(page.download("plan.geojson").read_text())["features"][0]
    assert line["geometry"]["coordinates"][0] == pytest.approx(page.problem()["starts"][0])
    assert page.download("plan.csv").stat().st_size > 100
    assert page.download("plan.png").read_bytes().startswith(b"\x89PNG")
    assert not page["save-gpx"].is_enabled()
    page.click("copy-link")
    link, problem = page["link"].get_attribute("value"), page.problem()
    page.open(link.removeprefix(page.service.address))
    assert page.problem() == problem
    assert page.js("return viewer.run.plan.length") == pytest.approx(result.length, abs=1e-4)


def test_a_reload_keeps_the_problem(page):
    page.keys("w")
    problem = page.problem()
    WebDriverWait(page.browser, PATIENCE, 0.05).until(
        lambda _: request_in(page)["waypoints"] == problem["waypoints"]
    )
    page.browser.refresh()
    page.until("return Boolean(window.viewer)")
    assert page.problem() == problem


def request_in(page):
    """What the page's address asks for; it follows the page a moment later."""
    text = page.js("return location.hash").removeprefix("#plan=")
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) or b'{"waypoints": null}')


def fragment_of(request):
    return "#plan=" + base64.urlsafe_b64encode(json.dumps(request).encode()).decode().rstrip("=")


CROWD = {"starts": [[1, 1]], "goals": [[2, 2]], "waypoints": [[k / 10, 5] for k in range(63)]}


@pytest.mark.parametrize(
    "fragment",
    ["#plan=%%%", "#plan=e30", "#plan=bnVsbA", "#elsewhere", fragment_of(CROWD)],
    ids=["no base64", "empty", "null", "no plan", "too many stops"],
)
def test_a_damaged_link_shows_an_example(page, fragment):
    page.open(fragment)
    assert page.problem()["starts"] == page.js("return viewer.world.example.starts")


def test_the_theme_is_switched_and_remembered(page):
    before = page.js("return document.documentElement.dataset.theme")
    page.click("theme")
    after = page.js("return document.documentElement.dataset.theme")
    assert {before, after} == {"light", "dark"}
    page.open()
    assert page.js("return document.documentElement.dataset.theme") == after


def test_the_wheel_zooms_and_the_scale_bar_follows_until_everything_is_shown_again(page):
    before = page.until("return viewer.map.scaleBar")
    wheel = (
        "arguments[0].dispatchEvent(new WheelEvent('wheel', { deltaY: -900, clientX: 300, clientY: 300 }))"
    )
    page.js(wheel, page.map)
    assert page.js("return viewer.map.view.zoom") > 1.5
    page.until("return viewer.map.scaleBar < arguments[0]", before)
    page.click("fit")
    assert page.js("return viewer.map.view.zoom") == 1


def test_two_fingers_zoom(page):
    def touch(kind, points):
        values = {"type": kind, "touchPoints": [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]}
        page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", values)

    box = page.map.rect
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch("touchStart", [(x - 40, y)])
    touch("touchStart", [(x - 40, y), (x + 40, y)])
    for apart in (60, 80, 100, 120):
        touch("touchMove", [(x - apart, y), (x + apart, y)])
    touch("touchEnd", [])
    page.until("return viewer.map.view.zoom > 2.5")
    assert page.js("return viewer.map.view.zoom") == pytest.approx(3.0, rel=0.1)


def test_the_place_under_the_pointer_is_shown(page):
    at(page, [10.0, 3.5]).perform()
    x, y = (
        float(value) for value in page.until("return document.getElementById('cursor').value").split(", ")
    )
    assert (x, y) == pytest.approx((10.0, 3.5), abs=0.06)


def test_an_inferred_leg_is_dashed_and_a_verified_one_is_not(page):
    """Seen from outside: the canvas is asked to dash lines exactly while a leg is inferred."""
    dashed = """
        const dashes = [];
        const { prototype } = CanvasRenderingContext2D;
        const known = prototype.setLineDash;
        prototype.setLineDash = function (dash) { dashes.push(dash.length); known.call(this, dash); };
        for (const { legs } of viewer.run.plan.routes) for (const leg of legs) leg.evidence = "verified";
        viewer.run.plan.routes[0].legs[0].evidence = arguments[0];
        viewer.run.plan.legsAside = null;
        viewer.map.redraw();
        const done = arguments[1];
        requestAnimationFrame(() => requestAnimationFrame(() => {
          prototype.setLineDash = known;
          done(dashes.filter((length) => length === 2).length);
        }));
    """
    assert page.browser.execute_async_script(dashed, "verified") == 0
    assert page.browser.execute_async_script(dashed, "inferred") == 1


def test_ways_on_one_street_lie_side_by_side_and_others_where_they_are(page):
    legs = [{"path": [0, 0, 5, 0, 10, 0]}, {"path": [10, 0, 5, 0, 0, 0]}, {"path": [0, 9, 5, 9, 10, 9]}]
    aside = from_module(page, "routes.js", "module.sideBySide(arguments[0], 1)", legs)
    assert [set(leg["lanes"]) for leg in aside] == [{-0.5}, {0.5}, {0}]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        *[
            (f"lengthText({value}, {{ unit: 'm' }})", text)
            for value, text in [
                (0.034, "3.4 cm"),
                (0.5, "50 cm"),
                (7.25, "7.25 m"),
                (186.26, "186.3 m"),
                (4321, "4.321 km"),
                (310_000, "310 km"),
            ]
        ],
        *[
            (f"lengthText({value}, {{ unit: 'units' }})", text)
            for value, text in [(0.0421337, "0.04213 units"), (446123.4, "446123 units"), (0, "0 units")]
        ],
        ("timeText(431.2, { hasClock: false })", "431 steps"),
        ("timeText(12.34, { hasClock: true })", "12.3 s"),
        ("timeText(75, { hasClock: true })", "1:15 min"),
        ("timeText(7384, { hasClock: true })", "2:03:04 h"),
        ("durationText(371, [311, 463.2], { hasClock: true })", "6:11 (5:11–7:43)"),
        ("durationText(37.4, null, { hasClock: false })", "37"),
        *[(f"roundLength({150 / scale})", length) for scale, length in [(1e-3, 1e5), (1, 100), (37, 2)]],
    ],
)
def test_numbers_are_written_as_people_do(page, call, text):
    assert from_module(page, "format.js", f"module.{call}") == text


@pytest.mark.parametrize("width", [0.08, 52.0, 4e5])
def test_places_are_told_apart_in_worlds_of_any_width(page, width):
    digits = from_module(page, "problem.js", "module.digitsFor(arguments[0])", width)
    assert 10.0**-digits <= width / 5000


PLACED = """((anchors) => module.placeNames(anchors, anchors, 6.5, () => 20, 260))(arguments[0].map(
    ([x, y], k) => ({ label: `W${k + 1}`, spot: [x, y], isChosen: k === arguments[1] })))"""


def test_names_never_lie_on_each_other_and_the_chosen_one_is_always_there(page):
    spots = np.random.default_rng(0).uniform(0, 260, (30, 2)).tolist()
    placed = from_module(page, "marks.js", PLACED, spots, 29)
    assert "W30" in [one["name"] for one in placed]
    assert len(placed) > 15
    boxes = np.array([[one["x"], one["y"]] for one in placed])
    apart = np.abs(boxes[:, None] - boxes)
    assert ((apart[..., 0] >= 20) | (apart[..., 1] >= 14) | np.eye(len(boxes), dtype=bool)).all()
    crowded = from_module(page, "marks.js", PLACED, [[100 + k % 3, 100 + k // 3] for k in range(30)], 17)
    assert 0 < len(crowded) < 30
    assert crowded[0]["name"] == "W18"


@pytest.mark.parametrize(
    "frame",
    [PACIFIC, Frame("degrees", (-87.6, 41.8)), Frame("degrees", (190.0, 78.0)), Frame("plain", (4e5, 4e6))],
    ids=lambda frame: frame.show(frame.origin),
)
def test_the_page_and_the_planner_agree_on_every_place(page, frame):
    local = np.random.default_rng(0).uniform(-1e5, 1e5, (50, 2))
    places = frame.to_user(local)
    call = """((frame) => arguments[1].map((place) => {
        const local = frame.toLocal(place);
        return [local, frame.toUser(local)]; }))(new module.Frame(arguments[0]))"""
    found = np.array(from_module(page, "frame.js", call, frame.to_dict(), places.tolist()))
    np.testing.assert_allclose(found[:, 0], local, atol=1e-5)
    np.testing.assert_allclose(found[:, 1], places, atol=1e-5 if frame.kind == "plain" else 1e-8)


def test_a_world_in_degrees_is_planned_saved_typed_and_linked_in_degrees(pacific):
    page = pacific
    for path in page.browser.downloads.iterdir():
        path.unlink()
    asked = PACIFIC.to_local(np.array(page.js("return viewer.world.example.starts")))
    np.testing.assert_allclose(page.problem()["starts"], asked, atol=0.006)
    for ending in ("json", "gpx"):
        page.click(f"save-{ending}")
    result = load_result(page.download("plan.json"))
    assert result.frame == PACIFIC
    assert np.abs(result.problem.anchors[:, 0]).min() > 179.99
    assert page.download("plan.gpx").read_text().count("<trkpt") > 10
    drawn = np.array(page.js("return viewer.run.plan.routes[0].path")).reshape(-1, 2)
    np.testing.assert_allclose(drawn, PACIFIC.to_local(result.routes[0].path), atol=0.01)
    set_value = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    for axis, value in zip(PACIFIC.axes, PACIFIC.to_user(np.array([3.0, 4.0])), strict=True):
        page.js(set_value, page.field(f"S1 {axis}"), f"{value:.8f}")
    np.testing.assert_allclose(page.problem()["starts"][0], [3.0, 4.0], atol=0.02)
    page.click("copy-link")
    held = page["link"].get_attribute("value").partition("#plan=")[2]
    assert abs(json.loads(base64.urlsafe_b64decode(held + "=="))["starts"][0][0]) > 179.99


def test_fifty_stops_and_five_hundred_nodes_are_drawn(page, record_property):
    """Frame times are reported, not asserted: they depend on the machine."""
    page.browser.execute_async_script(
        f"const fill = async function () {{ {FILL} }}; fill(...arguments)", 50, 500, 10
    )
    page.js("document.getElementById('experts').open = true")
    page.keys(*",..........")
    page.js("viewer.map.frameTimes.length = 0")
    between = page.browser.execute_async_script(PAN, 30)
    figures = {
        "drawing, median ms": statistics.median(page.js("return viewer.map.frameTimes")),
        "between frames, median ms": statistics.median(between),
    }
    assert "500 nodes" in page.text("numbers")
    record_property("frames", json.dumps(figures))
