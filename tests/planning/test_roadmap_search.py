"""Plans over the roadmap on fakes: an open square and one with a block in it, no torch weights."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from fakes import (
    BLOCK,
    FakeModels,
    LazySampler,
    SquareDensity,
    StraightSampler,
    make_planner,
    scattered_problem,
)
from lane_street import PROBLEM, joined_street

from chronoforest.planning.planner import MaxRounds, Planner
from chronoforest.planning.proposed import padded
from chronoforest.planning.roadmap_search import (
    HOPE,
    MOST_REFUTED,
    MOST_SPARE,
    MOST_TENTATIVE,
    RoadmapSearch,
)
from chronoforest.planning.roads import DEARER
from chronoforest.planning.variants import VARIANTS, PlannerParams
from chronoforest.types import JointRoute, Pair, Problem, WorldParams

ACROSS = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]])
SAMPLES = VARIANTS["verified"].piece_samples
SIZES = [(1, 0), (1, 3), (2, 2)]


def evidence(result):
    return [leg.evidence for route in result.routes for leg in route.legs]


def forget_probes(planner):
    """The reach of segments is measured once, before the first plan is verified."""
    assert planner.prepared("verified").checker.piece_length > 0
    planner.models.sampler.queries.clear()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("variant", ["roadmap-only", "verified"])
def test_ways_lead_round_the_block_through_all_waypoints(size, variant):
    problem = scattered_problem(*size, BLOCK)
    result = make_planner(BLOCK).plan(problem, variant=variant)
    assert result.complete
    assert result.variant == variant
    visits = sorted(name for route in result.routes for name in route.order[1:-1])
    assert visits == sorted(f"W{k + 1}" for k in range(size[1]))
    for agent, route in enumerate(result.routes):
        np.testing.assert_allclose(route.path[[0, -1]], [problem.starts[agent], problem.goals[agent]])
        assert SquareDensity(BLOCK).margin(route.path).min() > 0
        assert len(route.stops) == len(route.order)


def test_the_first_round_is_a_complete_plan_and_asks_nothing_of_the_denoiser():
    planner = make_planner(BLOCK)
    forget_probes(planner)
    result = planner.plan(ACROSS, variant="verified", stop=MaxRounds(1))
    assert (result.complete, result.num_rounds, result.num_expanded) == (True, 1, 0)
    assert evidence(result) == ["proposed"]
    assert not planner.models.sampler.queries


def test_verification_follows_in_one_batch_for_all_legs():
    planner, problem = make_planner(), scattered_problem(1, 2)
    forget_probes(planner)
    result = planner.plan(problem, variant="verified")
    assert evidence(result) == ["verified"] * 3
    assert len(planner.models.sampler.queries) == result.num_rounds - 1
    assert len(planner.models.sampler.queries[0]) == SAMPLES[0] * result.rounds[1].num_expanded
    assert set(result.rounds[1].pairs) == set(result.rounds[0].route.legs)


def test_the_same_seed_gives_the_same_plan():
    problem = scattered_problem(2, 3, BLOCK)
    first, again = (make_planner(BLOCK).plan(problem, seed=5, variant="verified") for _ in range(2))
    assert [stats.pairs for stats in first.rounds] == [stats.pairs for stats in again.rounds]
    for one, other in zip(first.routes, again.routes, strict=True):
        np.testing.assert_array_equal(one.path, other.path)


def below_the_block():
    """The way below the block is a little shorter than the one above it."""
    return Problem(starts=[[3.0, 9.5]], goals=[[17.0, 9.5]])


def test_a_way_that_nobody_moves_along_is_given_up_for_another():
    models = FakeModels(density=SquareDensity(BLOCK), sampler=LazySampler())
    planner = Planner(models, PlannerParams(), "lazy")
    problem = Problem(starts=[[3.0, 11.0]], goals=[[17.0, 11.0]], waypoints=[[6.0, 13.5]])
    above = planner.plan(problem, variant="verified")
    assert evidence(above) == ["verified"] * 2
    proposed = planner.plan(below_the_block(), variant="roadmap-only")
    tried = planner.plan(below_the_block(), variant="verified")
    assert proposed.routes[0].path[:, 1].min() < 7.0
    assert tried.complete
    assert tried.num_rounds > len(SAMPLES)


class Nobody(StraightSampler):
    """Nobody moves at all."""

    def __call__(self, query, rng):
        return np.repeat(query.boundary[:, None], self.horizon + 1, axis=1)


def test_a_leg_whose_every_way_is_refuted_stays_proposed():
    models = FakeModels(density=SquareDensity(BLOCK), sampler=Nobody())
    planner = Planner(models, PlannerParams(), "nobody")
    result = planner.plan(ACROSS, variant="verified")
    assert result.complete
    assert evidence(result) == ["proposed"]
    assert result.num_rounds == 1 + MOST_REFUTED * len(SAMPLES)


def test_what_a_weak_denoiser_does_not_realise_stays_as_proposed_without_a_detour():
    models = FakeModels(density=SquareDensity(BLOCK), sampler=LazySampler())
    weak = Planner(models, PlannerParams(), "weak", can_refute=False)
    problem = below_the_block()
    result = weak.plan(problem)
    assert evidence(result) == ["proposed"]
    assert (result.num_refuted, result.num_rounds) == (0, 1 + len(SAMPLES))
    np.testing.assert_array_equal(
        result.routes[0].path, weak.plan(problem, variant="roadmap-only").routes[0].path
    )
    above = weak.plan(Problem(starts=[[3.0, 14.0]], goals=[[17.0, 14.0]]))
    assert evidence(above) == ["verified"]


@pytest.mark.parametrize("variant", ["verified", "roadmap-fixed"])
def test_several_legs_may_be_refuted_in_one_round(variant):
    planner = Planner(FakeModels(sampler=Nobody()), PlannerParams(), "nobody")
    result = planner.plan(scattered_problem(1, 2), variant=variant)
    assert result.complete
    assert evidence(result) == ["proposed"] * 3


def test_an_order_can_be_given():
    problem = scattered_problem(1, 2)
    result = make_planner().plan(problem, variant="verified", order=[["S1", "W2", "W1", "G1"]])
    assert result.routes[0].order == ["S1", "W2", "W1", "G1"]


def test_snapshots_show_the_first_plan_at_once():
    seen = []
    make_planner(BLOCK).plan(ACROSS, variant="verified", on_snapshot=seen.append)
    assert [snapshot.stats.round_index for snapshot in seen] == list(range(len(seen)))
    assert all(len(snapshot.paths) == 1 for snapshot in seen)
    assert not seen[0].trees
    assert seen[-1].trees
    assert seen[0].proposed == set(seen[0].paths)
    assert not seen[-1].proposed


def begun(planner, problem, variant="verified"):
    return RoadmapSearch(planner.prepared(variant), problem, None, None, 0)


def test_the_observer_sees_every_round_with_the_problem():
    seen = []
    result = make_planner(BLOCK).plan(
        ACROSS, variant="verified", on_round=lambda stats, problem: seen.append((stats, problem))
    )
    assert [stats for stats, _ in seen] == list(result.rounds)
    assert len(seen) > 1
    assert all(problem is ACROSS for _, problem in seen)


def test_a_given_order_is_kept_although_another_is_shorter():
    problem = scattered_problem(1, 2)
    (best,) = make_planner().plan(problem, variant="verified").routes
    other = [best.order[0], best.order[2], best.order[1], best.order[3]]
    for variant in ("verified", "online"):
        assert make_planner().plan(problem, variant=variant, order=[other]).routes[0].order == other


def test_shortened_ways_cost_their_length_and_others_what_one_may_hope():
    search = begun(make_planner(BLOCK), scattered_problem(1, 3, BLOCK))
    ways, cost = search.roads, search._expected()
    lengths = {leg: search.prepared.roadmap.pace * way.bridge.length for leg, way in search.found.items()}
    usual = np.median([steps / ways.cost[leg.source, leg.target] for leg, steps in lengths.items()])
    for (row, column), steps in np.ndenumerate(cost):
        leg = Pair(row, column)
        expected = lengths.get(leg, HOPE * usual * ways.cost[row, column] if row != column else 0.0)
        assert steps == pytest.approx(expected)
    assert len(lengths) < cost.size - len(cost)
    search.found = {}
    np.testing.assert_allclose(search._expected(), ways.cost)


def test_every_leg_of_the_first_route_was_shortened_before_it_was_chosen():
    search = begun(make_planner(BLOCK), scattered_problem(2, 3, BLOCK))
    assert all(leg in search.found for leg in search.route.legs)
    assert search.route == search.solver(search.cost, search.problem, None)


def test_of_many_waypoints_few_routes_are_tried_and_the_cheapest_is_taken():
    """The solver would always want one more way: it wants another order every time."""

    class Restless:
        def __init__(self):
            self.asked = []

        def __call__(self, cost, problem, previous):
            self.asked.append(
                JointRoute(((0, *np.random.default_rng(len(self.asked)).permutation(9) + 1, 10),))
            )
            return self.asked[-1]

    search = begun(make_planner(BLOCK), scattered_problem(1, 9, BLOCK))
    search.solver = restless = Restless()
    route = search._propose(None)
    assert len(restless.asked) == MOST_TENTATIVE
    assert route.cost(search.cost) == min(one.cost(search.cost) for one in restless.asked)
    assert all(leg in search.found for leg in route.legs)
    assert 0 < search.num_spare < MOST_SPARE


def test_once_enough_ways_were_shortened_in_vain_one_route_is_solved_for_and_nothing_hoped():
    search = begun(make_planner(BLOCK), scattered_problem(1, 3, BLOCK))
    hoped = search._expected()
    search.num_spare = MOST_SPARE
    doubted, is_known = search._expected(), np.zeros(hoped.shape, dtype=bool)
    is_known[tuple(zip(*((leg.source, leg.target) for leg in search.found), strict=True))] = True
    np.fill_diagonal(is_known, True)
    np.testing.assert_array_equal(doubted[is_known], hoped[is_known])
    np.testing.assert_allclose(doubted[~is_known], hoped[~is_known] / HOPE**2)
    search.found, asked = {}, []
    solver = search.solver
    search.solver = lambda *given: asked.append(given) or solver(*given)
    search._propose(None)
    assert len(asked) == 1


def test_the_time_that_solving_took_is_told():
    result = make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), variant="verified")
    spent = [stats.solver_seconds for stats in result.rounds]
    assert 0 < spent[0] <= spent[-1] < result.seconds
    assert result.solver_share == spent[-1] / result.seconds


def test_the_way_back_is_known_too_where_it_is_the_same():
    search = begun(make_planner(BLOCK), ACROSS)
    there, back = search.found[Pair(0, 1)], search.found[Pair(1, 0)]
    np.testing.assert_array_equal(back.bridge.path, there.bridge.path[::-1])
    for one, other in zip(there.pieces, back.pieces, strict=True):
        np.testing.assert_array_equal(one, other[::-1])
    models = FakeModels(density=SquareDensity(BLOCK))
    directed = Planner(models, PlannerParams(world=WorldParams(is_reversible=False)), "one-way")
    assert set(begun(directed, ACROSS).found) == {Pair(0, 1)}


def test_without_verification_the_denoiser_is_never_asked():
    planner = make_planner(BLOCK)
    result = planner.plan(scattered_problem(1, 3, BLOCK), variant="roadmap-only")
    assert (result.num_rounds, result.num_expanded) == (1, 0)
    assert evidence(result) == ["proposed"] * 4
    assert not planner.models.sampler.queries
    assert not result.trees


def test_a_plan_states_costs_and_proves_nothing():
    search = begun(make_planner(BLOCK), ACROSS)
    search.run(MaxRounds(9))
    result = search.result("fake", "verified", 0)
    assert result.routes[0].legs[0].cost == pytest.approx(search.prepared.roadmap.pace * result.length)
    assert result.rounds[-1].route_cost == pytest.approx(search.prepared.roadmap.pace * result.length)
    assert result.routes[0].legs[0].gap == 0.0
    assert search.num_tries[Pair(0, 1)] == 0
    assert not result.certificate.premises_hold
    assert not result.certificate.is_exact
    assert result.meetings.shape == (0, 2)
    assert sum(len(tree.segments) for tree in result.trees) == result.rounds[1].num_expanded


def test_segments_of_different_lengths_stay_at_their_end_in_a_picture():
    short, long = np.arange(4.0).reshape(2, 2), np.arange(8.0).reshape(4, 2)
    first, second = padded([short, long])
    np.testing.assert_array_equal(first, [[0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [2.0, 3.0]])
    np.testing.assert_array_equal(second, long)


def test_a_round_asks_as_often_as_its_least_tried_leg_needs():
    planner = make_planner()
    search = begun(planner, scattered_problem(1, 1))
    first, second = search.route.legs
    search.num_tries[first] = 1
    num_pieces = sum(len(search.found[leg].pieces) for leg in (first, second))
    questions = search.questions(MaxRounds(9))
    assert (len(questions.pieces), questions.num_samples) == (num_pieces, SAMPLES[0])


def test_after_a_refusal_ways_are_kept_that_are_verified_or_of_the_route_and_no_dearer():
    search = begun(make_planner(), scattered_problem(1, 3))
    first, second, third, fourth = search.route.legs
    search.found[first] = replace(search.found[first], pieces=(), told=-1.0)
    search.found[second] = replace(search.found[second], pieces=())
    search.found[third] = replace(search.found[third], told=-1.0)
    search._forget((second,))
    assert first in search.found
    assert second not in search.found
    assert third not in search.found
    assert fourth in search.found
    assert fourth.reversed not in search.found


def test_hops_along_a_refuted_piece_get_dearer():
    search = begun(make_planner(BLOCK), ACROSS)
    before = search.roads.joined.hops.steps.copy()
    piece = search.found[Pair(0, 1)].pieces[0]
    search._refute(Pair(0, 1))
    is_dearer = search.roads.joined.hops.steps > before
    room = 2.0 * PlannerParams().assembly.keep_margin
    along = search.roads.joined.hops_along(piece, room)
    assert is_dearer[along].all()
    assert 0 < is_dearer.sum() < len(before)
    assert search.num_refuted[Pair(0, 1)] == 1
    assert not search.found
    assert search.roads.told(Pair(0, 1)) > search.roads.told(Pair(1, 0))


def test_the_margin_is_what_the_second_best_order_costs_more():
    search = begun(make_planner(BLOCK), scattered_problem(1, 3, BLOCK))
    costs = sorted(
        JointRoute(((0, *middle, 4),)).cost(search.cost)
        for middle in permutations(search.problem.waypoint_indices)
    )
    assert search._over(search.route).certificate(search.cost).margin == pytest.approx(costs[1] - costs[0])


def test_an_order_fixed_on_the_roadmap_s_costs_is_not_solved_again():
    """Of many problems one is taken where shortening the ways changes the best order."""
    planner = make_planner(BLOCK)
    for seed in range(60):
        problem = scattered_problem(2, 4, BLOCK, seed)
        search = begun(planner, problem)
        first = search.solver(search.roads.cost, problem, None)
        if search.route != first:
            fixed = planner.plan(problem, variant="roadmap-fixed")
            assert fixed.complete
            assert [route.order for route in fixed.routes] == first.named(problem)
            return
    raise AssertionError("shortening never changes the best order")


def test_one_sample_is_asked_for_every_piece_once():
    planner, problem = make_planner(), scattered_problem(1, 2)
    assert planner.prepared("verified-single").checker.piece_length > 0
    planner.models.sampler.queries.clear()
    result = planner.plan(problem, variant="verified-single")
    assert len(planner.models.sampler.queries[0]) == result.rounds[1].num_expanded


class Impatient:
    """Waits for so many seconds that are none."""

    def __call__(self, rounds):
        return False

    def is_over(self, seconds):
        return True


@pytest.mark.parametrize("variant", ["verified", "online"])
def test_a_limit_of_time_ends_planning_within_the_round(variant):
    planner = make_planner(BLOCK)
    forget_probes(planner)
    result = planner.plan(ACROSS, variant=variant, stop=Impatient())
    assert not planner.models.sampler.queries
    assert result.complete == (variant == "verified")
    assert result.num_rounds == (variant == "verified")


def test_seconds_that_are_over_leave_the_proposed_plan():
    result = make_planner(BLOCK).plan(ACROSS, stop=0.0)
    assert result.complete
    assert evidence(result) == ["proposed"]


def test_a_leg_that_is_given_up_goes_as_it_was_first_proposed():
    planner = Planner(FakeModels(density=SquareDensity(BLOCK), sampler=Nobody()), PlannerParams(), "nobody")
    proposed = planner.plan(ACROSS, variant="roadmap-only")
    refuted = planner.plan(ACROSS, variant="verified")
    assert refuted.num_refuted == MOST_REFUTED
    np.testing.assert_array_equal(refuted.routes[0].path, proposed.routes[0].path)
    assert "3 proposed ways refuted" in refuted.summary()


def test_a_hop_that_is_refuted_again_does_not_get_dearer_again():
    search = begun(make_planner(BLOCK), ACROSS)
    before = search.roads.joined.hops.steps.copy()
    way = search.found[Pair(0, 1)]
    for _ in range(2):
        search.found[Pair(0, 1)] = way
        search._refute(Pair(0, 1))
    ratio = search.roads.joined.hops.steps / before
    assert ratio.max() == pytest.approx(DEARER)


def test_on_lanes_a_route_goes_on_through_its_stop():
    """A street with a lane each way: the way back from the stop leads over the turning circle at its end."""
    prepared = make_planner().prepared("verified-no-shortening")
    search = RoadmapSearch(prepared, PROBLEM, None, None, 0, joined_street())
    driven = np.concatenate([search.found[leg].bridge.path for leg in search.route.legs])
    assert [13, 1] in driven.tolist()
    assert search.route.cost(search.cost) == 12
