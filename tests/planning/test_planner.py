"""What every plan promises, and the closed loop, on fakes: an open square and one with a block in it."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fakes import (
    BLOCK,
    CALIBRATION,
    SIDE,
    SPEED,
    DriftingDistance,
    EuclideanDistance,
    FakeModels,
    SquareDensity,
    StraightSampler,
    WindDistance,
    make_planner,
    scattered_problem,
)

from chronoforest.errors import InvalidParameter, InvalidProblem, UnknownVariant
from chronoforest.models.guidance import GuidanceParams
from chronoforest.models.sampler import SamplerParams
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.closed_loop import ClosedLoop
from chronoforest.planning.planner import MaxExpansions, MaxRounds, MaxSeconds, Planner
from chronoforest.planning.variants import VARIANTS, PlannerParams
from chronoforest.routing.budget import linkable_pairs
from chronoforest.routing.challenge import ChallengeParams
from chronoforest.routing.solver import solve_exact
from chronoforest.search.expand import SearchParams
from chronoforest.search.memory import ForestMemory
from chronoforest.search.tree import plant
from chronoforest.types import JointRoute, Pair, Problem, RoundStats, WorldParams

WORLDS = {"open": None, "block": BLOCK}
SIZES = [(m, k) for m in (1, 2, 3) for k in range(5)]
ROUND_THE_BLOCK = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]], waypoints=[[10.0, 17.0]])


@cache
def planned(variant, world, num_agents, num_waypoints):
    problem = scattered_problem(num_agents, num_waypoints, WORLDS[world])
    return make_planner(WORLDS[world]).plan(problem, seed=1, variant=variant)


def begun(planner, problem, variant="online"):
    """The loop that `Planner.plan` runs, with its forest and evidence, before its first round."""
    return ClosedLoop(planner.prepared(variant), problem, None, None, seed=0)


def searched(planner, problem, variant="online"):
    """The same when it is done."""
    search = begun(planner, problem, variant)
    search.run(MaxRounds(60))
    return search


def same_paths(first, second):
    return len(first.routes) == len(second.routes) and all(
        a.order == b.order and np.array_equal(a.path, b.path)
        for a, b in zip(first.routes, second.routes, strict=True)
    )


either_way = pytest.mark.parametrize("variant", [DEFAULT_VARIANT, "online"])
each_plan = pytest.mark.parametrize(
    ("variant", "world", "size"),
    [(v, w, s) for v in (DEFAULT_VARIANT, "online") for w in WORLDS for s in SIZES],
)


@each_plan
def test_every_leg_is_met(variant, world, size):
    result = planned(variant, world, *size)
    assert result.complete, result.summary()
    assert result.unmet == ()
    assert all(leg.is_met for route in result.routes for leg in route.legs)
    assert result.num_rounds == len(result.rounds) >= 1
    assert result.num_expanded == result.rounds[-1].num_expanded > 0


@each_plan
def test_paths_lead_from_start_to_goal_through_their_waypoints(variant, world, size):
    result = planned(variant, world, *size)
    places = dict(zip(result.problem.names, result.problem.anchors, strict=True))
    for agent, route in enumerate(result.routes, start=1):
        assert (route.order[0], route.order[-1]) == (f"S{agent}", f"G{agent}")
        np.testing.assert_allclose(route.path[[0, -1]], [places[route.order[0]], places[route.order[-1]]])
        for name, stop in zip(route.order, route.stops, strict=True):
            assert np.linalg.norm(route.path - places[name], axis=1).min() <= 0.5
            np.testing.assert_allclose(route.path[stop], places[name], atol=0.5)
        assert list(route.stops) == sorted(route.stops)


@each_plan
def test_paths_have_no_jumps_and_stay_in_the_support(variant, world, size):
    density = SquareDensity(WORLDS[world])
    for route in planned(variant, world, *size).routes:
        assert np.linalg.norm(np.diff(route.path, axis=0), axis=1).max() <= 0.25 + 1e-9
        assert density.margin(route.path).min() > 0
        assert np.isfinite(route.path).all()


@each_plan
def test_every_waypoint_is_visited_exactly_once_over_all_agents(variant, world, size):
    result = planned(variant, world, *size)
    visits = sorted(name for route in result.routes for name in route.order[1:-1])
    assert visits == sorted(f"W{k + 1}" for k in range(size[1]))


@each_plan
def test_a_leg_is_no_cheaper_than_the_straight_line(variant, world, size):
    """With a true distance as the clock no bridge can be below it, and widths and gaps are finite."""
    result = planned(variant, world, *size)
    places = dict(zip(result.problem.names, result.problem.anchors, strict=True))
    distance = EuclideanDistance()
    for leg in (leg for route in result.routes for leg in route.legs):
        assert leg.cost >= distance.between(places[leg.source], places[leg.target]) - 1e-6
        assert np.isfinite([leg.gap, leg.width]).all()
        assert (leg.chain[0], leg.chain[-1]) == (leg.source, leg.target)


def test_the_same_seed_gives_the_same_plan_and_another_may_not():
    problem = scattered_problem(2, 3, BLOCK)
    first, again, *others = [
        make_planner(BLOCK).plan(problem, seed=seed, variant="online") for seed in (5, 5, 6, 7, 8)
    ]
    assert same_paths(first, again)
    assert [stats.route for stats in first.rounds] == [stats.route for stats in again.rounds]
    assert first.num_expanded == again.num_expanded
    assert not all(same_paths(first, other) for other in others)


def test_plans_are_verified_unless_told_otherwise():
    result = make_planner(BLOCK).plan(ROUND_THE_BLOCK)
    assert result.variant == DEFAULT_VARIANT == "verified"
    assert {leg.evidence for leg in result.routes[0].legs} == {"verified"}


@pytest.mark.slow
@either_way
def test_the_same_seed_gives_the_same_plan_in_another_process(variant):
    """Whatever order that process keeps its sets and strings in."""
    code = (
        "from fakes import BLOCK, make_planner, scattered_problem; "
        f"result = make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), seed=5, variant={variant!r}); "
        "print([route.path.tolist() for route in result.routes])"
    )
    folder = Path(__file__).parents[1]
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    here = make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), seed=5, variant=variant)
    assert printed == {f"{[route.path.tolist() for route in here.routes]}\n".encode()}


def test_a_negative_seed_is_refused():
    with pytest.raises(InvalidParameter, match="seed must be a whole number of 0 or more, got -1"):
        make_planner().plan(ROUND_THE_BLOCK, seed=-1)


def test_stored_bridge_costs_never_rise_over_rounds():
    search = begun(make_planner(BLOCK), scattered_problem(2, 3, BLOCK))
    seen = [search.bridges.cost]
    search.run(MaxRounds(60), lambda stats, problem: seen.append(search.bridges.cost))
    assert len(seen) > 2
    for before, after in pairwise(seen):
        assert (after <= before).all()


@pytest.mark.parametrize("stop", [MaxRounds(1), MaxExpansions(1)])
def test_a_spent_budget_gives_a_partial_plan_that_names_what_is_missing(stop):
    result = make_planner(BLOCK).plan(ROUND_THE_BLOCK, stop=stop, variant="online")
    assert result.num_rounds == 1
    assert not result.complete
    missing = {(leg.source, leg.target) for route in result.routes for leg in route.legs if not leg.is_met}
    assert set(result.unmet) == missing
    (route,) = result.routes
    np.testing.assert_allclose(route.path[0], ROUND_THE_BLOCK.starts[0])
    assert len(route.path) > 1
    assert SquareDensity(BLOCK).margin(route.path).min() > 0
    assert len(route.stops) == 1 + next(k for k, leg in enumerate(route.legs) if not leg.is_met)


@pytest.mark.parametrize("stop", [MaxRounds(0), MaxSeconds(0.0)])
def test_trees_without_a_round_give_a_path_that_stays_at_the_start(stop):
    result = make_planner().plan(ROUND_THE_BLOCK, stop=stop, variant="online")
    assert (result.num_rounds, result.num_expanded, result.complete) == (0, 0, False)
    np.testing.assert_allclose(result.routes[0].path, ROUND_THE_BLOCK.starts)


@pytest.mark.parametrize("stop", [MaxRounds(0), MaxRounds(1), MaxSeconds(0.0)])
def test_the_smallest_budget_still_gives_a_complete_plan_that_is_proposed(stop):
    result = make_planner(BLOCK).plan(ROUND_THE_BLOCK, stop=stop)
    assert (result.num_rounds, result.num_expanded, result.complete) == (1, 0, True)
    assert {leg.evidence for leg in result.routes[0].legs} == {"proposed"}


def test_an_unreachable_goal_ends_at_the_preset_number_of_rounds():
    """A wall across the whole square: no meeting can exist, and the plan never pretends one does."""
    planner = make_planner(((9.0, -1.0), (11.0, SIDE + 1.0)), max_rounds=6)
    result = planner.plan(Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]]))
    assert (result.num_rounds, result.unmet) == (6, (("S1", "G1"),))
    assert result.routes[0].path[:, 0].max() < 9.0


def test_expansions_are_limited_even_where_nothing_can_be_expanded():
    """Every sample leaves the support, so the count that should end the search stands still."""
    models = FakeModels(sampler=StraightSampler(longest=100.0, shortest=100.0))
    rounds = []

    def watch(stats, problem):
        rounds.append(stats)
        assert len(rounds) < 500, "the search never ends"

    result = Planner(models, PlannerParams()).plan(
        ROUND_THE_BLOCK, stop=MaxExpansions(5), on_round=watch, variant="online"
    )
    assert (result.complete, result.num_expanded) == (False, 0)


@either_way
def test_the_observer_sees_every_round_as_the_result_lists_it(variant):
    seen = []
    problem = scattered_problem(2, 3, BLOCK)
    result = make_planner(BLOCK).plan(
        problem, on_round=lambda stats, asked: seen.append((stats, asked)), variant=variant
    )
    assert [stats for stats, _ in seen] == list(result.rounds)
    assert all(asked is problem for _, asked in seen)
    assert [stats.round_index for stats in result.rounds] == list(range(result.num_rounds))
    for before, after in pairwise(result.rounds):
        assert before.num_nodes <= after.num_nodes
        assert before.num_expanded <= after.num_expanded
        assert before.seconds <= after.seconds


def test_a_round_pays_for_at_most_four_pairs_that_routes_can_use():
    problem = scattered_problem(2, 4, BLOCK)
    for stats in make_planner(BLOCK).plan(problem, variant="online").rounds:
        assert 1 <= len(stats.pairs) <= 4
        assert all(problem.can_link(*ends) or problem.can_link(*ends[::-1]) for ends in ends_of(stats.pairs))


def ends_of(pairs):
    return [(pair.source, pair.target) for pair in pairs]


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_every_variant_plans_and_says_which_it_was(variant):
    """In the open square: a single guided sample that is straight never gets round a block."""
    problem = scattered_problem(1, 2)
    result = make_planner().plan(problem, variant=variant, order=[["S1", "W2", "W1", "G1"]])
    assert (result.complete, result.variant) == (True, variant)
    assert result.routes[0].order == ["S1", "W2", "W1", "G1"]


@pytest.mark.parametrize(
    ("variant", "guidance"),
    [("online", {}), ("noisy-injection", {"inject": "noisy"}), ("sparse-guidance", {"spread": "sparse"})],
)
def test_guidance_variants_ask_a_sampler_that_is_guided_otherwise(variant, guidance):
    search = searched(make_planner(), scattered_problem(1, 1), variant)
    assert search.models.sampler.guidance == guidance
    assert search.models.sampler.queries
    GuidanceParams(**guidance)


def test_a_variants_models_are_prepared_once_and_again_when_models_or_parameters_change():
    planner = make_planner()
    first = planner.prepared("online")
    assert planner.prepared("online") is first
    assert planner.prepared("sparse-guidance") is not first
    planner.params = replace(planner.params, anchor_tolerance=0.1)
    assert planner.prepared("online") is not first
    planner.models = FakeModels(distance=WindDistance())
    assert planner.prepared("online").learned is planner.models.distance


def test_single_asks_for_one_sample_per_leaf():
    online, single = (
        searched(make_planner(BLOCK), ROUND_THE_BLOCK, variant) for variant in ("online", "single")
    )
    for search, count in ((online, 12), (single, 1)):
        first = search.models.sampler.queries[0]
        assert len(first) == count * len(np.unique(first.boundary, axis=0))


def test_the_start_tree_only_variant_leaves_the_goals_tree_bare():
    problem = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]])
    search = searched(make_planner(BLOCK), problem, "start-tree-only")
    assert search.forest.outgoing[1].num_nodes == 1
    assert search.forest.outgoing[0].num_nodes > 1


def test_exhaustive_meets_every_pair_a_route_could_use():
    problem = scattered_problem(2, 2, BLOCK)
    search = searched(make_planner(BLOCK), problem, "exhaustive")
    wanted = linkable_pairs(problem, is_reversible=True)
    assert all(pair in search.bridges.meetings for pair in wanted)
    assert not all(pair in searched(make_planner(BLOCK), problem).bridges.meetings for pair in wanted)


def test_temporal_fixed_keeps_the_order_that_raw_distances_give():
    problem = scattered_problem(2, 4, BLOCK)
    raw = EuclideanDistance().pairwise(problem.anchors, problem.anchors)
    first = solve_exact(raw, problem)
    result = make_planner(BLOCK).plan(problem, variant="temporal-fixed")
    assert {stats.route for stats in result.rounds} == {first}
    assert [route.order for route in result.routes] == first.named(problem)


def test_the_roadmap_puts_far_distances_right_and_leave_temporal_fixed_what_was_learned():
    problem = scattered_problem(1, 3)
    planner = Planner(FakeModels(distance=DriftingDistance()), PlannerParams())
    true, learned = (
        distance.pairwise(problem.anchors, problem.anchors)
        for distance in (EuclideanDistance(), DriftingDistance())
    )
    is_far = true > CALIBRATION.local_window
    assert is_far.any()
    chained, raw = (begun(planner, problem, variant).guess for variant in ("online", "learned-distance"))
    np.testing.assert_allclose(raw, learned)
    np.testing.assert_allclose(chained[~is_far], true[~is_far])
    np.testing.assert_allclose(chained[is_far], true[is_far], rtol=0.1)
    fixed = begun(planner, problem, "temporal-fixed")
    assert fixed.route == solve_exact(learned, problem)


def test_graph_fixed_without_an_order_shows_what_one_looks_like():
    with pytest.raises(InvalidParameter, match=r"'graph-fixed' needs `order`, for example \[\['S1'"):
        make_planner().plan(ROUND_THE_BLOCK, variant="graph-fixed")


def test_an_order_with_unknown_names_or_missing_waypoints_is_refused():
    with pytest.raises(InvalidProblem, match=r"no anchor is called 'W9'; available: S1, W1, G1"):
        make_planner().plan(ROUND_THE_BLOCK, order=[["S1", "W9", "G1"]])
    with pytest.raises(InvalidProblem, match="exactly once"):
        make_planner().plan(ROUND_THE_BLOCK, order=[["S1", "G1"]])


def test_an_unknown_variant_lists_the_choices():
    with pytest.raises(UnknownVariant) as error:
        make_planner().plan(ROUND_THE_BLOCK, variant="offline")
    assert all(name in str(error.value) for name in ("'offline'", *VARIANTS))


@pytest.mark.parametrize(("where", "name"), [("starts", "S1"), ("goals", "G1"), ("waypoints", "W1")])
def test_an_anchor_outside_the_support_is_named_with_the_nearest_supported_place(where, name):
    places = {"starts": [[3.0, 10.0]], "goals": [[17.0, 10.0]], "waypoints": [[10.0, 17.0]]}
    planner = make_planner(BLOCK)
    with pytest.raises(InvalidProblem) as error:
        planner.plan(Problem(**(places | {where: [[10.0, 12.2]]})))
    assert str(error.value) == (
        f"{name} at (10, 12.2) lies outside the data's support; the nearest supported place is (10, 13.5), "
        "1.3 units away"
    )
    assert not planner.models.sampler.queries


def test_an_anchor_may_lie_a_little_outside_the_support():
    problem = Problem(starts=[[3.0, 10.0]], goals=[[17.0, -0.3]])
    assert make_planner(BLOCK).plan(problem).complete


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


def windy_planner(block=BLOCK):
    models = FakeModels(distance=WindDistance(), density=SquareDensity(block))
    return Planner(models, PlannerParams(world=WorldParams(is_reversible=False)), "windy")


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


def test_reversible_worlds_plant_one_tree_per_anchor_and_directed_ones_two_per_waypoint():
    problem = scattered_problem(2, 3)
    reversible = plant(problem, 12, EuclideanDistance(), is_reversible=True)
    directed = plant(problem, 12, EuclideanDistance(), is_reversible=False)
    assert len(reversible.trees) == problem.num_anchors
    assert len(directed.trees) == problem.num_anchors + problem.num_waypoints


@pytest.mark.parametrize("broken", [{"num_expand": 0}, {"meeting_radius": 0.0}, {"uncertainty_weight": -1.0}])
def test_search_parameters_out_of_range_are_refused_with_the_value(broken):
    with pytest.raises(InvalidParameter, match=str(next(iter(broken.values())))):
        SearchParams(**broken)


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
    assert search.result("fake", "exhaustive", 0).complete


def test_a_legs_cost_is_the_travel_time_of_its_path():
    """In a world of constant speed, steps are length over speed, but for what timing over hops cuts off."""
    for route in planned("online", "block", 2, 3).routes:
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


@pytest.mark.parametrize(
    "broken",
    [{"max_rounds": 0}, {"max_rounds": -3}],
)
def test_planner_parameters_out_of_range_are_refused(broken):
    with pytest.raises(InvalidParameter, match=str(next(iter(broken.values())))):
        PlannerParams(**broken)


@pytest.mark.parametrize("apart", [1e-9, 1e-6, 9e-5])
def test_anchors_nearer_than_a_thousandth_of_a_step_are_refused_by_name(apart):
    problem = Problem([[2.0, 2.0]], [[18.0, 2.0]], [[10.0, 2.0], [10.0 + apart, 2.0]])
    with pytest.raises(InvalidProblem, match=r"W1 and W2 are .* units apart; .* 0\.0001 units"):
        make_planner().plan(problem)


@either_way
def test_anchors_a_little_farther_apart_cost_what_their_distance_takes(variant):
    near, far = (
        make_planner().plan(
            Problem([[2.0, 2.0]], [[18.0, 2.0]], [[10.0, 2.0], [10.0 + apart, 2.0]]), variant=variant
        )
        for apart in (2e-4, 1.0)
    )
    assert near.complete
    assert near.rounds[-1].route_cost == pytest.approx(far.rounds[-1].route_cost, rel=0.1)


@pytest.mark.parametrize("seed", ["x", 1.5, True, -1, 2**63, None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InvalidParameter, match="seed must be a whole number of 0 or more, got"):
        make_planner().plan(ROUND_THE_BLOCK, seed=seed)


@pytest.mark.parametrize(
    ("stop", "value"),
    [
        (MaxSeconds, float("nan")),
        (MaxSeconds, float("inf")),
        (MaxSeconds, -1.0),
        (MaxSeconds, "1"),
        (MaxRounds, -1),
        (MaxRounds, 1.5),
        (MaxExpansions, True),
        (MaxExpansions, -1),
    ],
)
def test_a_criterion_that_would_never_stop_or_makes_no_sense_is_refused(stop, value):
    with pytest.raises(InvalidParameter, match="got"):
        stop(value)


@pytest.mark.parametrize("edge", [{"max_rounds": 1}])
def test_the_ends_of_the_ranges_are_allowed(edge):
    PlannerParams(**edge)


def after(*num_expanded, seconds=1.0):
    """Rounds with these counts of promoted leaves; each takes a second."""
    route = JointRoute(((0, 1),))
    return [
        RoundStats(index, route, 1.0, (), (), count, 0, seconds * (index + 1))
        for index, count in enumerate(num_expanded)
    ]


def test_rounds_and_seconds_are_spent_when_they_are_reached():
    assert [MaxRounds(2)(after(*range(count))) for count in range(4)] == [False, False, True, True]
    assert [MaxSeconds(2.0)(after(*range(count))) for count in range(4)] == [False, False, True, True]


def test_expansions_are_spent_when_they_are_reached_or_none_came_for_long():
    stop = MaxExpansions(5, patience=2)
    assert [stop(after(*counts)) for counts in ((), (4,), (1, 5), (1, 6), (6, 1))] == [
        False,
        False,
        True,
        True,
        False,
    ]
    assert [
        stop(after(*counts)) for counts in ((0, 0), (0, 0, 0), (3, 4, 4), (3, 4, 4, 4), (4, 4, 4, 3))
    ] == [
        False,
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(("size", "num_rounds"), [((1, 0), 4), ((1, 2), 10), ((2, 1), 10)])
def test_every_leg_beyond_the_first_adds_rounds(size, num_rounds):
    """Every sample leaves the support, so that only the budget ends the search."""
    models = FakeModels(sampler=StraightSampler(longest=100.0, shortest=100.0))
    planner = Planner(models, PlannerParams(max_rounds=4, rounds_per_leg=3))
    assert planner.plan(scattered_problem(*size), variant="online").num_rounds == num_rounds


def test_an_anchor_at_the_tolerance_is_refused():
    planner = make_planner(anchor_tolerance=0.5)
    planner.check(Problem(starts=[[3.0, 10.0]], goals=[[17.0, -0.4375]]))
    with pytest.raises(InvalidProblem, match="G1"):
        planner.check(Problem(starts=[[3.0, 10.0]], goals=[[17.0, -0.5]]))


@pytest.mark.parametrize(("gap", "farthest"), [(0.0, 0.5), (0.3, 0.5), (0.9, 0.9), (5.0, 1.1)])
def test_an_anchor_may_lie_as_far_outside_as_recordings_lie_apart_but_not_farther_than_plans_keep(
    gap, farthest
):
    planner = Planner(FakeModels(gap=gap), PlannerParams(anchor_tolerance=0.5), "fake")
    near, far = (Problem([[3.0, 10.0]], [[17.0, -farthest - beyond]]) for beyond in (-0.05, 0.05))
    assert planner.plan(near).complete
    with pytest.raises(InvalidProblem, match="G1"):
        planner.check(far)


@either_way
def test_a_snapshot_is_taken_after_every_round_and_of_trees_before_the_first_one(variant):
    seen = []
    problem = scattered_problem(1, 2, BLOCK)
    result = make_planner(BLOCK).plan(problem, on_snapshot=seen.append, variant=variant)
    if variant == "online":
        first = seen.pop(0)
        assert first.stats.round_index == -1
        assert (first.stats.pairs, first.paths, first.meetings) == ((), {}, {})
    assert [snapshot.stats for snapshot in seen] == list(result.rounds)
    for snapshot in seen:
        assert set(snapshot.paths) == set(snapshot.stats.accepted)
        for leg, path in snapshot.paths.items():
            np.testing.assert_allclose(path[[0, -1]], problem.anchors[[leg.source, leg.target]])


def test_meetings_of_a_result_lie_where_a_source_tree_touches():
    problem = scattered_problem(1, 2, BLOCK)
    search = searched(make_planner(BLOCK), problem)
    result = search.result("fake", "online", 0)
    met = search.chained(search.bridges.met_cost)
    links = met.links_of(sorted(search.accepted))
    assert result.meetings.shape == (len(links), 2)
    for link, place in zip(links, result.meetings, strict=True):
        frames = search.forest.outgoing[link.source].frame_state
        np.testing.assert_array_equal(frames[search.bridges.meetings[link].source_frame], place)


def test_a_plan_without_meetings_lists_no_place():
    result = make_planner().plan(ROUND_THE_BLOCK, stop=MaxRounds(0), variant="online")
    assert result.meetings.shape == (0, 2)


def test_variants_change_what_they_say():
    params = PlannerParams()
    single = VARIANTS["single"].adapt(params).search.junction
    assert (single.num_samples, single.scales) == (1, params.search.junction.scales[:1])
    directed = windy_planner().params
    assert not directed.is_reversible
    assert VARIANTS["reversed-trees"].adapt(directed).is_reversible
    assert VARIANTS["no-uncertainty"].adapt(params).search.uncertainty_weight == 0.0
    challenge = VARIANTS["no-challenges"].adapt(params).challenge
    assert (challenge.max_doubts, challenge.max_challenges) == (0, 0)


@pytest.mark.parametrize("variant", ["no-student", "verified-no-student", "paper"])
def test_variants_of_the_full_network_have_no_student(variant):
    planner = make_planner()
    planner.models.sampler.has_student = True
    assert not planner.prepared(variant).models.sampler.has_student
    assert planner.prepared("no-guidance").models.sampler.has_student


@pytest.mark.parametrize("variant", ["no-shortening", "verified-no-shortening", "paper"])
def test_ways_that_are_not_shortened_are_as_long_as_they_were_found(variant):
    planner, problem = make_planner(BLOCK), scattered_problem(1, 2, BLOCK)
    result = planner.plan(problem, variant=variant)
    assert result.complete
    assert result.length == pytest.approx(result.raw_length)
    shortened = planner.plan(problem, variant="online")
    assert shortened.length < 0.99 * shortened.raw_length


def test_the_first_complete_order_stands_where_it_is_not_challenged():
    """The search is the same up to there, and challenges are what follows."""
    planner, num_saved = make_planner(BLOCK), 0
    for seed in range(4):
        problem = scattered_problem(1, 3, BLOCK, seed)
        challenged, stands = (planner.plan(problem, variant=name) for name in ("online", "no-challenges"))
        assert stands.complete
        routes = [stats.route for stats in challenged.rounds]
        assert [stats.route for stats in stands.rounds] == routes[: stands.num_rounds]
        num_saved += challenged.num_rounds - stands.num_rounds
    assert num_saved > 0


def test_the_paper_s_settings_are_taken_to_the_letter():
    planner = make_planner()
    prepared = planner.prepared("paper")
    sampler, junction = prepared.models.sampler, prepared.params.search.junction
    assert sampler.denoising == {"num_steps": 100, "randomness": 0.1, "token_lag": 1, "stabilisation": 10}
    assert sampler.guidance == {"spread": "sparse", "reliable": 200.0}
    assert (junction.scales, junction.cluster_cut, junction.slip) == ((0.8, 0.0), 30.0, np.inf)
    assert prepared.params.search.meeting_radius == 1.2
    assert prepared.models.calibration.alpha == 0.005
    assert prepared.models.distance is planner.models.distance
    assert prepared.models.largest_hop == np.inf
    GuidanceParams(**sampler.guidance)
    SamplerParams(**sampler.denoising)


def test_the_paper_stops_after_forty_rounds_however_many_legs_there_are():
    lost = Planner(FakeModels(sampler=StraightSampler(shortest=0.0, longest=0.0)), PlannerParams(), "fake")
    assert lost.plan(scattered_problem(1, 2), variant="paper").num_rounds == 40
    assert lost.plan(scattered_problem(1, 2), variant="online").num_rounds == 72


def test_what_ways_come_out_at_is_told_for_the_distance_that_trees_use():
    """In an open square ways are straight; a distance that drifts looks longer than they are."""
    planner = Planner(FakeModels(distance=DriftingDistance(drift=2.0)), PlannerParams())
    assert planner.prepared("online").stretch == pytest.approx(1.0, abs=0.08)
    assert planner.prepared("learned-distance").stretch == pytest.approx(0.5, abs=0.08)


def test_the_longest_hop_is_what_is_covered_between_two_frames():
    planner = make_planner()
    assert planner.prepared("online").models.largest_hop == SPEED * planner.models.sampler.stride


def test_an_order_fixed_on_the_learned_distance_is_kept_although_the_roadmap_knows_better():
    """Of many problems one is taken where the two disagree."""
    planner = Planner(FakeModels(distance=DriftingDistance(drift=4.0)), PlannerParams())
    for seed in range(50):
        problem = scattered_problem(1, 3, seed=seed)
        learned = solve_exact(DriftingDistance(drift=4.0).pairwise(problem.anchors, problem.anchors), problem)
        if begun(planner, problem).route != learned:
            assert begun(planner, problem, "temporal-fixed").route == learned
            return
    raise AssertionError("the two agree on all problems")


@pytest.mark.parametrize("broken", [{"count": 1, "patience": 0}, {"count": -1}])
def test_stop_criteria_are_checked(broken):
    with pytest.raises(InvalidParameter):
        MaxExpansions(**broken)
    assert MaxSeconds(0.5).seconds == 0.5
