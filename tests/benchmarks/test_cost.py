from dataclasses import replace

import pytest
from fake_planner import FakePlanner

from benchmarks.experiments import cost
from benchmarks.measuring import REST
from benchmarks.suite import Request
from benchmarks.trials import Trial

CASES = cost.cases(Request(repeats=1, episodes=1))


@pytest.fixture(scope="module")
def trials():
    """What a planner that knows only `online` and the fixed orders does; the rest is copied from it."""
    planner = FakePlanner(cost.PRESET)
    one_of_each = [case for case in CASES if case.task == 5]
    done = {}
    for case in one_of_each:
        variant = case.variant if case.variant in ("online", "temporal-fixed", "graph-fixed") else "online"
        trial = cost.run_cost(replace(case, variant=variant), planner)
        done[case] = replace(trial, case=case)
    return list(done.values())


def test_watched_plans_tell_shares_that_add_up(trials):
    (watched,) = (trial for trial in trials if trial.case.suite == "watched tasks")
    shares = watched.figures.shares
    assert set(shares) == {*cost.PARTS, REST}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert Trial.from_json(watched.to_json(), cost.SUITE.figures) == watched
