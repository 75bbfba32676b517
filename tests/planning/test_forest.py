"""The forest as the source of evidence: meetings, orders, one-way worlds, and trees that are remembered."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from fakes import (
    BLOCK,
    SPEED,
    make_planner,
    scattered_problem,
)
from searches import ROUND_THE_BLOCK, begun, searched, windy_planner

from chronoforest.planning.assembly import Bridge, build_bridges
from chronoforest.planning.planner import MaxRounds, MaxSeconds
from chronoforest.planning.sources import Asks, forest
from chronoforest.planning.variants import Variant
from chronoforest.routing.bridges import closure
from chronoforest.routing.budget import ChallengeParams
from chronoforest.routing.solver import solve_exact
from chronoforest.search.tree import ForestMemory
from chronoforest.types import Evidence, Meeting, Pair, Problem, WorldParams


def test_stored_bridge_costs_never_rise_over_rounds():
    seen = []
    search = begun(
        make_planner(BLOCK), scattered_problem(2, 3, BLOCK), on_round=lambda *_: seen.append(search.ledger)
    )
    search.run()
    assert len(seen) > 2
    for before, after in pairwise(seen):
        assert (after.cost <= before.cost).all()
        assert (after.bridges.gap <= before.bridges.gap).all() or (after.cost < before.cost).any()
        assert before.ways.keys() <= after.ways.keys()


def test_a_round_pays_for_at_most_four_pairs_that_routes_can_use():
    problem = scattered_problem(2, 4, BLOCK)
    for stats in make_planner(BLOCK).plan(problem, variant="online").rounds:
        assert 1 <= len(stats.pairs) <= 4
        assert all(problem.can_link(*ends) or problem.can_link(*ends[::-1]) for ends in ends_of(stats.pairs))


def ends_of(pairs):
    return [(pair.source, pair.target) for pair in pairs]


@pytest.mark.parametrize("stop", [MaxRounds(0), MaxSeconds(0.0)])
def test_trees_without_a_round_give_a_path_that_stays_at_the_start(stop):
    result = make_planner().plan(ROUND_THE_BLOCK, stop=stop, variant="online")
    assert (result.num_rounds, result.num_expanded, result.complete) == (0, 0, False)
    np.testing.assert_allclose(result.routes[0].path, ROUND_THE_BLOCK.starts)


def test_the_final_order_is_the_quickest_of_those_whose_legs_are_met():
    problem = scattered_problem(2, 3, BLOCK)
    search = searched(make_planner(BLOCK), problem)
    met = closure(search.ledger.bridges.met_cost).cost
    best = solve_exact(met, problem)
    assert search.route.cost(met) == pytest.approx(best.cost(met))
    assert np.isfinite(search.route.cost(met))


def test_a_complete_order_is_taken_although_an_unmet_one_looks_better():
    """All is met; then the bridge to the last waypoint is forgotten and looks nearly free, and time is up."""
    problem = scattered_problem(1, 3, BLOCK)
    search = searched(make_planner(BLOCK), problem)
    best, ledger = search.route, search.ledger
    link = Pair(best.orders[0][0], best.orders[0][-2])
    meetings = {pair: m for pair, m in ledger.bridges.meetings.items() if pair not in (link, link.reversed)}
    cost = ledger.cost.copy()
    cost[link.source, link.target] = 1e-3
    ledger = replace(ledger, bridges=replace(ledger.bridges, cost=cost, meetings=meetings))
    tempted, ledger = search.source.propose(ledger, best)
    assert tempted != best
    met = closure(ledger.bridges.met_cost).cost
    taken, ledger = search.source.finish(tempted, ledger)
    assert taken == solve_exact(met, problem)
    assert ledger.accepted == frozenset(taken.legs)


def test_a_legs_cost_is_the_travel_time_of_its_path():
    """In a world of constant speed, steps are length over speed, but for what timing over hops cuts off."""
    planner, problem = make_planner(BLOCK), scattered_problem(2, 3, BLOCK)
    for route in planner.plan(problem, seed=1, variant="online").routes:
        for (first, last), leg in zip(pairwise(route.stops), route.legs, strict=True):
            length = np.linalg.norm(np.diff(route.path[first : last + 1], axis=0), axis=1).sum()
            assert 0.95 * length / SPEED <= leg.cost <= length / SPEED + 1e-6


def test_without_challenges_a_complete_route_is_taken_at_once():
    problem = scattered_problem(2, 4, BLOCK)
    eager, careful = (
        make_planner(BLOCK, challenge=ChallengeParams(max_challenges=n)).plan(problem, variant="online")
        for n in (0, 8)
    )
    assert eager.complete
    assert careful.complete
    assert eager.num_rounds <= careful.num_rounds


def test_meetings_of_a_result_lie_where_a_source_tree_touches():
    problem = scattered_problem(1, 2, BLOCK)
    search = searched(make_planner(BLOCK), problem)
    result = search.result("fake", "online")
    met = closure(search.ledger.bridges.met_cost)
    links = met.links_of(sorted(search.ledger.accepted))
    assert result.meetings.shape == (len(links), 2)
    for link, place in zip(links, result.meetings, strict=True):
        frames = search.source.forest.outgoing[link.source].frame_state
        np.testing.assert_array_equal(frames[search.ledger.bridges.meetings[link].source_frame], place)


def test_a_plan_without_meetings_lists_no_place():
    result = make_planner().plan(ROUND_THE_BLOCK, stop=MaxRounds(0), variant="online")
    assert result.meetings.shape == (0, 2)


def test_a_directed_world_never_leaves_goals_or_enters_starts():
    problem = scattered_problem(2, 2, BLOCK)
    search = searched(windy_planner(), problem)
    assert not any(map(problem.is_goal, search.source.forest.outgoing))
    assert not any(map(problem.is_start, search.source.forest.incoming))
    assert all(tree.is_incoming for tree in search.source.forest.incoming.values())
    for pair in search.ledger.bridges.meetings:
        assert not problem.is_goal(pair.source)
        assert not problem.is_start(pair.target)


@pytest.mark.parametrize("size", [(1, 0), (1, 2), (2, 2)])
def test_a_directed_world_is_planned_with_incoming_trees(size):
    problem = scattered_problem(*size, BLOCK)
    planner = windy_planner()
    result = planner.plan(problem, variant="online")
    assert result.complete, result.summary()
    asked = np.concatenate([query.is_incoming for query in planner.models.sampler.queries])
    assert asked.any()
    assert not asked.all()
    for agent, route in enumerate(result.routes):
        np.testing.assert_allclose(route.path[0], problem.starts[agent])
        np.testing.assert_allclose(route.path[-1], problem.goals[agent])


@pytest.mark.parametrize("variant", ["verified", "online"])
def test_in_a_directed_world_the_way_against_the_wind_costs_more(variant):
    there = Problem(starts=[[3.0, 3.0]], goals=[[17.0, 3.0]])
    back = Problem(starts=there.goals, goals=there.starts)
    with_wind, against = (
        windy_planner().plan(problem, variant=variant).routes[0].legs[0].cost for problem in (there, back)
    )
    assert against > 1.5 * with_wind


def remembered_trees(memory):
    return {place: tree.segments() for place, tree in memory._trees.items()}


def test_a_remembered_forest_needs_fewer_expansions_for_the_same_problem():
    memory, planner, problem = ForestMemory(), make_planner(BLOCK), scattered_problem(2, 3, BLOCK)
    first = planner.plan(problem, memory=memory, variant="online")
    again = planner.plan(problem, memory=memory, variant="online")
    assert first.num_expanded > again.num_expanded
    assert again.complete


def test_replanning_from_a_moved_start_keeps_the_other_trees():
    memory, planner = ForestMemory(), make_planner(BLOCK)
    places = {"goals": [[17.0, 10.0]], "waypoints": [[10.0, 17.0]]}
    planner.plan(Problem(starts=[[3.0, 10.0]], **places), memory=memory, variant="online")
    before = remembered_trees(memory)
    moved = Problem(starts=[[4.0, 11.0]], **places)
    second = planner.plan(moved, memory=memory, variant="online")
    after = remembered_trees(memory)
    for place, segments in before.items():
        np.testing.assert_array_equal(after[place][: len(segments)], segments)
    assert second.complete
    assert second.num_expanded < planner.plan(moved, variant="online").num_expanded
    np.testing.assert_allclose(second.routes[0].path[0], [4.0, 11.0])


def test_a_plan_leaves_the_memory_of_an_earlier_one_as_it_was():
    """The second search grows copies: what the first one remembered is still there, row by row."""
    memory, planner = ForestMemory(), make_planner(BLOCK)
    planner.plan(scattered_problem(1, 1, BLOCK), memory=memory, variant="online")
    trees = dict(memory._trees)
    assert trees
    counts = {place: tree.num_nodes for place, tree in trees.items()}
    planner.plan(scattered_problem(1, 1, BLOCK), memory=memory, variant=Variant(is_exhaustive=True))
    assert {place: tree.num_nodes for place, tree in trees.items()} == counts


def test_two_variants_share_a_memory_and_no_trees():
    """Their codes may have different widths, so that the one cannot go on from the other's trees."""
    memory, planner, problem = ForestMemory(), make_planner(BLOCK), scattered_problem(1, 1, BLOCK)
    planner.plan(problem, memory=memory, variant="paper")
    shared = planner.plan(problem, memory=memory, variant="online")
    alone = planner.plan(problem, variant="online")
    assert shared.num_expanded == alone.num_expanded
    np.testing.assert_array_equal(shared.routes[0].path, alone.routes[0].path)


