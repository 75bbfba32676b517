"""Anchors where nothing was recorded are refused, or moved with notice, in the user's coordinates."""

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidProblem
from chronoforest.planning import anchors
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import Problem

BERLIN = Frame("degrees", (13.4, 52.5))
INSIDE = (10.0, 11.0)


def planner(frame):
    return Planner(FakeModels(density=SquareDensity(BLOCK)), PlannerParams(), "fake", frame)


def problem(frame, waypoint=INSIDE):
    places = Problem([[3.0, 10.0]], [[17.0, 10.0]], [waypoint])
    return places.moved(frame.to_user)


def test_the_nearest_place_is_named_in_degrees():
    with pytest.raises(InvalidProblem) as error:
        planner(BERLIN).check(problem(BERLIN))
    place = BERLIN.show_local(np.array(INSIDE))
    assert str(error.value).startswith(
        f"W1 at {place} lies outside the data's support; the nearest supported"
    )
    assert " m away" in str(error.value)


@pytest.mark.parametrize("frame", [Frame(), BERLIN, Frame("plain", (446e3, 4636e3))])
def test_snapping_moves_what_must_be_moved_and_says_so(frame):
    asked = problem(frame)
    moved, notices = planner(frame).snapped(asked)
    assert len(notices) == 1
    assert notices[0].startswith(
        f"W1 moved from {frame.show(asked.waypoints[0])} to {frame.show(moved.waypoints[0])}"
    )
    assert moved.starts.tolist() == asked.starts.tolist()
    assert planner(frame).plan(moved).complete


class WithIsland(FakeModels):
    """A stray left a supported cell amid the block."""

    @property
    def support(self):
        support = super().support
        support.mask[tuple(np.rint((np.array([10.0, 10.5]) - support.origin) / support.cell).astype(int))] = (
            True
        )
        return support


def test_nothing_is_moved_to_an_island_that_a_stray_left():
    models = WithIsland(density=SquareDensity(BLOCK))
    assert models.support.holds(np.array([10.0, 10.5]))
    moved, _ = Planner(models, PlannerParams(), "fake").snapped(problem(Frame()))
    (place,) = moved.waypoints
    assert FakeModels(density=SquareDensity(BLOCK)).support.holds(place)


def test_an_island_is_better_than_nothing(monkeypatch):
    monkeypatch.setattr(anchors, "ISLAND", 2.0)
    moved, _ = planner(Frame()).snapped(problem(Frame()))
    assert FakeModels(density=SquareDensity(BLOCK)).support.holds(moved.waypoints[0])


def test_snapping_leaves_a_sound_problem_alone():
    sound = problem(BERLIN, (10.0, 16.0))
    assert planner(BERLIN).snapped(sound) == (sound, ())


def test_latitude_first_is_recognised():
    turned = problem(BERLIN, (10.0, 16.0)).moved(lambda points: points[:, ::-1])
    with pytest.raises(InvalidProblem, match="the longitude comes first"):
        planner(BERLIN).check(turned)
    with pytest.raises(InvalidProblem, match="is no longitude and latitude"):
        planner(BERLIN).check(Problem([[13.4, 152.5]], [[13.4, 52.5]]))


def test_a_plan_tells_which_anchor_lies_where_nothing_was_recorded():
    models = FakeModels(gap=1.0)
    plan = Planner(models, PlannerParams(), "fake", BERLIN).plan
    told = plan(Problem([[3.0, 10.0]], [[17.0, -0.9]]).moved(BERLIN.to_user))
    (sentence,) = told.unrecorded
    assert sentence.startswith("G1 lies ")
    assert sentence in told.summary()
    assert not plan(Problem([[3.0, 10.0]], [[17.0, 1.0]]).moved(BERLIN.to_user)).unrecorded
