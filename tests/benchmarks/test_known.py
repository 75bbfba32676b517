"""Worlds whose every way is known: what is recorded in them, and that their judges see planted faults."""

import numpy as np
import pytest

from benchmarks.experiments.states import draw_places, num_cut
from benchmarks.worlds.known import WORLDS

TAXI, TRAIL = WORLDS["taxi"].lanes, WORLDS["trail"].lanes


@pytest.mark.parametrize("name", WORLDS)
def test_recordings_follow_the_ways_and_the_shortest_ones_have_no_fault(name):
    lanes, trips = WORLDS[name].lanes, WORLDS[name].recordings(0)
    assert trips.trip.nunique() == WORLDS[name].traffic.num_recordings
    first = trips[trips.trip == 0][["x", "y"]].to_numpy()
    assert lanes.judge(first).num_off < 0.1 * lanes.judge(first).num_pieces
    for seed in range(5):
        start, end, way = draw_places(lanes, np.random.default_rng(seed))
        verdict = lanes.judge(way)
        assert verdict.num_against == verdict.num_off == num_cut(lanes, way, way) == 0
        assert lanes.unrecorded_changes(way, start[0], end[0]) == []


def test_a_change_from_the_street_to_the_motorway_above_it_is_false():
    above = np.array([[10.0, 12.0], [10.0, 15.0], [13.0, 15.0]])
    assert TAXI.unrecorded_changes(above, ("11", "12"), ("m1", "m2"))


def test_a_way_across_switchbacks_cuts_their_corners():
    start, end = (("t0", "t1"), 0.5), (("t4", "t5"), 0.5)
    straight = np.array([TRAIL.place(start), TRAIL.place(end)])
    assert num_cut(TRAIL, TRAIL.shortest(start, end), straight) == 4
