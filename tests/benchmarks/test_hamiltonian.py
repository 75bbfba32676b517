from dataclasses import replace

import pytest
from fake_planner import FakePlanner

from benchmarks.experiments import hamiltonian
from benchmarks.suite import Request
from benchmarks.trials import Trial

GIANT = "antmaze-giant-stitch-v0"


@pytest.fixture(scope="module")
def trials():
    planner = FakePlanner(GIANT)
    cases = hamiltonian.cases(Request(repeats=1, episodes=1))
    own = (case for case in cases if case.task >= 4 and case.choice.distance == "own")
    return [hamiltonian.run_instance(case, planner) for case in own]


def test_variants_share_problems_and_seeds():
    cases = hamiltonian.cases(Request(repeats=2, episodes=3))
    own = [[replace(c, variant="") for c in cases if c.variant == v] for v in hamiltonian.COMPARED]
    assert own[0] == own[1] == own[2]
    assert len({(case.choice.distance, case.instance, case.seeds) for case in own[0]}) == len(own[0])


def test_an_instance_is_planned_and_measured(trials):
    for trial in trials:
        assert trial.plan.is_complete
        assert trial.figures.num_accepted == 3 + trial.case.num_agents
        assert trial.figures.num_false == 0
        assert trial.figures.certificate.premises_hold
        assert Trial.from_json(trial.to_json(), hamiltonian.SUITE.figures) == trial


def test_only_what_all_variants_solved_is_compared(trials):
    first = trials[0]
    failed = replace(first, plan=replace(first.plan, is_complete=False))
    before = hamiltonian.matched_groups(trials)
    after = hamiltonian.matched_groups([failed, *trials[1:]])
    assert len(after) == len(before) - 1


def test_repeats_of_an_instance_count_once(trials):
    again = [replace(t, case=replace(t.case, episode=t.case.episode + 100)) for t in trials]
    assert hamiltonian.matched_groups([*trials, *again]) == hamiltonian.matched_groups(trials)
