"""The loop, mostly over the roadmap: an open square and one with a block in it, no torch weights."""

from __future__ import annotations

import pytest
from fakes import BLOCK, make_planner, scattered_problem
from searches import ACROSS, begun, evidence, forget_probes

from chronoforest.errors import InvalidParameter
from chronoforest.planning.loop import MaxExpansions, MaxRounds, MaxSeconds
from chronoforest.types import JointRoute, RoundStats, path_length


def test_the_first_round_is_a_complete_plan_and_asks_nothing_of_the_denoiser():
    planner = make_planner(BLOCK)
    forget_probes(planner)
    result = planner.plan(ACROSS, variant="verified", stop=MaxRounds(1))
    assert (result.complete, result.num_rounds, result.num_expanded) == (True, 1, 0)
    assert evidence(result) == ["inferred"]
    assert not planner.models.sampler.queries


def test_snapshots_show_the_first_plan_at_once():
    seen = []
    make_planner(BLOCK).plan(ACROSS, variant="verified", on_snapshot=seen.append)
    assert [snapshot.stats.round_index for snapshot in seen] == list(range(len(seen)))
    assert all(len(snapshot.paths) == 1 for snapshot in seen)
    assert not seen[0].trees
    assert seen[-1].trees
    assert seen[0].proposed == set(seen[0].paths)
    assert not seen[-1].proposed


def test_a_given_order_is_kept_although_another_is_shorter():
    problem = scattered_problem(1, 2)
    (best,) = make_planner().plan(problem, variant="verified").routes
    other = [best.order[0], best.order[2], best.order[1], best.order[3]]
    for variant in ("verified", "online"):
        assert make_planner().plan(problem, variant=variant, order=[other]).routes[0].order == other


def test_solver_seconds_are_a_part_of_all_seconds():
    result = make_planner(BLOCK).plan(scattered_problem(2, 3, BLOCK), variant="verified")
    spent = [stats.solver_seconds for stats in result.rounds]
    assert 0 < spent[0] <= spent[-1] < result.seconds
    assert result.solver_share == spent[-1] / result.seconds


def test_without_verification_the_denoiser_is_never_asked():
    planner = make_planner(BLOCK)
    result = planner.plan(scattered_problem(1, 3, BLOCK), variant="roadmap-only")
    assert (result.num_rounds, result.num_expanded) == (1, 0)
    assert evidence(result) == ["inferred"] * 4
    assert not planner.models.sampler.queries
    assert not result.trees


def test_a_plan_states_costs_and_proves_nothing():
    search = begun(make_planner(BLOCK), ACROSS, "verified")
    search.run()
    result = search.result("fake", "verified")
    (leg,) = result.routes[0].legs
    steps = search.source.prepared.roadmap.pace * path_length(leg.proposed)
    assert leg.cost == result.rounds[-1].route_cost == pytest.approx(steps)
    assert result.routes[0].legs[0].gap == 0.0
    assert not search.ledger.num_tries.any()
    assert not result.certificate.premises_hold
    assert not result.certificate.is_separated
    assert result.meetings.shape == (0, 2)
    assert sum(len(tree.segments) for tree in result.trees) == result.rounds[1].num_expanded


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
        (lambda patience: MaxExpansions(1, patience), 0),
    ],
)
def test_a_criterion_that_would_never_stop_or_makes_no_sense_is_refused(stop, value):
    with pytest.raises(InvalidParameter, match="got"):
        stop(value)


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
    for spent in ((1, 5), (1, 6), (0, 0, 0), (3, 4, 4, 4)):
        assert stop(after(*spent))
    for going_on in ((), (4,), (6, 1), (0, 0), (3, 4, 4), (4, 4, 4, 3)):
        assert not stop(after(*going_on))
