"""Scores in a small made-up city: a one-way street east, one north from its end, and a block between."""

import gzip
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.case import Case
from benchmarks.commands import record
from benchmarks.experiments.city import cases, draw_problem, plan_trip
from benchmarks.experiments.verification import held_out
from benchmarks.suite import CONTENDERS, Request
from benchmarks.worlds.city import City, load_city
from benchmarks.worlds.trips import Trips, write_trips
from chronoforest.data.columns import Columns
from chronoforest.data.episodes import load
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.errors import BadDataset
from chronoforest.peers.choice import PlannerChoice
from chronoforest.types import path_length

CORNER = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 400.0]])
STREETS = np.stack([CORNER[:2], CORNER[1:]])
UTM = np.array([446500.0, 4635500.0])


def small_city():
    rng = np.random.default_rng(0)
    trips = tuple(CORNER + rng.normal(0, 1.0, CORNER.shape) for _ in range(10))
    return City(Trips(trips, tuple(range(10))), STREETS)


def test_a_way_along_the_trips_is_on_the_street_with_the_traffic_and_turns_as_they_do():
    found = small_city().judge(CORNER)
    assert found.length == 800.0
    assert found.off_street == found.against == found.num_unrecorded == 0
    assert found.num_turns == 1


def test_a_way_back_is_against_every_trip_and_its_turn_is_nobodys():
    found = small_city().judge(CORNER[::-1])
    assert found.against > 0.9 * found.length
    assert found.num_unrecorded == 1


def test_a_cut_through_the_block_is_off_the_streets():
    found = small_city().judge(CORNER[[0, 2]])
    assert found.off_street > 0.8 * found.length


def test_the_reference_leads_along_the_trips_and_never_back():
    lengths = small_city().reference.lengths(np.array([[50.0, 0.0], [400.0, 350.0]]))
    assert lengths[0, 1] == pytest.approx(700.0, rel=0.05)
    assert np.isinf(lengths[1, 0])


def test_problems_lie_on_recorded_streets_and_can_be_solved():
    case = CONTENDERS[0].case("city", "city", num_waypoints=1)
    problem, shortest = draw_problem(small_city(), case)
    assert problem.num_waypoints == 1
    assert (small_city().to_street(problem.anchors)[0] < 1.0).all()
    assert 0 < shortest <= 800


def write_city(folder, num_fixes):
    """Ten trips along a street of Chicago, with so many fixes each, ten metres and three seconds apart."""
    rows = [
        f"{trip},{3 * k},{446500 + 10 * k},{4635500 + trip}" for trip in range(10) for k in range(num_fixes)
    ]
    for name, lines in (("trips", ["trip,time,x,y", *rows]), ("streets", ["edge,x1,y1,x2,y2", "1,0,0,1,1"])):
        with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
            file.write("\n".join(lines))


def test_trips_are_read_in_their_own_coordinates_and_one_in_five_is_held_out(tmp_path):
    write_city(tmp_path, num_fixes=3)
    city = load_city(tmp_path)
    assert len(city.trips.tracks) == 10
    np.testing.assert_allclose(city.trips.tracks[3], [[446500 + 10 * k, 4635503] for k in range(3)])
    train, held_out = (path.read_text().splitlines() for path in write_trips(tmp_path, tmp_path))
    assert (len(train), len(held_out)) == (1 + 24, 1 + 6)


def test_trips_are_recorded_as_an_import_without_options_takes_them(tmp_path):
    write_city(tmp_path, num_fixes=140)
    record("city", source=tmp_path, out=tmp_path)
    found = load(tmp_path / "city.npz")
    usual = import_files([tmp_path / "city.csv"], Columns(), ImportParams()).episodes
    assert (found.metadata["frame"], found.num_steps) == (usual.metadata["frame"], usual.num_steps)
    np.testing.assert_array_equal(found.xy, usual.xy)


def test_held_out_trips_are_told_in_the_coordinates_of_the_city_whatever_their_own_frame(tmp_path):
    write_city(tmp_path, num_fixes=140)
    record("city", source=tmp_path, out=tmp_path)
    density = SimpleNamespace(margin=lambda points: np.ones(len(points)))
    frame = load(tmp_path / "city.npz").frame
    tracks = held_out(tmp_path, "city", SimpleNamespace(frame=frame, models=SimpleNamespace(density=density)))
    assert load(tmp_path / "city-val.npz").frame.origin != (0.0, 0.0)
    np.testing.assert_allclose(tracks[..., 0].min(), 446500, atol=1)
    assert set(np.round(tracks[..., 1]).ravel()) == {4635504.0, 4635509.0}


