"""The things that people type first, in Python and on the command line, more than forty: each works, or is
refused with what would work."""

import numpy as np
import pytest
from fakes import make_planner

import chronoforest as cf
from chronoforest.types.problem_files import read_stops

pandas = pytest.importorskip("pandas")

START, GOAL, WAYPOINTS = [3.0, 3.0], [17.0, 17.0], [[3.0, 17.0], [10.0, 3.0]]


def planner():
    return make_planner()


def stops(names=("mill", "bakery"), columns=("x", "y")):
    table = pandas.DataFrame(WAYPOINTS, columns=list(columns))
    return table.assign(name=list(names))


def geo(points):
    """Something with a geometry, as a GeoDataFrame has."""
    shapely = pytest.importorskip("shapely")
    table = pandas.DataFrame({"name": [f"p{k}" for k in range(len(points))]})
    shapes = [shapely.Point(point) for point in points]

    class Geometry(list):
        x = property(lambda self: np.array([one.x for one in self]))
        y = property(lambda self: np.array([one.y for one in self]))

    class Table(type(table)):
        geometry = property(lambda self: Geometry(shapes))

    return Table(table)


WORKS = {
    "one agent as a point": lambda p: p.plan(starts=START, goals=GOAL),
    "a tuple": lambda p: p.plan(starts=(3, 3), goals=(17, 17)),
    "a list of points": lambda p: p.plan(starts=[START], goals=[GOAL]),
    "an array": lambda p: p.plan(starts=np.array([START]), goals=np.array([GOAL])),
    "whole numbers": lambda p: p.plan(starts=[3, 3], goals=[17, 17]),
    "points as words of a command": lambda p: p.plan(starts="3,3", goals="17,17"),
    "one waypoint as a point": lambda p: p.plan(starts=START, goals=GOAL, waypoints=[3, 17]),
    "no goal": lambda p: p.plan(starts=START, waypoints=WAYPOINTS),
    "a problem": lambda p: p.plan(cf.Problem(START, GOAL, WAYPOINTS)),
    "a problem by name": lambda p: p.plan(problem=cf.Problem(starts=START, goals=GOAL)),
    "the places alone": lambda p: p.plan(START, GOAL, WAYPOINTS),
    "a dict for a problem": lambda p: p.plan({"starts": START, "goals": GOAL}),
    "two agents from a depot": lambda p: p.plan(starts={"a": START, "b": START}, waypoints=WAYPOINTS),
    "start and goal at one place": lambda p: p.plan(starts=START, goals=START, waypoints=WAYPOINTS),
    "a waypoint at a start": lambda p: p.plan(starts=START, goals=GOAL, waypoints=[START]),
    "names in a dict": lambda p: p.plan(starts={"depot": START}, waypoints={"mill": [3, 17]}),
    "a dict with x and y": lambda p: p.plan(starts={"x": 3, "y": 3}, goals={"x": 17, "y": 17}),
    "a list of dicts": lambda p: p.plan(
        starts=START, waypoints=[{"name": "mill", "x": 3, "y": 17}, {"name": "inn", "x": 10, "y": 3}]
    ),
    "a DataFrame": lambda p: p.plan(starts=START, waypoints=stops()),
    "a DataFrame with lon and lat": lambda p: p.plan(starts=START, waypoints=stops(columns=("lon", "lat"))),
    "a DataFrame in capitals": lambda p: p.plan(starts=START, waypoints=stops(columns=("X", "Y"))),
    "a GeoDataFrame": lambda p: p.plan(starts=START, waypoints=geo(WAYPOINTS)),
    "its geometry alone": lambda p: p.plan(starts=START, waypoints=geo(WAYPOINTS).geometry),
    "a column of a DataFrame": lambda p: p.plan(starts=START, waypoints=stops()[["x", "y"]].to_numpy()),
    "a flat order": lambda p: p.plan(
        starts=START, goals=GOAL, waypoints=WAYPOINTS, order=["S1", "W2", "W1", "G1"]
    ),
    "an order of lists": lambda p: p.plan(
        starts=START, goals=GOAL, waypoints=[3, 17], order=[["S1", "W1", "G1"]]
    ),
    "an order of names": lambda p: p.plan(
        starts={"depot": START}, waypoints={"mill": [3, 17]}, order=["depot", "mill", "depot"]
    ),
    "a stop for an agent, another first": lambda p: p.plan(
        starts=[START, GOAL], waypoints=stops(), order={"mill": "agent 2", "bakery": "first"}
    ),
    "the same as words of a command": lambda p: p.plan(
        starts=START, waypoints=WAYPOINTS, order="W2 first; W1 agent 1 last"
    ),
    "snap": lambda p: p.plan(starts=[-50, 3], goals=GOAL, snap=True),
    "seconds": lambda p: p.plan(starts=START, goals=GOAL, seconds=2),
    "a seed": lambda p: p.plan(starts=START, goals=GOAL, seed=7),
    "a variant": lambda p: p.plan(starts=START, goals=GOAL, variant="roadmap-only"),
    "many problems": lambda p: p.plan_many([cf.Problem(START, GOAL)] * 2)[1],
}