def test_a_met_pair_has_a_way_from_anchor_to_anchor_at_the_pace_of_the_world():
    search = searched(make_planner(BLOCK), scattered_problem(2, 2, BLOCK))
    ways, meetings = search.ledger.ways, search.ledger.bridges.meetings
    assert ways.keys() == meetings.keys()
    for pair, way in ways.items():
        ends = search.problem.anchors[[pair.source, pair.target]]
        np.testing.assert_allclose(way.bridge.path[[0, -1]], ends)
        assert way.is_verified
        assert meetings[pair].cost / way.bridge.length == pytest.approx(1.0 / SPEED)


def test_a_bridge_runs_from_the_source_over_the_meeting_to_the_target():
    search = searched(make_planner(BLOCK), scattered_problem(2, 2, BLOCK))
    models, params = search.source.models, search.source.params.search
    for pair, meeting in search.ledger.bridges.meetings.items():
        (path,) = (one.path for one in build_bridges(search.source.forest, [meeting], list))
        np.testing.assert_allclose(path[[0, -1]], search.problem.anchors[[pair.source, pair.target]])
        gap = np.linalg.norm(np.diff(path, axis=0), axis=1).max()
        assert gap <= max(models.largest_hop, params.meeting_steps * SPEED) + 1e-9


def straight_bridge(length):
    return Bridge(np.array([[3.0, 3.0], [3.0 + length, 3.0]]), length)


