"""Plans over the roadmap on fakes: an open square and one with a block in it, no torch weights."""

import numpy as np
import pytest
from fakes import BLOCK, SIDE, FakeModels, SquareDensity, StraightSampler, make_planner, scattered_problem

from chronoforest.planning.planner import MaxRounds, Planner
from chronoforest.planning.roadmap_search import MOST_REFUTED, SAMPLES, RoadmapSearch
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import Problem

ACROSS = Problem(starts=[[3.0, 10.0]], goals=[[17.0, 10.0]])
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


class LazySampler(StraightSampler):
    """Nobody moves in the lower half: segments from there go nowhere."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        is_low = query.boundary[:, 1] < SIDE / 2
        segments[is_low] = query.boundary[is_low, None]
        return segments


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


def test_a_leg_whose_every_way_is_refuted_stays_proposed():
    class Nobody(StraightSampler):
        def __call__(self, query, rng):
            return np.repeat(query.boundary[:, None], self.horizon + 1, axis=1)

    models = FakeModels(density=SquareDensity(BLOCK), sampler=Nobody())
    planner = Planner(models, PlannerParams(), "nobody")
    result = planner.plan(ACROSS, variant="verified")
    assert result.complete
    assert evidence(result) == ["proposed"]
    assert result.num_rounds == 1 + MOST_REFUTED * len(SAMPLES)


def test_where_the_roadmap_leads_nowhere_trees_are_grown():
    wall = ((9.0, -1.0), (11.0, SIDE + 1.0))
    planner = make_planner(wall, max_rounds=4)
    search = RoadmapSearch(planner.prepared("verified"), ACROSS, None, None, 0)
    assert search.trees is not None
    result = planner.plan(ACROSS, variant="verified")
    assert not result.complete
    assert result.unmet == (("S1", "G1"),)
    assert result.num_rounds == 4


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