class StreetDriver:
    """Drives east and then north, between places that it is told in the city's coordinates."""

    def plan(self, problem, *, on_round, **_):
        self.problem = problem
        start, goal = problem.anchors
        path = np.stack([start, [goal[0], start[1]], goal])
        route = SimpleNamespace(path=path, legs=())
        return SimpleNamespace(
            complete=True, routes=(route,), length=path_length(path), rounds=(), seconds=0.0
        )


def test_problems_and_plans_are_in_the_coordinates_of_the_city(monkeypatch):
    city = City(Trips(tuple(CORNER + UTM for _ in range(10)), tuple(range(10))), STREETS + UTM)
    monkeypatch.setattr("benchmarks.experiments.city.known_city", lambda folder: city)
    driver = StreetDriver()
    found = plan_trip(CONTENDERS[0].case("city", "city"), driver).figures
    assert (city.to_street(driver.problem.anchors)[0] < 1.0).all()
    assert found.off_street == found.against == 0.0
    assert found.length == pytest.approx(found.shortest, abs=20.0)


def test_other_models_are_named_by_a_template():
    choice = PlannerChoice("mine", weights=Path("runs/mine"))
    found = {case.choice for case in cases(Request(episodes=1, template=Case("city", choice)))}
    assert {(one.preset, one.weights) for one in found} == {("mine", Path("runs/mine"))}
    assert {case.preset for case in cases(Request(episodes=1))} == {"city"}


def test_a_city_that_is_not_there_is_refused_by_name(tmp_path):
    with pytest.raises(BadDataset, match=r"trips\.csv\.gz: no such file"):
        load_city(tmp_path)


def test_the_reference_takes_no_short_cut_over_places_that_only_one_trip_passed():
    """Two trips turn at one corner each, far apart: between them each of them drove alone."""
    around = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 400.0], [800.0, 400.0]])
    over = np.array([[0.0, 0.0], [0.0, 400.0], [400.0, 400.0], [800.0, 400.0]])
    city = City(Trips((around, CORNER[:2], over), (0, 1, 2)), STREETS)
    lengths = city.reference.lengths(np.array([[100.0, 0.0], [700.0, 400.0]]))
    assert np.isinf(lengths[0, 1])


def test_what_only_held_out_trips_drove_is_no_part_of_the_reference():
    city = City(Trips((CORNER, CORNER, CORNER[:2], CORNER[:2]), (4, 9, 0, 1)), STREETS)
    anchors = np.array([[50.0, 0.0], [400.0, 350.0]])
    assert np.isinf(city.reference.lengths(anchors)[0, 1])
    assert np.isfinite(city.whole_reference.lengths(anchors)[0, 1])


def test_a_reference_that_goes_on_through_stops_takes_no_way_back_there():
    """A street with a turning circle at its end: the stop lies beyond the goal, and the way back leads over
    the circle unless one turns round in the street."""
    east, west = np.array([[0.0, 0.0], [600.0, 0.0]]), np.array([[600.0, 0.0], [0.0, 0.0]])
    loop = np.array([[600.0, 0.0], [700.0, 100.0], [800.0, 0.0], [700.0, -100.0], [600.0, 0.0]])
    trip = np.concatenate([east, loop[1:], west[1:]])
    reference = City(Trips((trip, trip), (0, 1)), STREETS).reference
    anchors = np.array([[100.0, 0.0], [400.0, 0.0], [200.0, 0.0]])
    free = reference.lengths(anchors)
    assert free[0, 1] + free[1, 2] == pytest.approx(500.0, rel=0.1)
    assert reference.onward_length(anchors) == pytest.approx(300 + 200 + path_length(loop) + 400, rel=0.1)
    assert reference.onward_length(anchors[[0, 2, 1]]) == pytest.approx(300.0, rel=0.1)


def test_followed_are_those_who_went_the_same_way_all_along():
    trips = Trips((CORNER, CORNER, CORNER[:2], CORNER), (0, 1, 2, 4))
    assert trips.num_followed(CORNER[:2]) == 3
    assert trips.num_followed(CORNER) == 2
    assert trips.num_followed(CORNER[::-1]) == 0