def learning(monkeypatch, lengths, costs, is_reversible=True):
    """Whether each meeting is kept that trees reach in so many steps; and the ledger then."""
    problem = Problem([[3.0, 3.0]], [[3.0, 3.1]])
    planner = make_planner(world=WorldParams(is_reversible=is_reversible))
    search, left = begun(planner, problem), iter(lengths)

    def built(_, meetings, __):
        return [straight_bridge(next(left)) for _ in meetings]

    monkeypatch.setattr(forest, "build_bridges", built)
    ledger, seen = search.ledger, []
    for cost in costs:
        found = search.source._learned(Evidence((), (Meeting(Pair(0, 1), cost, 1.0, 0, 0),)), ledger)
        ledger = ledger.updated(found)
        seen.append(len(found.evidence.meetings) == 1)
    return seen, ledger


def test_another_meeting_is_built_only_if_the_trees_reach_it_clearly_sooner(monkeypatch):
    """Every bridge built here is shorter than the one before, so that only the threshold can refuse it."""
    seen, ledger = learning(monkeypatch, [9.0, 8.0, 7.0], [100.0, 99.0, 97.0, 96.0])
    assert seen == [True, False, True, False]
    assert ledger.ways[Pair(0, 1)].bridge.length == pytest.approx(8.0)


def test_a_bridge_that_turns_out_longer_is_forgotten(monkeypatch):
    seen, ledger = learning(monkeypatch, [5.0, 5.0, 4.0], [100.0, 50.0, 25.0])
    assert seen == [True, False, True]
    assert ledger.ways[Pair(0, 1)].steps == pytest.approx(4.0 / SPEED)


@pytest.mark.parametrize("is_reversible", [True, False])
def test_the_way_back_is_met_too_where_it_is_the_same(monkeypatch, is_reversible):
    _, ledger = learning(monkeypatch, [5.0], [100.0], is_reversible)
    assert (Pair(1, 0) in ledger.ways) == is_reversible


@pytest.mark.parametrize("is_reversible", [True, False])
def test_a_challenged_link_counts_as_tried_both_ways_where_these_are_the_same(is_reversible):
    search = begun(make_planner(world=WorldParams(is_reversible=is_reversible)), ROUND_THE_BLOCK)
    link = Pair(0, 1)
    answers = search.source.answer(Asks((link,), tried=(link,)), search.ledger, search)
    with pytest.raises(StopIteration) as over:
        next(answers)
    num_tries = search.ledger.updated(over.value.value).num_tries
    assert (num_tries[0, 1], num_tries[1, 0], num_tries.sum()) == (1, is_reversible, 1 + is_reversible)
