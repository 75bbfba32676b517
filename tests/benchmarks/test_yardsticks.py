"""The order suite's problems under other yardsticks, and the table of them."""

import pytest

from benchmarks.report.yardsticks import AGREES, PLANNED, yardstick_tables
from benchmarks.suites import yardsticks
from benchmarks.suites.yardsticks import SUITES_OWN, YARDSTICKS
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial
from chronoforest.presets.loading import load_planner

CASES = yardsticks.cases(Request(repeats=4, episodes=2))


@pytest.fixture(scope="module")
def trial():
    return yardsticks.compare(CASES[0], load_planner(yardsticks.PRESET))


def test_every_seed_has_as_many_problems():
    assert [case.seed for case in CASES] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert {case.num_waypoints for case in CASES} == {3}


def test_the_suites_own_yardstick_agrees_with_itself_and_with_the_plans_figures(trial):
    assert set(trial.measures) == set(YARDSTICKS)
    assert trial.measures[SUITES_OWN]["differs"] == 0.0
    told = trial.plan.order_length / trial.plan.geodesic - 1.0
    assert trial.measures[SUITES_OWN]["longer"] == pytest.approx(told)


def test_no_order_is_shorter_than_the_best(trial):
    assert all(value >= -1e-12 for found in trial.measures.values() for value in found.values())


def test_tables_count_agreement_for_reported_seeds_and_others():
    same, other = {"differs": 0.0, "longer": 0.01}, {"differs": 0.01, "longer": 0.0}
    trials = [
        Trial(case, None, measures=dict.fromkeys(YARDSTICKS, same if case.seed < 3 else other))
        for case in CASES
    ]
    reported, others = yardstick_tables(trials)
    assert (reported.name, others.name) == ("yardsticks-reported", "yardsticks-others")
    entries = reported.rows[0].entries
    assert (entries[AGREES].ours.value, entries[PLANNED].ours.value) == (1.0, 0.0)
    assert entries[AGREES].num_trials == 6
    entries = others.rows[-1].entries
    assert (entries[AGREES].ours.value, entries[PLANNED].ours.value) == (0.0, 1.0)
