"""The closed loop on fakes: its evidence, its orders, one-way worlds, and trees that are remembered."""

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

from chronoforest.planning.planner import MaxRounds, MaxSeconds
from chronoforest.routing.challenge import ChallengeParams
from chronoforest.routing.solver import solve_exact
from chronoforest.search.memory import ForestMemory
from chronoforest.types import Pair, Problem


def test_stored_bridge_costs_never_rise_over_rounds():
    search = begun(make_planner(BLOCK), scattered_problem(2, 3, BLOCK))
    seen = [search.bridges.cost]
    search.run(MaxRounds(60), lambda stats, problem: seen.append(search.bridges.cost))
    assert len(seen) > 2
    for before, after in pairwise(seen):
        assert (after <= before).all()


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
    met = search.chained(search.bridges.met_cost).cost
    best = solve_exact(met, problem)
    assert search.route.cost(met) == pytest.approx(best.cost(met))
    assert np.isfinite(search.route.cost(met))


def test_a_complete_order_is_taken_although_an_unmet_one_looks_better():
    """All is met; then the bridge to the last waypoint is forgotten and looks nearly free, and time is up."""
    problem = scattered_problem(1, 3, BLOCK)
    search = searched(make_planner(BLOCK), problem, "exhaustive")
    best = search.route
    link = Pair(best.orders[0][0], best.orders[0][-2])
    meetings = {pair: m for pair, m in search.bridges.meetings.items() if pair not in (link, link.reversed)}
    cost = search.bridges.cost.copy()
    cost[link.source, link.target] = 1e-3
    search.bridges = replace(search.bridges, cost=cost, meetings=meetings)
    assert search.solver(search.chained(cost).cost, problem, best) != best
    search.run(MaxRounds(0))
    assert search.route == best
    assert search.result("fake", "exhaustive").complete


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
    met = search.chained(search.bridges.met_cost)
    links = met.links_of(sorted(search.accepted))
    assert result.meetings.shape == (len(links), 2)
    for link, place in zip(links, result.meetings, strict=True):
        frames = search.forest.outgoing[link.source].frame_state
        np.testing.assert_array_equal(frames[search.bridges.meetings[link].source_frame], place)


def test_a_plan_without_meetings_lists_no_place():
    result = make_planner().plan(ROUND_THE_BLOCK, stop=MaxRounds(0), variant="online")
    assert result.meetings.shape == (0, 2)


def test_a_directed_world_never_leaves_goals_or_enters_starts():
    problem = scattered_problem(2, 2, BLOCK)
    search = searched(windy_planner(), problem)
    assert not any(map(problem.is_goal, search.forest.outgoing))
    assert not any(map(problem.is_start, search.forest.incoming))
    assert all(tree.is_incoming for tree in search.forest.incoming.values())
    for pair in search.bridges.meetings:
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
    planner.plan(scattered_problem(1, 1, BLOCK), memory=memory, variant="exhaustive")
    assert {place: tree.num_nodes for place, tree in trees.items()} == counts
