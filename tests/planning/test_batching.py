"""Many problems at once on fakes: an open square and one with a block in it, no torch weights."""

import gc
import weakref

import numpy as np
import pytest
from fakes import (
    BLOCK,
    SIDE,
    FakeModels,
    LazySampler,
    SquareDensity,
    StraightSampler,
    make_planner,
    scattered_problem,
)
from gap_worlds import ACROSS, NEAR, VISITS_BEYOND, tolled_planner, walled_planner

from chronoforest.errors import InvalidParameter, InvalidProblem, UnknownVariant
from chronoforest.planning.loop import BatchParams, Search
from chronoforest.planning.planner import MaxRounds, Planner
from chronoforest.planning.result import PlanResult
from chronoforest.planning.variants import PlannerParams, Variant
from chronoforest.presets.loading import load_planner
from chronoforest.types import Problem

OUTSIDE = Problem(starts=[[3.0, 10.0]], goals=[[SIDE + 9.0, 10.0]])
SIZES = [(1, 0), (1, 3), (2, 2), (1, 1), (2, 0), (1, 2)]


class MoodySampler(StraightSampler):
    """Segments are noisy, and most of them go nowhere: what arrives depends on the noise."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        is_lazy = rng.standard_normal((len(query),)) < 0.8
        segments[is_lazy] = query.boundary[is_lazy, None]
        return segments


def moody_planner():
    models = FakeModels(density=SquareDensity(BLOCK), sampler=MoodySampler())
    return Planner(models, PlannerParams(), "moody")


def several():
    return [scattered_problem(*size, BLOCK, seed) for seed, size in enumerate(SIZES)]


def assert_same(one, other):
    assert [route.order for route in one.routes] == [route.order for route in other.routes]
    for route, twin in zip(one.routes, other.routes, strict=True):
        np.testing.assert_array_equal(route.path, twin.path)
        np.testing.assert_array_equal(route.times, twin.times)
        assert route.legs == twin.legs
    for tree, twin in zip(one.trees, other.trees, strict=True):
        np.testing.assert_array_equal(tree.segments, twin.segments)
    assert [stats.pairs for stats in one.rounds] == [stats.pairs for stats in other.rounds]
    assert (one.num_expanded, one.num_refuted) == (other.num_expanded, other.num_refuted)
    assert (one.seed, one.variant, one.preset) == (other.seed, other.variant, other.preset)
    assert one.problem is other.problem


@pytest.mark.parametrize("variant", ["verified", "roadmap-only", "online"])
def test_each_plan_is_the_one_that_is_planned_alone_with_its_seed(variant):
    problems, seeds = several(), [7, 3, 3, 11, 0, 5]
    together = moody_planner().plan_many(problems, seeds=seeds, variant=variant)
    alone = moody_planner()
    for problem, seed, result in zip(problems, seeds, together, strict=True):
        assert_same(result, alone.plan(problem, seed=seed, variant=variant))


def test_noise_matters_in_the_test_above():
    plans = moody_planner().plan_many([several()[1]] * 6, seeds=range(6))
    assert len({plan.num_expanded for plan in plans}) > 1


def test_the_order_of_problems_does_not_matter():
    problems = several()
    there = moody_planner().plan_many(problems, seeds=range(6))
    back = moody_planner().plan_many(problems[::-1], seeds=range(6)[::-1])
    for one, other in zip(there, back[::-1], strict=True):
        assert_same(one, other)


def test_a_round_is_one_batch_for_all_problems():
    planner, problems = make_planner(BLOCK), several()
    assert planner.prepared("verified").checker.piece_length > 0
    planner.models.sampler.queries.clear()
    plans = planner.plan_many(problems)
    num_pieces = sum(plan.rounds[1].num_expanded for plan in plans)
    assert len(planner.models.sampler.queries) == max(plan.num_rounds for plan in plans) - 1
    assert len(planner.models.sampler.queries[0]) == 4 * num_pieces


def test_a_problem_that_fails_does_not_stop_the_others():
    first, second = several()[:2]
    outcomes = make_planner(BLOCK).plan_many([first, OUTSIDE, "no problem", second])
    assert [type(outcome) for outcome in outcomes] == [PlanResult, InvalidProblem, InvalidProblem, PlanResult]
    assert "G1 at (29, 10) lies outside the data's support" in str(outcomes[1])
    assert outcomes[3].problem is second


def test_results_are_told_as_they_finish():
    told = []
    models = FakeModels(density=SquareDensity(BLOCK), sampler=StraightSampler())
    planner = Planner(models, PlannerParams(), "fake")
    problems = [scattered_problem(1, 3, BLOCK), OUTSIDE, scattered_problem(1, 0, BLOCK)]
    outcomes = planner.plan_many(problems, on_result=lambda number, outcome: told.append((number, outcome)))
    assert told[0][0] == 1
    assert sorted(number for number, _ in told) == [0, 1, 2]
    assert all(outcomes[number] is outcome for number, outcome in told)


def test_what_is_verified_first_is_told_first():
    told = []
    planner = Planner(FakeModels(sampler=LazySampler()), PlannerParams(), "lazy")
    low, high = Problem([[3.0, 4.0]], [[17.0, 4.0]]), Problem([[3.0, 15.0]], [[17.0, 15.0]])
    planner.plan_many([low, high], on_result=lambda number, _: told.append(number))
    assert told == [1, 0]


def test_what_the_roadmap_does_not_connect_is_told_and_searched_for_as_alone():
    for planner in (walled_planner(), tolled_planner()):
        together = planner.plan_many([ACROSS, NEAR, VISITS_BEYOND], seeds=[1, 2, 3])
        for seed, result in enumerate(together, start=1):
            assert_same(result, planner.plan(result.problem, seed=seed))
        assert [result.complete for result in together] == [
            planner.name == "toll",
            True,
            planner.name == "toll",
        ]


def test_searches_that_are_over_are_freed(monkeypatch):
    """With room for two at a time, no more than three searches are alive when a plan is handed out."""
    alive = weakref.WeakSet()
    begun = Search.__init__

    def watched(self, *arguments):
        begun(self, *arguments)
        alive.add(self)

    monkeypatch.setattr(Search, "__init__", watched)
    most, planner = 0, moody_planner()
    planner.batch = BatchParams(most_plans=2)
    problems = [scattered_problem(1, 1, BLOCK, seed) for seed in range(12)]
    for _ in planner.plan_each(problems, range(12)):
        gc.collect()
        most = max(most, len(alive))
    assert 1 <= most <= 3


def test_few_are_planned_at_the_same_time_where_roadmaps_are_large():
    planner = make_planner(BLOCK)
    planner.batch = BatchParams(most_hops=1)
    finished = [number for number, _ in planner.plan_each(several())]
    assert finished == list(range(len(SIZES)))


class Impatient:
    """Waits for so many seconds that are none."""

    def __call__(self, rounds):
        return False

    def is_over(self, seconds):
        return True


@pytest.mark.parametrize(
    "limit",
    [{"seconds": 0.0}, {"stop": MaxRounds(1)}, {"stop": Impatient()}],
    ids=["seconds", "rounds", "now"],
)
def test_time_that_is_over_leaves_the_proposed_plans(limit):
    planner = make_planner(BLOCK)
    assert planner.prepared("verified").checker.piece_length > 0
    planner.models.sampler.queries.clear()
    plans = planner.plan_many(several(), **limit)
    assert not planner.models.sampler.queries
    assert all(plan.complete and plan.num_rounds == 1 for plan in plans)


class Ticking:
    """A clock that goes on by a second whenever somebody looks."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def test_time_for_others_does_not_count(monkeypatch):
    """A clock that is looked at a few times in each step gives each of forty problems no more than one."""
    monkeypatch.setattr("time.perf_counter", Ticking())
    problem = scattered_problem(1, 1, BLOCK)
    planner = make_planner(BLOCK)
    alone = planner.plan(problem).seconds
    together = planner.plan_many([problem] * 40)
    assert max(plan.seconds for plan in together) < 2.0 * alone


