from dataclasses import replace

import pytest
from fake_planner import FakePlanner

from benchmarks.report import hamiltonian as shown
from benchmarks.suites import hamiltonian
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial
from chronoforest.errors import InvalidParameter

GIANT = "antmaze-giant-stitch-v0"


@pytest.fixture(scope="module")
def trials():
    planner = FakePlanner(GIANT)
    cases = hamiltonian.cases(Request(repeats=1, episodes=1))
    own = (case for case in cases if case.task >= 4 and case.choice.distance == "own")
    return [hamiltonian.run_instance(case, planner) for case in own]


def test_the_paper_s_number_is_ninety_and_a_hundred_and_eighty_plans_per_variant():
    cases = [case for case in hamiltonian.cases(Request()) if case.choice.distance == "own"]
    for variant in hamiltonian.COMPARED:
        own = [case.num_agents for case in cases if case.variant == variant]
        assert (own.count(1), own.count(2)) == (90, 180)
    assert len(set(cases)) == len(cases)


def test_variants_share_problems_and_seeds():
    cases = hamiltonian.cases(Request(repeats=2, episodes=3))
    own = [[replace(c, variant="") for c in cases if c.variant == v] for v in hamiltonian.COMPARED]
    assert own[0] == own[1] == own[2]
    assert len({(case.choice.distance, case.instance, case.seeds) for case in own[0]}) == len(own[0])


def test_few_episodes_see_every_bin():
    cases = hamiltonian.cases(Request(repeats=1, episodes=3))
    assert {case.instance.split("-")[-2] for case in cases} == {"high", "medium", "low"}


def test_an_instance_is_planned_and_measured(trials):
    for trial in trials:
        assert trial.plan.is_complete
        assert trial.measures["num_accepted"] == 3 + trial.case.num_agents
        assert trial.measures["num_false"] == 0
        assert trial.measures["certificate"]["premises_hold"] is True
        assert Trial.from_json(trial.to_json()) == trial


def test_the_order_of_graph_fixed_comes_from_the_grid():
    planner = FakePlanner(GIANT)
    case = next(c for c in hamiltonian.cases(Request(1, 1)) if c.variant == "graph-fixed")
    hamiltonian.run_instance(case, planner)
    assert planner.asked[0][3][0][0] == "S1"


def test_tables_show_the_published_values_and_ours(trials):
    sheets = {sheet.name: sheet for sheet in shown.length_tables(trials)}
    single = sheets["hamiltonian-own-1"].rows
    assert [row.label for row in single] == ["high", "medium", "low", "total"]
    total = single[-1].entries["online"]
    assert total.published == "172.2"
    assert total.num_trials == 2
    pairs = {row.label: row for row in sheets["hamiltonian-own-pairs"].rows}
    assert pairs["4-5"].entries["online"].num_trials == 1
    assert pairs["1-2"].entries["online"].ours is None
    assert pairs["total"].entries[shown.SAVED].published == "5.7"
    ratios = sheets["hamiltonian-own-ratios"].rows
    assert ratios[0].entries["online ÷ graph-fixed"].ours.value == pytest.approx(1.0, abs=0.05)
    assert ratios[0].entries["online ÷ geodesic optimum"].ours.value == pytest.approx(1.0, abs=0.01)
    assert ratios[1].entries["pairs improved"].num_trials == 1
    assert ratios[2].entries["sound plans"].ours.value == 1.0


def test_only_what_all_variants_solved_is_compared(trials):
    first = trials[0]
    failed = replace(first, plan=replace(first.plan, is_complete=False))
    before = shown.matched_groups(trials)
    after = shown.matched_groups([failed, *trials[1:]])
    assert len(after) == len(before) - 1


def test_repeats_of_an_instance_count_once(trials):
    again = [replace(t, case=replace(t.case, episode=t.case.episode + 100)) for t in trials]
    assert shown.matched_groups([*trials, *again]) == shown.matched_groups(trials)


def test_an_unknown_instance_is_an_error():
    case = replace(hamiltonian.cases(Request(1, 1))[0], instance="none")
    with pytest.raises(InvalidParameter, match="no instance 'none'"):
        hamiltonian.run_instance(case, FakePlanner(GIANT))
