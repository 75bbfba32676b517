"""Every variant does what its name says, and the paper's settings are its own."""

import numpy as np
import pytest
from fakes import (
    BLOCK,
    CALIBRATION,
    DriftingDistance,
    EuclideanDistance,
    FakeModels,
    StraightSampler,
    make_planner,
    scattered_problem,
)
from searches import ROUND_THE_BLOCK, begun, searched, windy_planner

from benchmarks.ablations import CHOICES, named
from chronoforest.models.params import GuidanceParams, SamplerParams
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.routing.budget import linkable_pairs
from chronoforest.routing.solver import solve_exact
from chronoforest.types import Problem


@pytest.mark.parametrize("variant", sorted(CHOICES))
def test_every_variant_plans_and_says_which_it_was(variant):
    """In the open square: a single guided sample that is straight never gets round a block."""
    problem = scattered_problem(1, 2)
    result = make_planner().plan(problem, variant=named(variant), order=[["S1", "W2", "W1", "G1"]])
    assert (result.complete, result.variant) == (True, variant)
    assert result.routes[0].order == ["S1", "W2", "W1", "G1"]


def test_variants_change_what_they_say():
    params = PlannerParams()
    single = named("single").adapt(params).search.junction
    assert (single.num_samples, single.scales) == (1, params.search.junction.scales[:1])
    directed = windy_planner().params
    assert not directed.is_reversible
    assert named("reversed-trees").adapt(directed).is_reversible
    assert named("no-uncertainty").adapt(params).search.uncertainty_weight == 0.0
    challenge = named("no-challenges").adapt(params).challenge
    assert (challenge.max_doubts, challenge.max_challenges) == (0, 0)


@pytest.mark.parametrize("variant", ["no-student", "verified-no-student", "paper"])
def test_variants_of_the_full_network_have_no_student(variant):
    planner = make_planner()
    planner.models.sampler.has_student = True
    assert not planner.prepared(named(variant)).models.sampler.has_student
    assert planner.prepared(named("no-guidance")).models.sampler.has_student


def test_single_asks_for_one_sample_per_leaf():
    online, single = (
        searched(make_planner(BLOCK), ROUND_THE_BLOCK, variant) for variant in ("online", "single")
    )
    for search, count in ((online, 12), (single, 1)):
        first = search.source.models.sampler.queries[0]
        assert len(first) == count * len(np.unique(first.boundary, axis=0))


def test_the_start_tree_only_variant_leaves_the_goals_tree_bare():
    problem = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]])
    search = searched(make_planner(BLOCK), problem, "start-tree-only")
    assert search.source.forest.outgoing[1].num_nodes == 1
    assert search.source.forest.outgoing[0].num_nodes > 1


def test_exhaustive_meets_every_pair_a_route_could_use():
    problem = scattered_problem(2, 2, BLOCK)
    search = searched(make_planner(BLOCK), problem, "exhaustive")
    wanted = linkable_pairs(problem, is_reversible=True)
    assert all(pair in search.ledger.bridges.meetings for pair in wanted)
    assert not all(pair in searched(make_planner(BLOCK), problem).ledger.bridges.meetings for pair in wanted)


def test_temporal_fixed_keeps_the_order_that_raw_distances_give():
    problem = scattered_problem(2, 4, BLOCK)
    raw = EuclideanDistance().pairwise(problem.anchors, problem.anchors)
    first = solve_exact(raw, problem)
    result = make_planner(BLOCK).plan(problem, variant=named("temporal-fixed"))
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
    chained, raw = (
        begun(planner, problem, variant).source.guess for variant in ("online", "learned-distance")
    )
    np.testing.assert_allclose(raw, learned)
    np.testing.assert_allclose(chained[~is_far], true[~is_far])
    np.testing.assert_allclose(chained[is_far], true[is_far], rtol=0.1)
    fixed = begun(planner, problem, "temporal-fixed")
    assert fixed.route == solve_exact(learned, problem)


@pytest.mark.parametrize("variant", ["no-shortening", "paper"])
def test_ways_that_are_not_shortened_are_as_long_as_they_were_found(variant):
    planner, problem = make_planner(BLOCK), scattered_problem(1, 2, BLOCK)
    result = planner.plan(problem, variant=named(variant))
    assert result.complete
    assert result.length == pytest.approx(result.raw_length)
    shortened = planner.plan(problem, variant="online")
    assert shortened.length < 0.99 * shortened.raw_length


def test_the_first_complete_order_stands_where_it_is_not_challenged():
    """The search is the same up to there, and challenges are what follows."""
    planner, num_saved = make_planner(BLOCK), 0
    for seed in range(4):
        problem = scattered_problem(1, 3, BLOCK, seed)
        challenged, stands = (
            planner.plan(problem, variant=named(name)) for name in ("online", "no-challenges")
        )
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
    assert sampler.guidance == {"spread": "sparse"}
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
