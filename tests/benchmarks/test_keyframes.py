"""Which moments of a search are worth a picture, and what is kept of them."""

import json
from dataclasses import asdict

import pytest
from fakes import make_planner

from benchmarks.experiments import figures as keyframes
from benchmarks.experiments.figures import shown_moments
from chronoforest.typed import from_plain
from chronoforest.types import Problem

A, B, C = [["S1", "G1"]], [["S1", "W1", "G1"]], [["S1", "W2", "G1"]]
PROBLEM = Problem([[2.0, 2.0]], [[18.0, 18.0]], [[2.0, 18.0], [18.0, 2.0]])


@pytest.fixture(scope="module")
def search():
    snapshots = []
    result = make_planner().plan(PROBLEM, on_snapshot=snapshots.append, variant="online")
    return result, keyframes.record_search(snapshots, result), len(snapshots)


def test_both_sides_of_every_flip_are_shown():
    orders = [A] * 5 + [B] * 5 + [A] * 10
    assert keyframes.flips(orders) == [5, 10]
    assert shown_moments(orders, 6) == [0, 4, 5, 9, 10, 19]


def test_a_search_is_kept_as_plain_values(search):
    result, recorded, num_snapshots = search
    assert from_plain(keyframes.SearchRecord, json.loads(json.dumps(asdict(recorded)))) == recorded
    first, *_, last = recorded.moments
    assert (first.round, first.num_expanded, sum(first.num_segments)) == (0, 0, 0)
    assert last.num_segments == [len(tree.segments) for tree in result.trees]
    assert last.orders == [route.order for route in result.routes]
    assert last.length == pytest.approx(result.length, abs=0.01)
    assert len(recorded.moments) == min(keyframes.NUM_KEYFRAMES, num_snapshots + 1)
