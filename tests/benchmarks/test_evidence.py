"""No planner says more of a leg than was checked: all variants, all ablations, and every peer."""

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity, StraightSampler, make_planner, scattered_problem
from peer_cases import make_peer

from benchmarks.ablations import CHOICES, named
from chronoforest.peers.choice import PLANNERS
from chronoforest.planning.planner import MaxRounds, Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import Problem

CHOSEN = sorted(name for name in CHOICES if not named(name).needs_order)
"""What plans without an order."""

PEERS = sorted(set(PLANNERS[1:]) - {"state-graph", "point-graph"})
CORNERS = Problem(starts=[[3.0, 3.0]], goals=[[17.0, 17.0]], waypoints=[[3.0, 17.0]])


class Nobody(StraightSampler):
    """Nobody moves at all."""

    def __call__(self, query, rng):
        self.queries.append(query)
        return np.repeat(query.boundary[:, None], self.horizon + 1, axis=1)


def claims(result):
    """What is said of the legs, and of which of them a gap was measured."""
    legs = [leg for route in result.routes for leg in route.legs]
    assert {leg.evidence for leg in legs if not leg.is_met} <= {"none"}
    assert "none" not in {leg.evidence for leg in legs if leg.is_met}
    assert sum(result.evidence.values()) == len(legs)
    return {leg.evidence for leg in legs}


@pytest.mark.parametrize("name", CHOSEN)
def test_where_nothing_moves_nothing_is_generated_or_verified(name):
    models = FakeModels(density=SquareDensity(BLOCK), sampler=Nobody())
    planner = Planner(models, PlannerParams(max_rounds=3), "nobody")
    result = planner.plan(scattered_problem(1, 1, BLOCK), variant=named(name))
    assert claims(result) <= ({"inferred"} if named(name).uses_roadmap else {"none"})


@pytest.mark.parametrize("name", CHOSEN)
def test_what_a_variant_says_of_its_legs_is_what_it_does(name):
    variant, planner = named(name), make_planner()
    result = planner.plan(scattered_problem(1, 2), variant=variant)
    over_roadmap = "verified" if variant.verifies else "inferred"
    assert claims(result) == {over_roadmap if variant.uses_roadmap else "generated"}
    for leg in (leg for route in result.routes for leg in route.legs):
        assert (leg.width is None) == variant.uses_roadmap
        assert (leg.proposed is not None) == (leg.evidence == "verified")
        assert leg.proposed is None or planner.verify(leg.proposed).verified == 1.0


@pytest.mark.parametrize("name", CHOSEN)
def test_a_search_that_is_stopped_before_it_began_has_verified_nothing(name):
    result = make_planner().plan(scattered_problem(1, 2), variant=named(name), stop=MaxRounds(0))
    assert claims(result) == ({"inferred"} if named(name).uses_roadmap else {"none"})


@pytest.mark.parametrize("name", PEERS)
def test_the_legs_of_a_peer_carry_its_name(name):
    assert claims(make_peer(name).plan(CORNERS)) == {name}
    assert claims(make_peer(name).plan(CORNERS, stop=MaxRounds(0))) == {"none"}


@pytest.mark.parametrize("name", [*CHOSEN, *PEERS])
def test_between_two_anchors_at_one_place_nobody_moves(name):
    problem = Problem(starts=[[3.0, 3.0]], goals=[[17.0, 17.0]], waypoints=[[3.0, 3.0]])
    planner = make_peer(name) if name in PEERS else make_planner()
    options = {} if name in PEERS else {"variant": named(name)}
    first, second = planner.plan(problem, **options).routes[0].legs
    assert first.evidence == "standing"
    assert second.evidence != "standing"
