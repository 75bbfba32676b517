from dataclasses import replace

import numpy as np
import pytest

from chronoforest.bench import metrics
from chronoforest.bench.case import Case
from chronoforest.bench.trials import PlanFigures, Trial, WalkFigures
from chronoforest.peers.choice import PlannerChoice
from chronoforest.report.tables import bench_table

CASE = Case("stitch", PlannerChoice("pointmaze-giant-stitch-v0"), 1)
PLAN = PlanFigures(True, False, 100.0, 110.0, 120.0, 98.0, 98.0, None, 1.0, 9, 4, 2.0, (("S1", "G1"),))


def walked(cause="none", steps=500, **plan):
    return Trial(CASE, replace(PLAN, **plan), WalkFigures(cause, steps, 0, 1.0))


def test_replanning_is_counted_for_all_walks_and_the_pace_for_those_that_arrived():
    again = replace(walked("stuck"), walk=WalkFigures("stuck", 900, 3, 1.0))
    trials = [walked(steps=500), walked(steps=700), again, Trial(CASE, plan=None)]
    assert metrics.replanned(trials).value == 0.25
    assert metrics.steps_per_unit(trials).value == pytest.approx(6.0)


def test_a_walk_that_arrived_after_a_plan_of_no_length_is_no_division_by_zero():
    """The first plan was incomplete; the one made on the way led to the goal."""
    nowhere = walked(is_complete=False, length=0.0)
    assert metrics.steps_per_unit([walked(steps=500), nowhere]).value == pytest.approx(5.0)
    assert np.isnan(metrics.steps_per_unit([nowhere]).value)
    assert bench_table("stitch", [nowhere]).rows[-1][0] == "all (1)"


@pytest.mark.parametrize(
    ("num_successes", "num_trials", "low", "high"),
    [
        (0, 10, 0.0, 0.27753),
        (10, 10, 0.72247, 1.0),
        (50, 50, 0.92865, 1.0),
        (247, 250, 0.96531, 0.99591),
        (5, 10, 0.23659, 0.76341),
    ],
)
def test_wilson_intervals(num_successes, num_trials, low, high):
    estimate = metrics.wilson(num_successes, num_trials)
    assert estimate.value == num_successes / num_trials
    assert estimate.low == pytest.approx(low, abs=2e-5)
    assert estimate.high == pytest.approx(high, abs=2e-5)


def test_a_mean_has_students_interval():
    estimate = metrics.mean([1.0, 2.0, 3.0, 4.0])
    assert estimate.value == 2.5
    assert estimate.high - 2.5 == pytest.approx(3.18245 * np.std([1, 2, 3, 4], ddof=1) / 2, rel=1e-5)
    assert estimate.low == pytest.approx(5.0 - estimate.high)


def test_one_value_proves_nothing_and_none_is_nan():
    assert metrics.mean([3.0]) == metrics.Estimate(3.0, -np.inf, np.inf)
    assert np.isnan([metrics.mean([]).value, metrics.wilson(0, 0).value, metrics.median([])]).all()


@pytest.mark.parametrize(("num_events", "low", "high"), [(0, 0.0, 3.68888), (3, 0.61867, 8.76727)])
def test_rates_have_the_exact_poisson_interval(num_events, low, high):
    estimate = metrics.rate(num_events, 1.0)
    assert estimate.value == num_events
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-5)
    assert metrics.rate(num_events, 10.0).high == pytest.approx(high / 10, abs=1e-5)
    assert np.isnan(metrics.rate(0, 0.0).value)


def test_pace_and_falls_are_counted_over_all_walks():
    walks = [WalkFigures("none", 400, 0, 1.0, 0, 100.0), WalkFigures("fallen", 1000, 0, 1.0, 2, 50.0)]
    trials = [Trial(CASE, None, walk) for walk in walks]
    assert metrics.pace(trials).value == pytest.approx((0.25 + 0.05) / 2)
    assert metrics.falls(trials).value == pytest.approx(2 / 1.4)
    assert metrics.failures(trials) == {"fallen": 1}
    assert np.isnan(metrics.pace([walked()]).value)


def test_success_is_counted_at_both_caps_from_one_walk():
    trials = [walked(), walked(steps=1500), walked(steps=1000), walked("drift", 300)]
    assert metrics.success(trials, 1000).value == 0.5
    assert metrics.success(trials, 2000).value == 0.75


def test_failures_are_counted_by_cause_at_the_official_cap():
    refused = Trial(CASE, plan=None, refusal="outside")
    trials = [walked(), walked(steps=1500), walked("drift"), walked("out of steps", 2000), refused]
    assert metrics.failures(trials) == {"out of steps": 2, "drift": 1, "no plan": 1}
    assert metrics.failures(trials, 2000) == {"out of steps": 1, "drift": 1, "no plan": 1}


def test_a_plan_through_a_wall_is_not_complete():
    trials = [walked(), walked(crosses_wall=True), walked(is_complete=False), Trial(CASE, plan=None)]
    assert metrics.completeness(trials).value == 0.25
    assert metrics.num_wall_crossings(trials) == 1


def test_the_best_order_is_judged_up_to_ties():
    trials = [
        walked(),
        walked(order_length=98.0 + 1e-9),
        walked(order_length=98.1),
        walked(is_complete=False),
    ]
    assert metrics.best_order(trials).value == 0.5
    assert metrics.best_order(trials, slack=0.01).value == 0.75
