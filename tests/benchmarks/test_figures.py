import pytest
from fake_planner import FakePlanner

from benchmarks.experiments import figures, hamiltonian, stitch
from benchmarks.suite import Request
from benchmarks.trials import Trial

CASES = figures.cases(Request())
WALKS = [case for case in CASES if case.suite == "stitch"]
PLANS = [case for case in CASES if case.suite == "hamiltonian"]


@pytest.fixture(scope="module")
def plans():
    planner = FakePlanner(figures.PRESET)
    return [figures.run_figures(case, planner) for case in PLANS]


@pytest.fixture(scope="module")
def walk():
    """A point walks a task of its own maze; the record is the same as the ant's."""
    case = WALKS[4].chosen(preset="pointmaze-giant-stitch-v0")
    return figures.run_figures(case, FakePlanner(case.preset))


def test_the_trials_are_some_of_the_other_suites_trials():
    assert set(PLANS) < set(hamiltonian.cases(Request()))
    assert set(WALKS) < set(stitch.cases(Request()))
    assert len({case.instance for case in PLANS}) == 10
    assert [case.task for case in WALKS] == [1, 2, 3, 4, 5]


def test_records_are_small_and_come_back(plans, walk):
    for trial in (*plans, walk):
        line = trial.to_json()
        assert len(line) < 40_000
        assert Trial.from_json(line, figures.SUITE.figures) == trial
