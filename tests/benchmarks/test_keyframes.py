"""Which moments of a search are worth a picture, and what is kept of them."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from fakes import make_planner

from benchmarks.experiments import figures as keyframes
from benchmarks.experiments.figures import keyframe_panels, shown_moments
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


def test_a_restless_search_keeps_its_ends_and_some_flips():
    shown = shown_moments([[A, B, C][k % 3] for k in range(40)], 6)
    assert len(shown) == 6
    assert (shown[0], shown[-1]) == (0, 39)


def test_a_search_is_kept_as_plain_values(search):
    result, recorded, num_snapshots = search
    assert from_plain(keyframes.SearchRecord, json.loads(json.dumps(asdict(recorded)))) == recorded
    first, *_, last = recorded.moments
    assert (first.round, first.num_expanded, sum(first.num_segments)) == (0, 0, 0)
    assert last.num_segments == [len(tree.segments) for tree in result.trees]
    assert last.orders == [route.order for route in result.routes]
    assert last.length == pytest.approx(result.length, abs=0.01)
    assert len(recorded.moments) == min(keyframes.NUM_KEYFRAMES, num_snapshots + 1)


def test_every_leg_of_the_plan_runs_between_its_anchors(search):
    result, recorded, _ = search
    stops = [PROBLEM.anchors[PROBLEM.names.index(name)] for name in result.routes[0].order]
    legs = recorded.moments[-1].legs
    assert [(agent, is_met) for agent, is_met, _ in legs] == [(0, True)] * (len(stops) - 1)
    np.testing.assert_allclose([points[0] for *_, points in legs], stops[:-1], atol=0.01)
    np.testing.assert_allclose([points[-1] for *_, points in legs], stops[1:], atol=0.01)


def test_keyframes_become_maps(search):
    _, recorded, _ = search
    panels = keyframe_panels(recorded, PROBLEM)
    roles = [{way.role for way in panel.ways} for panel in panels]
    assert roles[0] == {"tentative"}
    assert roles[-1] == {"tree", "route"}
    assert panels[0].title == "before the first round"
    assert panels[-1].title.startswith("plan after")
    assert "S1 → " in panels[-1].note
