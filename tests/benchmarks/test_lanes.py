"""The strait's lanes, and recordings of its ships."""

import numpy as np
import pytest

from benchmarks.suites import strait as suite
from benchmarks.worlds.lanes import turn_chains
from benchmarks.worlds.strait import STRAIT, Traffic, record
from chronoforest.bench.suite import Request
from chronoforest.types import path_length

FEW = Traffic(num_recordings=40)


def test_the_same_seed_gives_the_same_recordings_and_they_keep_to_the_lanes():
    first, again, other = (record(FEW, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)
    verdicts = [STRAIT.judge(track) for track in first]
    assert sum(verdict.num_against for verdict in verdicts) == 0
    assert sum(verdict.num_off for verdict in verdicts) < 0.01 * sum(v.num_pieces for v in verdicts)


def test_a_way_back_over_a_lane_is_against_it_and_a_straight_line_is_off_all():
    lane = STRAIT.middle(("e0", "e1", "e2"))
    assert STRAIT.judge(lane).num_against == 0
    verdict = STRAIT.judge(lane[::-1])
    assert verdict.num_against > 0.8 * verdict.num_pieces
    assert STRAIT.judge(STRAIT.points(("w4", "n1"))).num_off > 0


def test_turns_that_ships_make_are_told_from_others():
    recorded = STRAIT.middle(("e0", "e1", "w3", "w4"))
    assert STRAIT.links_passed(recorded) == [("e0", "e1"), ("e1", "w3"), ("w3", "w4")]
    assert STRAIT.unrecorded_turns(recorded) == []
    assert STRAIT.unrecorded_turns(STRAIT.middle(("e2", "e3", "s3"))) == [("e2", "e3", "s3")]


def test_the_shortest_way_keeps_to_recorded_turns():
    start, end = (("e2", "e3"), 0.5), (("e3", "s3"), 0.5)
    way = STRAIT.shortest((("e0", "e1"), 0.5), (("w3", "w4"), 0.5))
    assert path_length(way) == pytest.approx(7 + 6 + 7, rel=0.1)
    assert STRAIT.shortest(start, end) is None  # who passes e3 eastward only gets to e4
    assert STRAIT.shortest((("e1", "e2"), 0.5), (("e0", "e1"), 0.5)) is None


def test_every_turn_is_asked_of_every_planner():
    cases = suite.cases(Request(episodes=1))
    assert len({case.key for case in cases}) == len(cases) == 5 * len(list(turn_chains(STRAIT)))
    assert "e0>e1>w3>w4" in {case.instance for case in cases}
