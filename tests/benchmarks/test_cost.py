from collections import Counter
from dataclasses import replace

import pytest
from fake_planner import FakePlanner

from benchmarks.report.cost import cost_tables
from benchmarks.stopwatch import REST
from benchmarks.suites import cost
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial

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


def test_the_paper_s_number_of_trials():
    counts = Counter((case.suite, case.variant) for case in cost.cases(Request()))
    assert {counts["tasks", variant] for variant in cost.SEARCHES} == {50}
    assert {counts["hamiltonian", variant] for variant in cost.ORDERS} == {90}
    assert counts["watched tasks", "online"] == 10


def test_watched_plans_tell_shares_that_add_up(trials):
    (watched,) = (trial for trial in trials if trial.case.suite == "watched tasks")
    shares = watched.measures["shares"]
    assert set(shares) == {*cost.PARTS, REST}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert Trial.from_json(watched.to_json()) == watched


def test_tables_have_seconds_and_nodes_beside_the_published_ones(trials):
    sheets = {sheet.name: sheet for sheet in cost_tables(trials)}
    rows = {row.label: row.entries for row in sheets["cost-tasks"].rows}
    assert rows["task 5"]["online, nodes"].ours.value == 3
    assert rows["task 5"]["online, nodes"].published == "10.9"
    assert rows["task 1"]["online, s"].ours is None
    assert rows["total"]["l2-root, s"].published == "179.8"
    orders = {row.label: row.entries for row in sheets["cost-orders"].rows}
    assert orders["high"]["exhaustive, s"].num_trials == 1
    assert orders["low"]["exhaustive, s"].num_trials == 0
    ratios = sheets["cost-ratios"].rows[0].entries
    assert ratios["online ÷ exhaustive, s"].ours.value == pytest.approx(1.0)
    assert sheets["cost-shares"].rows[0].entries[REST].num_trials == 1
