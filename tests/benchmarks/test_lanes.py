"""The strait's lanes, and recordings of its ships."""

import numpy as np
import pytest

from benchmarks.experiments import strait as suite
from benchmarks.suite import CONTENDERS, Request
from benchmarks.worlds.lanes import drive, turn_chains
from benchmarks.worlds.strait import STRAIT, Traffic, record
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


def changes(*names):
    """What is found along the middle of the lanes over some places."""
    return STRAIT.unrecorded_changes(STRAIT.middle(names), (names[0], names[1]), (names[-2], names[-1]))


@pytest.mark.parametrize("chain", list(turn_chains(STRAIT)), ids=">".join)
def test_ways_that_ships_take_have_no_unrecorded_change(chain):
    assert changes(*chain) == []


def test_recorded_ships_make_no_unrecorded_change():
    drives = (drive(STRAIT, 60.0, np.random.default_rng(seed)) for seed in range(30))
    for way in drives:
        near = [links for links in STRAIT.links_along(way) if links]
        found = (STRAIT.unrecorded_changes(way, a, b) for a in near[0] for b in near[-1])
        assert [] in found


@pytest.mark.parametrize(
    "turn", [("e2", "e3", "s3"), ("s2", "s1", "n1"), ("w1", "w2", "n2"), ("n1", "n2", "s2")]
)
def test_a_turn_that_no_ship_makes_is_found_where_it_is_made(turn):
    assert changes(*turn)


@pytest.mark.parametrize("episode", range(3))
def test_a_way_across_at_the_ferry_line_is_found(episode):
    """The ferry joins nothing: neither down its line, nor straight from lane to lane."""
    start, end = (("w0", "w1"), 0.4 - 0.1 * episode), (("e3", "e4"), 0.6 + 0.1 * episode)
    straight = np.stack([STRAIT.place(start), STRAIT.place(end)])
    ferry = np.array([STRAIT.place(start), (53.0, 14.0), (53.0, 8.0), STRAIT.place(end)])
    assert STRAIT.unrecorded_changes(straight, start[0], end[0])
    assert STRAIT.unrecorded_changes(ferry, start[0], end[0])
    recorded = STRAIT.shortest(start, end)
    assert STRAIT.unrecorded_changes(recorded, start[0], end[0]) == []
    assert path_length(recorded) > 2 * path_length(straight)


def test_the_shortest_way_keeps_to_recorded_turns():
    start, end = (("e2", "e3"), 0.5), (("e3", "s3"), 0.5)
    way = STRAIT.shortest((("e0", "e1"), 0.5), (("w3", "w4"), 0.5))
    assert path_length(way) == pytest.approx(7 + 6 + 7, rel=0.1)
    assert STRAIT.shortest(start, end) is None  # who passes e3 eastward only gets to e4
    assert STRAIT.shortest((("e1", "e2"), 0.5), (("e0", "e1"), 0.5)) is None


def test_every_turn_is_asked_of_every_planner():
    cases = suite.cases(Request(episodes=1))
    assert len({case.key for case in cases}) == len(cases) == len(CONTENDERS) * len(list(turn_chains(STRAIT)))
    assert "e0>e1>w3>w4" in {case.instance for case in cases}
