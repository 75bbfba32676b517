"""Routes that the roadmap proposes on fakes: what their ways cost, which are tried, and doubts about them."""

from dataclasses import replace

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity, make_planner, scattered_problem
from lane_street import PROBLEM, joined_street
from searches import ACROSS

from chronoforest.planning.planner import Planner
from chronoforest.planning.proposing import HOPE, MOST_SPARE, MOST_TENTATIVE, Proposer
from chronoforest.planning.roads import DEARER
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import JointRoute, Pair, WorldParams


def proposing(planner, problem):
    return Proposer(planner.prepared("verified"), problem, None, None)


def test_shortened_ways_cost_their_length_and_others_what_one_may_hope():
    proposer = proposing(make_planner(BLOCK), scattered_problem(1, 3, BLOCK))
    ways, cost = proposer.roads, proposer._expected()
    lengths = {leg: proposer.prepared.roadmap.pace * way.bridge.length for leg, way in proposer.found.items()}
    usual = np.median([steps / ways.cost[leg.source, leg.target] for leg, steps in lengths.items()])
    for (row, column), steps in np.ndenumerate(cost):
        leg = Pair(row, column)
        expected = lengths.get(leg, HOPE * usual * ways.cost[row, column] if row != column else 0.0)
        assert steps == pytest.approx(expected)
    assert len(lengths) < cost.size - len(cost)
    proposer.found = {}
    np.testing.assert_allclose(proposer._expected(), ways.cost)


def test_every_leg_of_the_first_route_was_shortened_before_it_was_chosen():
    proposer = proposing(make_planner(BLOCK), scattered_problem(2, 3, BLOCK))
    assert all(leg in proposer.found for leg in proposer.route.legs)
    assert proposer.route == proposer.solver(proposer.cost, proposer.problem, None)


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

    proposer = proposing(make_planner(BLOCK), scattered_problem(1, 9, BLOCK))
    proposer.solver = restless = Restless()
    route = proposer._best(None)
    assert len(restless.asked) == MOST_TENTATIVE
    assert route.cost(proposer.cost) == min(one.cost(proposer.cost) for one in restless.asked)
    assert all(leg in proposer.found for leg in route.legs)
    assert 0 < proposer.num_spare < MOST_SPARE


def test_once_enough_ways_were_shortened_in_vain_one_route_is_solved_for_and_nothing_hoped():
    proposer = proposing(make_planner(BLOCK), scattered_problem(1, 3, BLOCK))
    hoped = proposer._expected()
    proposer.num_spare = MOST_SPARE
    doubted, is_known = proposer._expected(), np.zeros(hoped.shape, dtype=bool)
    is_known[tuple(zip(*((leg.source, leg.target) for leg in proposer.found), strict=True))] = True
    np.fill_diagonal(is_known, True)
    np.testing.assert_array_equal(doubted[is_known], hoped[is_known])
    np.testing.assert_allclose(doubted[~is_known], hoped[~is_known] / HOPE**2)
    proposer.found, asked = {}, []
    solver = proposer.solver
    proposer.solver = lambda *given: asked.append(given) or solver(*given)
    proposer._best(None)
    assert len(asked) == 1


def test_the_way_back_is_known_too_where_it_is_the_same():
    proposer = proposing(make_planner(BLOCK), ACROSS)
    there, back = proposer.found[Pair(0, 1)], proposer.found[Pair(1, 0)]
    np.testing.assert_array_equal(back.bridge.path, there.bridge.path[::-1])
    for one, other in zip(there.pieces, back.pieces, strict=True):
        np.testing.assert_array_equal(one, other[::-1])
    models = FakeModels(density=SquareDensity(BLOCK))
    directed = Planner(models, PlannerParams(world=WorldParams(is_reversible=False)), "one-way")
    assert set(proposing(directed, ACROSS).found) == {Pair(0, 1)}


def test_after_a_refusal_ways_are_kept_that_are_verified_or_of_the_route_and_no_dearer():
    proposer = proposing(make_planner(), scattered_problem(1, 3))
    first, second, third, fourth = proposer.route.legs
    proposer.found[first] = replace(proposer.found[first], pieces=(), told=-1.0)
    proposer.found[second] = replace(proposer.found[second], pieces=())
    proposer.found[third] = replace(proposer.found[third], told=-1.0)
    proposer._forget((second,))
    assert first in proposer.found
    assert second not in proposer.found
    assert third not in proposer.found
    assert fourth in proposer.found
    assert fourth.reversed not in proposer.found


def test_hops_along_a_refuted_piece_get_dearer():
    proposer = proposing(make_planner(BLOCK), ACROSS)
    before = proposer.roads.joined.hops.steps.copy()
    piece = proposer.found[Pair(0, 1)].pieces[0]
    proposer.doubt([Pair(0, 1)])
    is_dearer = proposer.roads.joined.hops.steps > before
    room = 2.0 * PlannerParams().assembly.keep_margin
    along = proposer.roads.joined.hops_along(piece, room)
    assert is_dearer[along].all()
    assert 0 < is_dearer.sum() < len(before)
    assert proposer.found[Pair(0, 1)].told == proposer.roads.told(Pair(0, 1))
    assert proposer.roads.told(Pair(0, 1)) > proposer.roads.told(Pair(1, 0))


def test_a_hop_that_is_refuted_again_does_not_get_dearer_again():
    proposer = proposing(make_planner(BLOCK), ACROSS)
    before = proposer.roads.joined.hops.steps.copy()
    way = proposer.found[Pair(0, 1)]
    for _ in range(2):
        proposer.found[Pair(0, 1)] = way
        proposer.doubt([Pair(0, 1)])
    ratio = proposer.roads.joined.hops.steps / before
    assert ratio.max() == pytest.approx(DEARER)


def test_an_order_fixed_on_the_roadmap_s_costs_is_not_solved_again():
    """Of many problems one is taken where shortening the ways changes the best order."""
    planner = make_planner(BLOCK)
    for seed in range(60):
        problem = scattered_problem(2, 4, BLOCK, seed)
        proposer = proposing(planner, problem)
        first = proposer.solver(proposer.roads.cost, problem, None)
        if proposer.route != first:
            fixed = planner.plan(problem, variant="roadmap-fixed")
            assert fixed.complete
            assert [route.order for route in fixed.routes] == first.named(problem)
            return
    raise AssertionError("shortening never changes the best order")


def test_on_lanes_a_route_goes_on_through_its_stop():
    """A street with a lane each way: the way back from the stop leads over the turning circle at its end."""
    prepared = make_planner().prepared("verified-no-shortening")
    proposer = Proposer(prepared, PROBLEM, None, joined_street())
    driven = np.concatenate([proposer.found[leg].bridge.path for leg in proposer.route.legs])
    assert [13, 1] in driven.tolist()
    assert proposer.route.cost(proposer.cost) == 12
