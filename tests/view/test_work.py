import json

import pytest
from fakes import BLOCK, make_planner, scattered_problem

from chronoforest.names import DEFAULT_VARIANT
from chronoforest.types import Problem
from chronoforest.view.jobs import Cancelled
from chronoforest.view.requests import PlanRequest
from chronoforest.view.work import first_guess, planning, warming_up

REQUEST = PlanRequest(starts=[(3.0, 3.0)], goals=[(17.0, 17.0)], waypoints=[(3.0, 17.0)])


class Recorder:
    """A job that only remembers what it was told; it may be ended after so many events."""

    def __init__(self, most=None):
        self.told, self.most, self.is_cancelled = [], most, False

    def tell(self, kind, data):
        self.told.append((kind, data))
        self.is_cancelled = len(self.told) == self.most

    def check(self):
        if self.is_cancelled:
            raise Cancelled


def test_planning_tells_rounds_and_a_plan_and_keeps_the_result():
    job = Recorder()
    planned = planning(make_planner(), REQUEST)(job)
    assert [kind for kind, _ in job.told] == ["start", *["round"] * planned.result.num_rounds, "plan"]
    assert json.loads(job.told[-1][1])["length"] == planned.result.length


def test_watching_does_not_change_the_plan():
    planned = planning(make_planner(), REQUEST)(Recorder())
    alone = make_planner().plan(REQUEST.problem())
    assert planned.result.routes[0].path.tolist() == alone.routes[0].path.tolist()


def test_a_plan_over_the_roadmap_begins_with_the_order_that_the_distance_alone_would_take():
    (guess,) = first_guess(make_planner(), REQUEST.problem())
    assert guess.stats.round_index == -1
    assert guess.stats.route.orders == ((0, 1, 2),)
    assert guess.bridge_cost[0, 1] == pytest.approx(140.0)
    assert not list(first_guess(make_planner(), Problem([[3, 3]], [[17, 17]])))


def test_the_guess_is_the_order_that_temporal_fixed_keeps():
    planner, problem = make_planner(BLOCK), scattered_problem(2, 5, BLOCK)
    (guess,) = first_guess(planner, problem)
    kept = planner.plan(problem, variant="temporal-fixed").rounds[0].route
    assert guess.stats.route == kept


def test_a_cancelled_plan_ends_after_the_round():
    job = Recorder(most=2)
    with pytest.raises(Cancelled):
        planning(make_planner(), REQUEST)(job)
    assert [kind for kind, _ in job.told] == ["start", "round"]


@pytest.mark.parametrize("variant", [DEFAULT_VARIANT, "online"])
def test_a_cancelled_plan_ends_within_the_round(variant):
    """The job is cancelled after what it proposed or guessed; the next round asks before its first sample."""
    planner, job = make_planner(), Recorder(most=2 if variant == DEFAULT_VARIANT else 1)
    assert planner.prepared(variant).checker.piece_length > 0  # measured with samples, before any plan
    planner.models.sampler.queries.clear()
    with pytest.raises(Cancelled):
        planning(planner, REQUEST.model_copy(update={"variant": variant}))(job)
    assert len(job.told) == job.most
    assert not planner.models.sampler.queries


def test_warming_up_tells_nothing():
    job = Recorder()
    places = {"starts": [[3, 3]], "goals": [[17, 17]], "waypoints": []}
    warming_up([make_planner(), make_planner()], places)(job)
    assert job.told == []
