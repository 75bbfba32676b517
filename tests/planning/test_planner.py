"""What every plan promises, on fakes: an open square and one with a block in it."""

import os
import re
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fakes import (
    BLOCK,
    SIDE,
    EuclideanDistance,
    FakeModels,
    SquareDensity,
    StraightSampler,
    make_planner,
    scattered_problem,
)
from searches import ROUND_THE_BLOCK

from chronoforest.errors import InvalidParameter, InvalidProblem, UnknownVariant
from chronoforest.names import DEFAULT_VARIANT
from chronoforest.planning.planner import MaxExpansions, MaxRounds, MaxSeconds, Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import Problem

WORLDS = {"open": None, "block": BLOCK}
SIZES = [(m, k) for m in (1, 2, 3) for k in range(5)]


@cache
def planned(variant, world, num_agents, num_waypoints):
    problem = scattered_problem(num_agents, num_waypoints, WORLDS[world])
    return make_planner(WORLDS[world]).plan(problem, seed=1, variant=variant)


def same_paths(first, second):
    return len(first.routes) == len(second.routes) and all(
        a.order == b.order and np.array_equal(a.path, b.path)
        for a, b in zip(first.routes, second.routes, strict=True)
    )


either_way = pytest.mark.parametrize("variant", [DEFAULT_VARIANT, "online"])
each_plan = pytest.mark.parametrize(
    ("variant", "world", "size"),
    [
        (variant, world, size)
        for variant in (DEFAULT_VARIANT, "online", "roadmap-only")
        for world in WORLDS
        for size in (SIZES if variant != "roadmap-only" else SIZES[::5])
    ],
)


@each_plan
def test_every_leg_is_met_and_no_cheaper_than_the_straight_line(variant, world, size):
    """With a true distance as the clock no bridge can be below it, and widths and gaps are finite."""
    result = planned(variant, world, *size)
    assert result.complete, result.summary()
    assert result.variant == variant
    assert result.num_expanded == result.rounds[-1].num_expanded
    assert (result.num_expanded > 0) == (variant != "roadmap-only")
    places = dict(zip(result.problem.names, result.problem.anchors, strict=True))
    for leg in (leg for route in result.routes for leg in route.legs):
        assert leg.is_met
        assert leg.cost >= EuclideanDistance().between(places[leg.source], places[leg.target]) - 1e-6
        assert np.isfinite([leg.gap, leg.width or 0.0]).all()
        assert (leg.width is None) == (variant != "online")
        assert (leg.chain[0], leg.chain[-1]) == (leg.source, leg.target)


@each_plan
def test_paths_lead_from_start_to_goal_within_the_support_and_visit_every_waypoint_once(variant, world, size):
    result, density = planned(variant, world, *size), SquareDensity(WORLDS[world])
    places = dict(zip(result.problem.names, result.problem.anchors, strict=True))
    for agent, route in enumerate(result.routes, start=1):
        assert (route.order[0], route.order[-1]) == (f"S{agent}", f"G{agent}")
        ends = [places[route.order[0]], places[route.order[-1]]]
        np.testing.assert_allclose(route.path[[0, -1]], ends)
        assert list(route.stops) == sorted(route.stops)
        for name, stop in zip(route.order, route.stops, strict=True):
            np.testing.assert_allclose(route.path[stop], places[name], atol=0.5)
        assert np.linalg.norm(np.diff(route.path, axis=0), axis=1).max() <= 0.25 + 1e-9
        assert density.margin(route.path).min() > 0
    visits = sorted(name for route in result.routes for name in route.order[1:-1])
    assert visits == sorted(f"W{k + 1}" for k in range(size[1]))


def test_the_same_seed_gives_the_same_plan_and_another_may_not():
    problem = scattered_problem(2, 3, BLOCK)
    first, again, *others = [
        make_planner(BLOCK).plan(problem, seed=seed, variant="online") for seed in (5, 5, 6, 7, 8)
    ]
    assert same_paths(first, again)
    assert [stats.route for stats in first.rounds] == [stats.route for stats in again.rounds]
    assert not all(same_paths(first, other) for other in others)
    first, again = (make_planner(BLOCK).plan(problem, seed=5) for _ in range(2))
    assert same_paths(first, again)
    assert first.variant == DEFAULT_VARIANT == "verified"
    assert {leg.evidence for route in first.routes for leg in route.legs} == {"verified"}


@pytest.mark.parametrize("max_rounds", [0, -3])
def test_planner_parameters_out_of_range_are_refused(max_rounds):
    with pytest.raises(InvalidParameter, match=str(max_rounds)):
        PlannerParams(max_rounds=max_rounds)
    PlannerParams(max_rounds=1)


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


@pytest.mark.parametrize("stop", [MaxRounds(0), MaxRounds(1), MaxSeconds(0.0)])
def test_the_smallest_budget_still_gives_a_complete_plan_that_is_proposed(stop):
    result = make_planner(BLOCK).plan(ROUND_THE_BLOCK, stop=stop)
    assert (result.num_rounds, result.num_expanded, result.complete) == (1, 0, True)
    assert {leg.evidence for leg in result.routes[0].legs} == {"inferred"}


def test_an_unreachable_goal_ends_at_the_preset_number_of_rounds():
    """A wall across the whole square: no meeting can exist, and the plan never pretends one does."""
    planner = make_planner(((9.0, -1.0), (11.0, SIDE + 1.0)), max_rounds=6)
    result = planner.plan(Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]]), variant="online")
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


def test_an_order_with_unknown_names_or_missing_waypoints_is_refused():
    with pytest.raises(InvalidProblem, match=r"'W9'.*S1, W1, G1"):
        make_planner().plan(ROUND_THE_BLOCK, order=[["S1", "W9", "G1"]])
    with pytest.raises(InvalidProblem, match="got S1 → G1"):
        make_planner().plan(ROUND_THE_BLOCK, order=[["S1", "G1"]])


@pytest.mark.parametrize(("where", "name"), [("starts", "S1"), ("goals", "G1"), ("waypoints", "W1")])
def test_an_anchor_outside_the_support_is_named_with_the_nearest_supported_place(where, name):
    places = {"starts": [[3.0, 10.0]], "goals": [[17.0, 10.0]], "waypoints": [[10.0, 17.0]]}
    planner = make_planner(BLOCK)
    with pytest.raises(InvalidProblem) as error:
        planner.plan(Problem(**(places | {where: [[10.0, 12.2]]})))
    assert str(error.value) == (
        f"{name} at (10, 12.2) lies outside the data's support; the nearest supported place is (10, 13.5), "
        "1.3 units away; snap moves it there"
    )
    assert not planner.models.sampler.queries


def test_an_anchor_may_lie_a_little_outside_the_support():
    problem = Problem(starts=[[3.0, 10.0]], goals=[[17.0, -0.3]])
    assert make_planner(BLOCK).plan(problem).complete


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


@pytest.mark.parametrize("variant", [[], None, 3, "onlin"])
def test_what_is_no_variant_is_refused_by_its_value(variant):
    with pytest.raises(UnknownVariant, match=re.escape(repr(variant))):
        make_planner().plan(scattered_problem(1, 0), variant=variant)
