"""Routes that the roadmap proposes on fakes: what their ways cost, which are tried, and doubts about them."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity, make_planner, scattered_problem
from searches import ACROSS, begun

from chronoforest.planning.ledger import Found, Reach
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams
from chronoforest.roadmap.roads import RoadParams
from chronoforest.roadmap.verify import Verdict
from chronoforest.types import JointRoute, Pair, WorldParams

HOPE, MOST_SPARE, DOUBT = RoadParams().hope, RoadParams().most_spare, RoadParams().doubt
LEG = Pair(0, 1)


def proposed(planner, problem):
    """The source, the first route, and the ledger with its ways."""
    search = begun(planner, problem, "verified")
    return search.source, search.route, search.ledger


def spared(ledger, num_spare):
    """The ledger after so many ways were looked up in vain."""
    return ledger.updated(Found(num_spare=num_spare))


def test_shortened_ways_cost_their_length_and_others_what_one_may_hope():
    source, _, ledger = proposed(make_planner(BLOCK), scattered_problem(1, 3, BLOCK))
    pace, looked_up = source.prepared.roadmap.pace, ledger.roads.cost
    lengths = {leg: pace * way.bridge.length for leg, way in ledger.ways.items()}
    usual = np.median([steps / looked_up[leg.source, leg.target] for leg, steps in lengths.items()])
    for (row, column), steps in np.ndenumerate(ledger.cost):
        hoped = HOPE * usual * looked_up[row, column] if row != column else 0.0
        assert steps == pytest.approx(lengths.get(Pair(row, column), hoped))
    assert len(lengths) < looked_up.size - len(looked_up)
    nothing = ledger.updated(Found(withdrawn=ledger.ways))
    np.testing.assert_allclose(nothing.cost, looked_up)


def test_every_leg_of_the_first_route_was_shortened_before_it_was_chosen():
    source, route, ledger = proposed(make_planner(BLOCK), scattered_problem(2, 3, BLOCK))
    assert all(leg in ledger.ways for leg in route.legs)
    assert route == ledger.reach.solver(ledger.cost, source.problem, None)


def test_of_many_waypoints_few_routes_are_tried_and_the_cheapest_is_taken():
    """The solver would always want one more way: it wants another order every time."""
    asked = []

    def restless(cost, problem, previous):
        asked.append(JointRoute(((0, *np.random.default_rng(len(asked)).permutation(9) + 1, 10),)))
        return asked[-1]

    source, _, ledger = proposed(make_planner(BLOCK), scattered_problem(1, 9, BLOCK))
    route, ledger = source.propose(replace(ledger, reach=Reach(restless)), None)
    assert len(asked) == source.params.most_tentative
    assert route.cost(ledger.cost) == min(one.cost(ledger.cost) for one in asked)
    assert all(leg in ledger.ways for leg in route.legs)
    assert 0 < ledger.num_spare < MOST_SPARE


def test_once_enough_ways_were_looked_up_in_vain_one_route_is_solved_for_and_nothing_hoped():
    source, _, ledger = proposed(make_planner(BLOCK), scattered_problem(1, 3, BLOCK))
    doubted, is_known = spared(ledger, MOST_SPARE), np.eye(len(ledger.cost), dtype=bool)
    is_known[tuple(zip(*((leg.source, leg.target) for leg in ledger.ways), strict=True))] = True
    np.testing.assert_array_equal(doubted.cost[is_known], ledger.cost[is_known])
    np.testing.assert_allclose(doubted.cost[~is_known], ledger.cost[~is_known] / HOPE**2)
    asked, solver = [], ledger.reach.solver
    counting = Reach(lambda *given: asked.append(given) or solver(*given))
    source.propose(replace(doubted.updated(Found(withdrawn=ledger.ways)), reach=counting), None)
    assert len(asked) == 1


def test_the_way_back_is_known_too_where_it_is_the_same():
    _, _, ledger = proposed(make_planner(BLOCK), ACROSS)
    there, back = ledger.ways[LEG], ledger.ways[LEG.reversed]
    np.testing.assert_array_equal(back.bridge.path, there.bridge.path[::-1])
    for one, other in zip(there.pieces, back.pieces[::-1], strict=True):
        np.testing.assert_array_equal(one.path, other.path[::-1])
    assert back.expected == ledger.roads.leg_cost(LEG.reversed)
    assert set(ledger.first) == {LEG}
    models = FakeModels(density=SquareDensity(BLOCK))
    directed = Planner(models, PlannerParams(world=WorldParams(is_reversible=False)), "one-way")
    assert set(proposed(directed, ACROSS)[2].ways) == {LEG}


def doubted(source, legs, route, ledger):
    """The ledger once all ways of some legs are refuted."""
    return ledger.updated(source._doubted(legs, Found(tried=legs), route, ledger))


def test_after_a_refusal_ways_are_kept_that_are_verified_or_of_the_route_and_cost_the_same():
    source, route, ledger = proposed(make_planner(), scattered_problem(1, 3))
    first, second, third, fourth = route.legs
    ways = dict(ledger.ways)
    ways[first] = replace(ways[first], pieces=(), evidence="verified", expected=-1.0)
    ways[third] = replace(ways[third], expected=-1.0)
    kept = doubted(source, [second], route, replace(ledger, ways=ways)).ways
    assert first in kept
    assert second not in kept
    assert third not in kept
    assert fourth in kept
    assert fourth.reversed not in kept


def test_hops_along_a_refuted_piece_cost_more():
    source, route, ledger = proposed(make_planner(BLOCK), ACROSS)
    before, piece = ledger.roads.roadmap.hops.cost, ledger.ways[LEG].pieces[0].path
    after = doubted(source, [LEG], route, ledger)
    is_doubted = after.roads.roadmap.hops.cost > before
    room = 2.0 * PlannerParams().assembly.keep_margin
    assert is_doubted[after.roads.roadmap.hops_along(piece, room)].all()
    assert 0 < is_doubted.sum() < len(before)
    route, after = source.propose(after, route)
    assert after.ways[LEG].expected == after.roads.leg_cost(LEG)
    assert after.roads.leg_cost(LEG) > after.roads.leg_cost(LEG.reversed)
    assert after.num_refuted[0, 1] == 1


def test_a_hop_that_is_refuted_again_does_not_cost_more_again():
    source, route, ledger = proposed(make_planner(BLOCK), ACROSS)
    once = doubted(source, [LEG], route, ledger)
    twice = doubted(source, [LEG], route, replace(once, ways=ledger.ways))
    ratio = twice.roads.roadmap.hops.cost / ledger.roads.roadmap.hops.cost
    assert ratio.max() == pytest.approx(DOUBT)


def test_segments_of_different_lengths_stay_at_their_end_in_a_picture():
    source, route, ledger = proposed(make_planner(BLOCK), ACROSS)
    short, long = np.arange(4.0).reshape(2, 2), np.arange(8.0).reshape(4, 2)
    verdicts = [Verdict(short, 1), *([Verdict(long, 1)] * (len(ledger.ways[LEG].left) - 1))]
    ways = {**ledger.ways, LEG: ledger.ways[LEG].judged(verdicts)}
    (picture,) = source.view(route, replace(ledger, ways=ways)).trees
    np.testing.assert_array_equal(picture.segments[0], [[0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [2.0, 3.0]])
    np.testing.assert_array_equal(picture.segments[1], long)


def test_the_margin_is_what_the_second_best_order_costs_more():
    source, route, ledger = proposed(make_planner(BLOCK), scattered_problem(1, 3, BLOCK))
    visits = source.problem.waypoint_indices
    costs = sorted(JointRoute(((0, *middle, 4),)).cost(ledger.cost) for middle in permutations(visits))
    assert source.view(route, ledger).certificate.margin == pytest.approx(costs[1] - costs[0])