@pytest.mark.parametrize("name", WORKS)
def test_it_works(name):
    result = WORKS[name](planner())
    assert result.complete, result.summary()
    assert len(result.timetable) == sum(len(route.order) for route in result.routes)


REFUSED = {
    "latitude and longitude for three": (lambda p: p.plan(starts=[1, 2, 3], goals=GOAL), "[3]"),
    "heights": (lambda p: p.plan(starts=[[3, 3, 0]], goals=GOAL), "[1, 3]"),
    "one goal for two": (lambda p: p.plan(starts=[START, START], goals=GOAL), "2 starts and 1 goals"),
    "goals alone": (lambda p: p.plan(goals=GOAL), "starts"),
    "a misspelt group": (lambda p: p.plan({"starts": START, "gaols": GOAL}), "gaols"),
    "a place far away": (lambda p: p.plan(starts=[-50, 3], goals=GOAL), "snap"),
    "not a number": (lambda p: p.plan(starts=[float("nan"), 3], goals=GOAL), "nan"),
    "words": (lambda p: p.plan(starts="depot", goals=GOAL), "depot"),
    "a table without coordinates": (
        lambda p: p.plan(starts=START, waypoints=pandas.DataFrame({"address": ["Mill Lane 3"]})),
        "address",
    ),
    "an unknown name in an order": (
        lambda p: p.plan(starts=START, goals=GOAL, order=["S1", "mill", "G1"]),
        "mill",
    ),
    "an order of waypoints alone": (
        lambda p: p.plan(starts=START, goals=GOAL, waypoints=WAYPOINTS, order=["W2", "W1"]),
        "S1 to G1",
    ),
    "a stop for an agent that is none": (
        lambda p: p.plan(starts=START, waypoints=WAYPOINTS, order={"W1": "agent 2"}),
        "agent 2",
    ),
    "a place in the order that is none": (
        lambda p: p.plan(starts=START, waypoints=WAYPOINTS, order={"W1": "second"}),
        "second",
    ),
    "a departure without a clock": (lambda p: p.plan(starts=START, goals=GOAL, depart="8:00"), "8:00"),
    "a variant that is none": (lambda p: p.plan(starts=START, goals=GOAL, variant="fast"), "roadmap-only"),
    "no time at all": (lambda p: p.plan(starts=START, goals=GOAL, seconds=-1), "-1"),
    "a world that is none": (lambda p: cf.load_planner("chicgo"), "chicgo"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_the_value_and_what_would_work(name):
    call, value = REFUSED[name]
    with pytest.raises(cf.ChronoForestError) as error:
        call(planner())
    assert value in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "3,3 17,17",
        "3,3;17,17",
        "(3,3) (17,17)",
        "(3, 3), (17, 17)",
        "[3, 3] [17, 17]",
        "[[3, 3], [17, 17]]",
        "((3, 3), (17, 17))",
        "3, 3 17, 17",
        "3 3; 17 17",
        " 3.0,3e0   17,+17 ",
    ],
)
def test_points_are_typed_in_many_ways(text):
    assert read_stops("starts", text)[0] == [[3.0, 3.0], [17.0, 17.0]]


def test_what_people_look_at_is_there():
    result = planner().plan(starts={"depot": START}, waypoints=stops())
    assert {"learn", "load_planner", "Problem", "__version__"} <= set(dir(cf))
    assert cf.__version__[0].isdigit()
    assert "mill" in str(result)
    assert "mill" in result._repr_html_()
    assert list(result.timetable.to_dataframe()["label"]) == [stop.label for stop in result.timetable]
    assert repr(result).startswith("PlanResult(complete")
    with pytest.raises(AttributeError, match="load_planer"):
        cf.load_planer  # noqa: B018
