"""The page speaks the user's coordinates: what is typed, asked, shown and saved is longitude and latitude."""

import base64
import json

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity
from viewer_service import running

from chronoforest.data.frames import Frame
from chronoforest.planning.planner import Planner
from chronoforest.planning.result import load_result
from chronoforest.planning.variants import PlannerParams
from chronoforest.view.jobs import JobLimits

PACIFIC = Frame("degrees", (179.99995, -17.0), 2.0)

CONVERTED = """
const [values, places, done] = arguments;
const { Frame } = await import("/static/frame.js");
const frame = new Frame(values);
done(places.map((place) => [frame.toLocal(place), frame.toUser(frame.toLocal(place))]));
"""


@pytest.fixture(scope="module")
def service():
    planner = Planner(FakeModels(density=SquareDensity(BLOCK)), PlannerParams(), "fake", PACIFIC)
    with running({"default": planner}, JobLimits(grace=0.2)) as service:
        yield service


@pytest.mark.parametrize(
    "frame",
    [
        PACIFIC,
        Frame("degrees", (-87.6, 41.8)),
        Frame("degrees", (190.0, 78.0)),
        Frame("plain", (446000.0, 4636000.0)),
    ],
    ids=lambda frame: frame.show(frame.origin),
)
def test_the_page_and_the_planner_agree_on_every_place(page, frame):
    local = np.random.default_rng(0).uniform(-1e5, 1e5, (50, 2))
    places = frame.to_user(local)
    found = np.array(page.browser.execute_async_script(CONVERTED, frame.to_dict(), places.tolist()))
    np.testing.assert_allclose(found[:, 0], local, atol=1e-5)
    np.testing.assert_allclose(found[:, 1], places, atol=1e-5 if frame.kind == "plain" else 1e-8)


def test_a_plan_is_asked_for_drawn_and_saved_in_degrees(page):
    asked = PACIFIC.to_local(np.array(page.js("return viewer.world.example.starts")))
    np.testing.assert_allclose(page.problem()["starts"], asked, atol=0.006)
    page.plan()
    assert " m in all" in page.text("outcome")
    (page.browser.downloads / "plan.json").unlink(missing_ok=True)
    page.click("save-plan")
    result = load_result(page.download("plan.json"))
    assert result.frame == PACIFIC
    assert np.abs(result.problem.anchors[:, 0]).min() > 179.99
    drawn = page.js("return viewer.first.plan.routes[0].path.map((place) => viewer.frame.toLocal(place))")
    np.testing.assert_allclose(drawn, PACIFIC.to_local(result.routes[0].path), atol=1e-3)
    assert np.array(drawn).min() > 0
    assert np.array(drawn).max() < 20


def test_places_are_typed_in_degrees(page):
    page.click("places")
    set_value = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    for axis, value in zip(PACIFIC.axes, PACIFIC.to_user(np.array([3.0, 4.0])), strict=True):
        page.js(set_value, page.field(f"S1 {axis}"), f"{value:.8f}")
    np.testing.assert_allclose(page.problem()["starts"][0], [3.0, 4.0], atol=0.02)


def test_a_link_holds_degrees_and_comes_back(page):
    page.click("copy-link")
    link, before = page["link"].get_attribute("value"), page.problem()
    held = base64.urlsafe_b64decode(link.partition("#plan=")[2] + "==")
    assert abs(json.loads(held)["starts"][0][0]) > 179.99
    page.open(link.removeprefix(page.service.address))
    np.testing.assert_allclose(page.problem()["starts"], before["starts"], atol=0.01)
