"""What the denoiser is asked about proposed ways, and what becomes of those that it does not realise."""

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
from searches import ACROSS, begun, evidence, forget_probes

from benchmarks.ablations import named
from chronoforest.planning.ledger import Found
from chronoforest.planning.planner import Planner
from chronoforest.planning.sources.roadmap import ProposalParams
from chronoforest.planning.variants import VARIANTS, PlannerParams
from chronoforest.types import Problem

MOST_REFUTED = ProposalParams().most_refuted
SAMPLES = VARIANTS["verified"].piece_samples


class Nobody(StraightSampler):
    """Nobody moves at all."""

    def __call__(self, query, rng):
        return np.repeat(query.boundary[:, None], self.horizon + 1, axis=1)


def below_the_block():
    """The way below the block is a little shorter than the one above it."""
    return Problem(starts=[[3.0, 9.5]], goals=[[17.0, 9.5]])


def test_verification_follows_in_one_batch_for_all_legs():
    planner, problem = make_planner(), scattered_problem(1, 2)
    forget_probes(planner)
    result = planner.plan(problem, variant="verified")
    assert evidence(result) == ["verified"] * 3
    assert len(planner.models.sampler.queries) == result.num_rounds - 1
    assert len(planner.models.sampler.queries[0]) == SAMPLES[0] * result.rounds[1].num_expanded
    assert set(result.rounds[1].pairs) == set(result.rounds[0].route.legs)


def test_one_sample_is_asked_for_every_piece_once():
    planner, problem = make_planner(), scattered_problem(1, 2)
    assert planner.prepared(named("verified-single")).checker.piece_length > 0
    planner.models.sampler.queries.clear()
    result = planner.plan(problem, variant=named("verified-single"))
    assert len(planner.models.sampler.queries[0]) == result.rounds[1].num_expanded


def test_a_round_asks_as_often_as_its_least_tried_leg_needs():
    search = begun(make_planner(), scattered_problem(1, 1), "verified")
    legs = search.route.legs
    search.ledger = search.ledger.updated(Found(tried=legs[:1]))
    questions = search.step()
    num_pieces = sum(len(search.ledger.ways[leg].pieces) for leg in legs)
    assert (len(questions.pieces), questions.num_samples) == (num_pieces, SAMPLES[0])


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
    models = FakeModels(density=SquareDensity(BLOCK), sampler=Nobody())
    planner = Planner(models, PlannerParams(), "nobody")
    result = planner.plan(ACROSS, variant="verified")
    assert result.complete
    assert evidence(result) == ["inferred"]
    assert result.num_rounds == 1 + MOST_REFUTED * len(SAMPLES)


def test_a_leg_that_is_given_up_goes_as_it_was_first_proposed():
    planner = Planner(FakeModels(density=SquareDensity(BLOCK), sampler=Nobody()), PlannerParams(), "nobody")
    proposed = planner.plan(ACROSS, variant="roadmap-only")
    refuted = planner.plan(ACROSS, variant="verified")
    assert refuted.num_refuted == MOST_REFUTED
    np.testing.assert_array_equal(refuted.routes[0].path, proposed.routes[0].path)
    assert refuted.headline.startswith(f"complete, {MOST_REFUTED} ways refuted")


def test_what_a_weak_denoiser_does_not_realise_stays_as_proposed_without_a_detour():
    models = FakeModels(density=SquareDensity(BLOCK), sampler=LazySampler())
    weak = Planner(models, PlannerParams(), "weak", can_refute=False)
    problem = below_the_block()
    result = weak.plan(problem)
    assert evidence(result) == ["inferred"]
    assert (result.num_refuted, result.num_rounds) == (0, 1 + len(SAMPLES))
    np.testing.assert_array_equal(
        result.routes[0].path, weak.plan(problem, variant="roadmap-only").routes[0].path
    )
    above = weak.plan(Problem(starts=[[3.0, 14.0]], goals=[[17.0, 14.0]]))
    assert evidence(above) == ["verified"]


@pytest.mark.parametrize("variant", ["verified", "roadmap-fixed"])
def test_several_legs_may_be_refuted_in_one_round(variant):
    planner = Planner(FakeModels(sampler=Nobody()), PlannerParams(), "nobody")
    result = planner.plan(scattered_problem(1, 2), variant=named(variant))
    assert result.complete
    assert evidence(result) == ["inferred"] * 3
