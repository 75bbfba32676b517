"""A roadmap of recordings: what they did may be done again, and nothing else."""

from itertools import pairwise

import numpy as np
import pytest

from chronoforest.roadmap.roadmap import Roadmap, build_roadmap
from chronoforest.roadmap.states import Track
from chronoforest.roadmap.ways import Joined, Ways
from chronoforest.types import FloatArray, Pair, path_length

CORNERS = {"west": (-100, 0), "east": (100, 0), "south": (0, -100), "north": (0, 100), "middle": (0, 0)}


def tracks(*ways: str, each: int = 6, noise: float = 1.0) -> list[Track]:
    """Recordings along corners, some of each way."""
    rng = np.random.default_rng(0)
    found = []
    for way in ways:
        corners = np.array([CORNERS[name] for name in way.split()], dtype=np.float64)
        along = np.concatenate([np.linspace(a, b, 20, endpoint=False) for a, b in pairwise(corners)])
        for _ in range(each):
            place = along + rng.normal(0, noise, 2) + rng.normal(0, 0.1 * noise, along.shape)
            found.append(Track(place, np.arange(len(place), dtype=np.float64), len(found)))
    return found


@pytest.fixture(scope="module")
def crossing() -> Roadmap:
    """A crossing of two one-way streets at which nobody turns."""
    return build_roadmap(tracks("west middle east", "south middle north"))


def anchors(*names: str) -> FloatArray:
    return 0.8 * np.array([CORNERS[name] for name in names], dtype=np.float64)


def between(roadmap: Roadmap, places: FloatArray, *, turn_round: bool = False) -> Ways:
    return Ways.of(Joined.of(roadmap, places, turn_round))


def test_goes_straight_on_and_never_turns(crossing: Roadmap) -> None:
    cost = between(crossing, anchors("west", "east", "south", "north")).cost / crossing.pace
    assert cost[0, 1] == pytest.approx(160, rel=0.05)
    assert cost[2, 3] == pytest.approx(160, rel=0.05)
    assert np.isinf(cost[[0, 2, 1, 3], [3, 1, 0, 2]]).all()


def test_ways_lie_in_the_middle_of_what_passes(crossing: Roadmap) -> None:
    way = between(crossing, anchors("west", "east")).way(Pair(0, 1))
    assert way is not None
    assert np.abs(way.path[:, 1]).max() < 1.0
    assert path_length(way.path) == pytest.approx(160, rel=0.05)
    assert crossing.hops.is_recorded[way.hops].all()


@pytest.mark.parametrize("offset", [-9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 9.0])
def test_no_way_goes_back_for_an_anchor(crossing: Roadmap, offset: float) -> None:
    ends = np.array([[-60.0 + offset, 0.5], [40.0 - offset, -0.5]])
    way = Ways.of(Joined.of(crossing, ends)).way(Pair(0, 1))
    assert way is not None
    assert (np.diff(way.path[:, 0]) > 0).all()


def test_a_stop_is_left_as_it_was_reached() -> None:
    loop = build_roadmap(tracks("west middle north east south middle west", "west middle east"))
    places = np.array([[-80.0, 0.0], [40.0, 0.0], [-60.0, 0.0]])
    ways = between(loop, places)
    assert np.isfinite(ways.cost[0, 1])
    assert ways.settled([[0, 2, 1]]).steps_of(Pair(2, 1)) >= ways.cost[2, 1]


def test_a_stop_may_be_left_in_any_state_by_those_who_turn_round(crossing: Roadmap) -> None:
    street = build_roadmap(
        tracks("west middle east", "east middle west", "south middle north"), both_ways=False
    )
    places, back = anchors("west", "middle"), Pair(1, 0)
    assert between(crossing, places, turn_round=True).way(back) is None
    assert between(street, places, turn_round=True).settled([[0, 1, 0]]).way(back) is not None
    assert between(street, places).settled([[0, 1, 0]]).steps_of(back) > 1e6


def test_one_way_what_is_reached_and_what_leads_on_differ(crossing: Roadmap) -> None:
    joined = Joined.of(crossing, anchors("west", "east"))
    position = joined.roadmap.position
    assert position[joined.reached_from(1), 0].min() > 60
    assert position[joined.leading_to(0), 0].max() < -60
    assert position[joined.reached_from(0), 0].max() > 80


def legs_both_ways(spread: float) -> list[Track]:
    """Thirty recordings of one corner, half of them back, whose rows lie two units apart."""
    rng = np.random.default_rng(1)
    found = []
    for k in range(30):
        ends = [(0, 0), (50, 0), (50, 50)][:: 1 if k % 2 else -1]
        corners = np.array(ends, dtype=np.float64)
        way = np.concatenate([np.linspace(a, b, 25) for a, b in pairwise(corners)])
        aside = np.repeat(rng.normal(0, spread, (1, 2)), len(way), axis=0)
        found.append(Track(way + aside + rng.normal(0, 0.01, way.shape), np.arange(50.0), k))
    return found


