"""Plans where the roadmap does not lead everywhere: what it connects is planned, trees grow for the rest."""

import json

import numpy as np
import pytest
from fakes import SIDE
from gap_worlds import ACROSS, MIDDLE, NEAR, VISITS_BEYOND, tolled_planner, walled_planner
from searches import begun, evidence

from chronoforest.exports.saved import load_result
from chronoforest.planning.planner import MaxRounds, MaxSeconds
from chronoforest.planning.sources.roadmap import ProposalParams, RoadmapSource
from chronoforest.roadmap.support import SupportParts
from chronoforest.types import Problem

VARIANTS = ["verified", "roadmap-only"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_stops_that_no_way_reaches_are_left_out_and_the_others_planned(variant):
    result = walled_planner().plan(VISITS_BEYOND, variant=variant)
    (route,) = result.routes
    assert sorted(route.order[1:-1]) == ["W1", "W3"]
    assert (result.left_out, result.unmet, result.complete) == (("W2", "W4"), (), False)
    assert set(evidence(result)) == {"inferred" if variant == "roadmap-only" else "verified"}
    assert len(route.stops) == 4
    np.testing.assert_allclose(route.path[[0, -1]], [VISITS_BEYOND.starts[0], VISITS_BEYOND.goals[0]])


def test_of_many_stops_one_is_left_out_and_all_others_are_planned():
    rng = np.random.default_rng(3)
    places = np.stack([rng.uniform(1.0, 8.0, 40), rng.uniform(1.0, SIDE - 1.0, 40)], axis=1)
    problem = Problem(places[:1], places[1:2], [*places[2:], [17.0, 10.0]])
    result = walled_planner().plan(problem)
    assert result.left_out == ("W39",)
    assert evidence(result) == ["verified"] * 39
    assert result.num_rounds < 10


def test_where_nothing_was_recorded_no_tree_is_grown():
    planner = walled_planner()
    assert planner.prepared("verified").checker.piece_length > 0
    planner.models.sampler.queries.clear()
    result = planner.plan(ACROSS)
    assert not planner.models.sampler.queries
    assert (result.num_rounds, result.unmet, result.trees) == (1, (("S1", "G1"),), ())
    assert result.routes[0].path.tolist() == ACROSS.starts.tolist()
    assert result.routes[0].stops == (0,)
    assert not result.routes[0].legs[0].is_met


def test_it_is_told_who_is_cut_off_where_and_why():
    result = walled_planner().plan(VISITS_BEYOND)
    (gap,) = result.gaps
    assert (gap.source, gap.left_out, gap.is_recorded, gap.is_searched) == ("S1", ("W2", "W4"), False, False)
    assert gap.reached[0] < 9.0
    assert gap.wanted[0] > 11.0
    (sentence,) = result.shortfalls
    assert sentence.startswith("W2, W4 are left out: ways from S1 come to (8")
    assert "nothing was recorded in between; record a way between the two" in sentence
    assert "allow more time" not in sentence
    assert result.summary().startswith("incomplete, left out: W2, W4")


@pytest.mark.parametrize("variant", VARIANTS)
def test_trees_that_cross_a_gap_join_the_plan(variant):
    result = tolled_planner().plan(ACROSS, variant=variant)
    (route,) = result.routes
    assert result.complete
    assert (result.gaps, result.left_out, result.shortfalls) == ((), (), ())
    np.testing.assert_allclose(route.path[[0, -1]], [ACROSS.starts[0], ACROSS.goals[0]])
    assert np.linalg.norm(np.diff(route.path, axis=0), axis=1).max() < 5.0
    assert result.num_expanded > 0


def test_one_crossing_serves_all_stops_beyond_the_gap():
    search = begun(tolled_planner(), VISITS_BEYOND, "verified")
    search.run()
    assert search.result("toll", "verified").complete
    assert len(search.ledger.searched) == 1


def tree_rounds(result):
    """Rounds that paid for one leg that leads across the middle, and is none of the route."""
    is_left = result.problem.anchors[:, 0] < MIDDLE
    paid = [(stats, stats.pairs[0]) for stats in result.rounds if len(stats.pairs) == 1]
    return [
        stats
        for stats, leg in paid
        if is_left[leg.source] != is_left[leg.target] and leg not in stats.route.legs
    ]


def test_the_first_plan_comes_before_any_tree():
    seen, planner = [], tolled_planner()
    result = planner.plan(VISITS_BEYOND, on_snapshot=seen.append)
    first = seen[0]
    assert sorted(first.stats.route.orders[0]) == [0, 1, 3, 5]
    assert set(first.paths) == set(first.stats.route.legs)
    assert not first.trees
    assert [snapshot.stats.round_index for snapshot in seen] == list(range(len(seen)))
    assert [snapshot.stats for snapshot in seen] == list(result.rounds)
    assert len(seen[-1].stats.route.legs) == 5
    spent = [stats.num_expanded for stats in result.rounds]
    assert spent == sorted(spent)


@pytest.mark.parametrize("stop", [MaxSeconds(0.0), MaxRounds(1)])
def test_without_time_for_trees_the_rest_is_planned_and_more_time_is_advised(stop):
    planner = tolled_planner()
    assert planner.prepared("verified").checker.piece_length > 0
    planner.models.sampler.queries.clear()
    result = planner.plan(VISITS_BEYOND, stop=stop)
    assert not planner.models.sampler.queries
    assert result.left_out == ("W2", "W4")
    assert "no recording leads across" in result.shortfalls[0]


def test_rounds_of_trees_are_rounds_of_the_plan():
    result = tolled_planner().plan(ACROSS, stop=MaxRounds(2))
    assert result.num_rounds <= 3
    assert result.rounds[1].pairs == result.rounds[1].route.legs


@pytest.fixture
def all_is_recorded(monkeypatch):
    """So it seems."""
    monkeypatch.setattr(SupportParts, "joins", lambda self, ends: True)


@pytest.mark.usefixtures("all_is_recorded")
def test_trees_in_vain_are_told_and_not_tried_twice():
    result = walled_planner().plan(VISITS_BEYOND)
    assert result.left_out == ("W2", "W4")
    assert result.gaps[0].is_searched
    assert "trees were grown there in vain; record a way" in result.shortfalls[0]
    assert 0 < len(tree_rounds(result)) <= RoadmapSource.params.most_rounds


@pytest.mark.usefixtures("all_is_recorded")
def test_trees_that_time_cut_short_were_not_in_vain():
    result = walled_planner().plan(VISITS_BEYOND, stop=MaxRounds(5))
    assert tree_rounds(result)
    assert not result.gaps[0].is_searched
    assert "allow more time" in result.shortfalls[0]


@pytest.mark.usefixtures("all_is_recorded")
def test_only_so_many_gaps_are_searched(monkeypatch):
    monkeypatch.setattr(RoadmapSource, "params", ProposalParams(most_searched=0))
    planner = walled_planner()
    assert not planner.plan(VISITS_BEYOND).gaps[0].is_searched


def test_who_is_cut_off_from_its_goal_leaves_the_stops_to_another():
    problem = Problem([[3.0, 10.0], [2.0, 2.0]], [[17.0, 10.0], [7.0, 2.0]], [[3.0, 12.0], [5.0, 15.0]])
    result = walled_planner().plan(problem)
    assert result.routes[0].order == ["S1", "G1"]
    assert sorted(result.routes[1].order[1:-1]) == ["W1", "W2"]
    assert (result.unmet, result.left_out) == ((("S1", "G1"),), ())
    assert result.shortfalls[0].startswith("S1→G1: ways from S1 come to")


def test_alone_one_goes_as_far_as_ways_lead():
    problem = Problem([[3.0, 10.0]], [[17.0, 10.0]], [[3.0, 15.0], [6.0, 4.0]])
    result = walled_planner().plan(problem)
    (route,) = result.routes
    assert len(route.stops) == 3
    assert [leg.is_met for leg in route.legs] == [True, True, False]
    np.testing.assert_allclose(route.path[-1], problem.anchors[problem.names.index(route.order[2])])
    assert len(route.times) == len(route.path)


def test_a_given_order_is_kept_without_what_no_way_reaches():
    order = [["S1", "W3", "W2", "W1", "W4", "G1"]]
    result = walled_planner().plan(VISITS_BEYOND, order=order)
    assert result.routes[0].order == ["S1", "W3", "W1", "G1"]
    assert result.left_out == ("W2", "W4")
    assert tolled_planner().plan(VISITS_BEYOND, order=order).routes[0].order == order[0]


def test_an_incomplete_plan_loads_back_and_is_told_in_every_format(tmp_path):
    result = walled_planner().plan(VISITS_BEYOND)
    result.save(tmp_path / "plan.json")
    again = load_result(tmp_path / "plan.json")
    assert (again.left_out, again.complete) == (("W2", "W4"), False)
    assert again.shortfalls == result.shortfalls
    assert json.loads(result.to_json())["shortfalls"] == list(result.shortfalls)
    told = json.loads(result.to_geojson())
    assert (told["complete"], told["shortfalls"]) == (False, list(result.shortfalls))


def test_plans_that_leave_nothing_out_load_without_saying_so(tmp_path):
    path = tmp_path / "plan.json"
    walled_planner().plan(NEAR).save(path)
    values = json.loads(path.read_text())
    for name in ("left_out", "gaps", "shortfalls"):
        del values[name]
    path.write_text(json.dumps(values))
    assert load_result(path).complete
