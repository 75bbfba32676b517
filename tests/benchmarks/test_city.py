"""Scores in a small made-up city: a one-way street east, one north from its end, and a block between."""

import gzip

import numpy as np
import pytest

from benchmarks.suites.city import draw_problem
from benchmarks.suites.directed import CONTENDERS
from benchmarks.worlds.city import ORIGIN, City, load_city, write_trips
from chronoforest.errors import BadDataset

CORNER = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 400.0]])
STREETS = np.stack([CORNER[:2], CORNER[1:]])


def small_city():
    rng = np.random.default_rng(0)
    trips = tuple(CORNER + rng.normal(0, 1.0, CORNER.shape) for _ in range(10))
    return City(trips, tuple(range(10)), STREETS)


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


def test_trips_are_read_and_one_in_five_is_held_out(tmp_path):
    rows = [f"{trip},{second},{ORIGIN[0] + second},{ORIGIN[1]}" for trip in range(10) for second in range(3)]
    for name, lines in (("trips", ["trip,time,x,y", *rows]), ("streets", ["edge,x1,y1,x2,y2", "1,0,0,1,1"])):
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt") as file:
            file.write("\n".join(lines))
    city = load_city(tmp_path)
    assert len(city.trips) == 10
    np.testing.assert_allclose(city.trips[3], [[0, 0], [1, 0], [2, 0]])
    train, held_out = (path.read_text().splitlines() for path in write_trips(tmp_path, tmp_path))
    assert (len(train), len(held_out)) == (1 + 24, 1 + 6)


def test_a_city_that_is_not_there_is_refused_by_name(tmp_path):
    with pytest.raises(BadDataset, match=r"trips\.csv\.gz: no such file"):
        load_city(tmp_path)


def test_the_reference_takes_no_short_cut_over_places_that_only_one_trip_passed():
    """Two trips turn at one corner each, far apart: between them each of them drove alone."""
    around = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 400.0], [800.0, 400.0]])
    over = np.array([[0.0, 0.0], [0.0, 400.0], [400.0, 400.0], [800.0, 400.0]])
    city = City((around, CORNER[:2], over), (0, 1, 2), STREETS)
    lengths = city.reference.lengths(np.array([[100.0, 0.0], [700.0, 400.0]]))
    assert np.isinf(lengths[0, 1])


def test_what_only_held_out_trips_drove_is_no_part_of_the_reference():
    city = City((CORNER, CORNER, CORNER[:2], CORNER[:2]), (4, 9, 0, 1), STREETS)
    anchors = np.array([[50.0, 0.0], [400.0, 350.0]])
    assert np.isinf(city.reference.lengths(anchors)[0, 1])
    assert np.isfinite(city.whole_reference.lengths(anchors)[0, 1])


def test_followed_are_those_who_went_the_same_way_all_along():
    city = City((CORNER, CORNER, CORNER[:2], CORNER), (0, 1, 2, 4), STREETS)
    assert city.num_followed(CORNER[:2]) == 3
    assert city.num_followed(CORNER) == 2
    assert city.num_followed(CORNER[::-1]) == 0
