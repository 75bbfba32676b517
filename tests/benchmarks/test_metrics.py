from dataclasses import replace

import numpy as np
import pytest

from benchmarks import metrics
from benchmarks.case import Case
from benchmarks.experiments.protocol import bench_table
from benchmarks.trials import PlanFigures, Trial, WalkFigures
from chronoforest.peers.choice import PlannerChoice

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


def test_pace_and_falls_are_counted_over_all_walks():
    walks = [WalkFigures("none", 400, 0, 1.0, 0, 100.0), WalkFigures("fallen", 1000, 0, 1.0, 2, 50.0)]
    trials = [Trial(CASE, None, walk) for walk in walks]
    assert metrics.pace(trials).value == pytest.approx((0.25 + 0.05) / 2)
    assert metrics.falls(trials).value == pytest.approx(2 / 1.4)
    assert metrics.failures(trials) == {"fallen": 1}
    assert np.isnan(metrics.pace([walked()]).value)


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