@pytest.mark.parametrize(("spread", "is_open"), [(0.0, False), (3.0, True)])
def test_ways_that_are_taken_back_have_positions_alone_and_are_open_where_they_are_wide(
    spread: float, is_open: bool
) -> None:
    roadmap = build_roadmap(legs_both_ways(spread))
    assert roadmap.space.angle is None
    assert roadmap.space.is_open is is_open
    ways = between(roadmap, np.array([[0.0, 0.0], [50.0, 50.0]]))
    assert np.isfinite(ways.cost).all()
    there = ways.way(Pair(0, 1))
    assert there is not None
    assert there.took is not None
    assert there.is_recorded or is_open
    assert path_length(there.path) == pytest.approx(100.0, rel=0.06)


def test_switchbacks_beside_each_other_are_not_cut() -> None:
    rng, corners = np.random.default_rng(0), np.array([(100.0 * (k % 2), 15.0 * k) for k in range(6)])
    found = []
    for k in range(12):
        ends = corners[:: 1 if k % 2 else -1]
        way = np.concatenate([np.linspace(a, b, 20) for a, b in pairwise(ends)])
        found.append(Track(way + rng.normal(0, 0.5, way.shape), np.arange(100.0), k))
    roadmap = build_roadmap(found)
    assert roadmap.space.angle is None
    way = between(roadmap, corners[[0, -1]]).way(Pair(0, 1))
    assert way is not None
    assert path_length(way.path) == pytest.approx(path_length(corners), rel=0.1)


def test_a_way_is_pulled_tight_as_far_as_its_middle_may_be_wrong(crossing: Roadmap) -> None:
    zigzag = np.array([[0.0, 0.0], [4.0, 1.0], [8.0, -1.0], [12.0, 1.0], [16.0, 0.0]])
    tight = crossing.straightened(zigzag)
    assert path_length(tight) < path_length(zigzag)
    room = crossing.params.room * crossing.space.spacing / np.sqrt(6)
    assert np.linalg.norm(tight - zigzag, axis=1).max() <= room + 1e-9


def test_a_stop_aside_of_a_way_is_passed_without_a_turn(crossing: Roadmap) -> None:
    aside = 1.2 * crossing.space.spacing
    places = np.array([[-80.0, 0.0], [50.0, aside], [80.0, 0.0]])
    ways = between(crossing, places).settled([[0, 1, 2]])
    legs = [ways.way(Pair(row, row + 1)) for row in (0, 1)]
    assert legs[0] is not None
    assert legs[1] is not None
    before, after = legs[0].path[-1] - legs[0].path[-2], legs[1].path[1] - legs[1].path[0]
    cosine = before @ after / (np.linalg.norm(before) * np.linalg.norm(after))
    assert cosine >= np.cos(np.radians(crossing.params.hops.alike))


def test_an_anchor_is_joined_to_what_lies_beside_it(crossing: Roadmap) -> None:
    scale = crossing.space.spacing
    doors = crossing.doors(np.array([[-50.0, 0.0]]))
    near = doors.cost < crossing.params.beyond * 0.01 * scale
    assert near.any()
    assert np.abs(crossing.position[doors.place[near], 0] + 50.0).max() <= 1.01 * scale


def test_a_refuted_way_costs_more_and_a_new_one_joins(crossing: Roadmap) -> None:
    ends = anchors("west", "east", "north")
    way = between(crossing, ends).way(Pair(0, 1))
    assert way is not None
    hops = crossing.hops_along(way.path, 2.0)
    assert set(way.hops) <= set(hops)
    dear = between(crossing.with_cost_factor(hops, 2.0), ends)
    assert dear.cost[0, 1] > 1.8 * between(crossing, ends).cost[0, 1]
    middle, north = (
        int(np.argmin(np.linalg.norm(crossing.position - place, axis=1))) for place in [(-10, 0), (0, 40)]
    )
    path = crossing.position[[middle, north]]
    more = crossing.with_way((middle, north), path, 10.0, both_ways=False)
    assert np.isinf(between(crossing, ends).cost[0, 2])
    assert np.isfinite(between(more, ends).cost[0, 2])
    assert not more.hops.is_recorded[-1]
    assert more.parts[middle] != more.parts[north]


def test_what_recordings_did_is_matched_and_the_rest_is_not(crossing: Roadmap) -> None:
    straight, turning = (tracks(way, each=1)[0] for way in ("west middle east", "west middle north"))
    assert (crossing.matched(straight) >= 0).mean() > 0.8
    assert (crossing.matched(turning) < 0).any()


def test_times_are_those_of_the_recordings(crossing: Roadmap) -> None:
    way = between(crossing, anchors("west", "east")).way(Pair(0, 1))
    assert way is not None
    took = crossing.times.of(way.hops)
    assert took.low <= took.steps <= took.high
    assert took.steps == pytest.approx(32, rel=0.2)