def test_no_problems_have_no_plans():
    assert make_planner().plan_many([]) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"problems": OUTSIDE}, "problems must be a list of them"),
        ({"problems": [OUTSIDE], "seeds": [1, 2]}, "every problem needs a seed, got 2 for 1 problems"),
        ({"problems": [OUTSIDE], "on_result": 3}, "on_result must be a function, got 3"),
        ({"problems": [OUTSIDE], "stop": "soon"}, "stop must be a criterion"),
        ({"problems": [OUTSIDE], "variant": Variant(needs_order=True)}, "needs `order`"),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_work(arguments, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        make_planner().plan_many(**arguments)


def test_an_unknown_variant_is_refused():
    with pytest.raises(UnknownVariant):
        make_planner().plan_each([OUTSIDE], variant="fancy")


def test_trained_models_give_the_same_paths_together_and_alone():
    """Rounding in a batch of another size may move a segment by less than a thousandth of a unit."""
    planner = load_planner("point-medium")
    places = planner.prepared("verified").roadmap.position
    rows = np.random.default_rng(3).permutation(len(places))[:12].reshape(6, 2)
    problems = [Problem(places[[start]], places[[goal]]) for start, goal in rows]
    plans = planner.plan_many(problems, seeds=range(6))
    for seed, (problem, plan) in enumerate(zip(problems, plans, strict=True)):
        alone = planner.plan(problem, seed=seed)
        np.testing.assert_allclose(plan.routes[0].path, alone.routes[0].path, atol=1e-3)
        assert plan.routes[0].legs[0].evidence == alone.routes[0].legs[0].evidence
        for tree, twin in zip(plan.trees, alone.trees, strict=True):
            np.testing.assert_allclose(tree.segments, twin.segments, atol=1e-3)
