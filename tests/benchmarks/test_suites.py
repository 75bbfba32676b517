"""A toy suite is added in a few lines; every suite of the paper is of that kind."""

import pickle

import pytest
from fake_planner import FakePlanner

from benchmarks.case import Case
from benchmarks.experiments.protocol import plan_random, random_cases
from benchmarks.registry import SUITES, chosen_suites
from benchmarks.run import runnable
from benchmarks.suite import Request, Suite
from chronoforest.errors import InvalidParameter
from chronoforest.peers.choice import PlannerChoice

GIANT = "pointmaze-giant-stitch-v0"


def toy_cases(request):
    return random_cases(Case("pairs", PlannerChoice(GIANT)), request.episodes or 4)


def load_fake(choice):
    return FakePlanner(choice.preset)


TOY = Suite("toy", "a suite of this test", toy_cases, plan_random, lambda trials: [], load_fake)


def test_what_cannot_be_run_is_left_out_with_the_reason(tmp_path, capsys):
    own = [case.chosen(data=tmp_path) for case in toy_cases(Request())]
    graph = [case.chosen(planner="dataset-graph") for case in own]
    cases = [*own, *graph, *(case.chosen(distance="missing") for case in own)]
    assert runnable(TOY, cases) == own
    printed = capsys.readouterr().out.splitlines()
    reasons = [f"no {tmp_path / GIANT}.npz", f"no distance-missing.safetensors for {GIANT}"]
    assert [line.rpartition(": ")[2] for line in printed] == reasons


def test_suites_are_chosen_by_name():
    assert [suite.name for suite in chosen_suites(())] == list(SUITES)
    assert [suite.name for suite in chosen_suites(["toy"], {"toy": TOY})] == ["toy"]
    with pytest.raises(InvalidParameter, match="unknown suite 'nothing'; available: stitch"):
        chosen_suites(["nothing"])


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_every_suite_has_distinct_cases_and_shows_something_of_few_trials_or_none(suite):
    cases = suite.cases(Request(repeats=1, episodes=1))
    assert len(set(cases)) == len(cases) > 0
    assert set(cases) <= set(suite.cases(Request()))
    suite.show([])


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_other_processes_can_run_every_suite(suite):
    for sent in (suite.run, suite.load, suite.figures, suite.cases(Request(1, 1))[0]):
        assert pickle.loads(pickle.dumps(sent)) == sent
