"""A toy suite is added in a few lines, forecast, run and shown; every suite of the paper is of that kind."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from fake_planner import FakePlanner

from benchmarks.contents import CONTENTS
from benchmarks.forecast import PlannerSetup, forecast, obstacle, runnable
from benchmarks.registry import SUITES, chosen_suites
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import plan_random, random_cases
from chronoforest.bench.run import run_cases
from chronoforest.bench.suite import Request, Suite
from chronoforest.errors import InvalidParameter
from chronoforest.peers.choice import PlannerChoice

GIANT = "pointmaze-giant-stitch-v0"


def toy_cases(request):
    return random_cases(Case("pairs", PlannerChoice(GIANT)), request.episodes or 4)


def load_fake(choice):
    return FakePlanner(choice.preset)


TOY = Suite("toy", "a suite of this test", toy_cases, plan_random, load_fake, seconds=2.0)


def test_a_forecast_takes_the_suite_s_seconds_then_the_records_own(tmp_path):
    cases = toy_cases(Request())
    (before,) = forecast(TOY, cases, tmp_path)
    assert (before.num_wanted, before.num_kept, before.seconds) == (4, 0, 8.0)
    run_cases(TOY, toy_cases(Request(episodes=3)), tmp_path)
    (after,) = forecast(TOY, cases, tmp_path)
    assert (after.num_kept, after.seconds) == (3, pytest.approx(0.01))


def test_what_cannot_be_run_is_left_out_and_told(tmp_path):
    own = [case.chosen(data=tmp_path) for case in toy_cases(Request())]
    graph = [case.chosen(planner="dataset-graph") for case in own]
    cases = [*own, *graph, *(case.chosen(distance="missing") for case in own)]
    told = [one.obstacle for one in forecast(TOY, cases, tmp_path)]
    assert told == ["", f"no {tmp_path / GIANT}.npz", f"no distance-missing.safetensors for {GIANT}"]
    assert runnable(cases) == own


def test_suites_are_chosen_by_name():
    assert [suite.name for suite in chosen_suites(())] == list(SUITES)
    assert [suite.name for suite in chosen_suites(["toy"], {"toy": TOY})] == ["toy"]
    with pytest.raises(InvalidParameter, match="unknown suite 'nothing'; available: stitch"):
        chosen_suites(["nothing"])


@pytest.mark.parametrize("counts", [{"repeats": 0}, {"episodes": -1}])
def test_a_request_is_for_at_least_one(counts):
    with pytest.raises(InvalidParameter, match="must be at least 1"):
        Request(**counts)


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_every_suite_has_distinct_cases_and_shows_something_of_few_trials_or_none(suite):
    cases = suite.cases(Request(repeats=1, episodes=1))
    assert len(set(cases)) == len(cases) > 0
    assert set(cases) <= set(suite.cases(Request()))
    CONTENTS.exhibits[suite.name]([])


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_other_processes_can_run_every_suite(suite):
    for sent in (suite.run, suite.load, suite.cases(Request(1, 1))[0]):
        assert pickle.loads(pickle.dumps(sent)) == sent


def test_a_setup_names_what_is_compared():
    case = Case("pairs", PlannerChoice(GIANT, planner="tree-single"), change="search.num_expand=2")
    setup = PlannerSetup.of(replace(case, episode=3).chosen(device="cuda"))
    assert setup == PlannerSetup.of(case)
    assert (setup.choice.planner, setup.change) == ("tree-single", "search.num_expand=2")
    assert obstacle(PlannerChoice(GIANT, data=Path("nowhere"))) == ""
