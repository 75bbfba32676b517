"""A toy suite is added in a dozen lines, run, killed, resumed and forecast."""

import gzip
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from fake_planner import FakePlanner

from chronoforest.bench import run as bench_run
from benchmarks import forecast as campaign
from benchmarks.forecast import Setting, forecast, read_records, run_suite
from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.registry import SUITES, chosen_suites
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import make_cases
from chronoforest.bench.protocol import run_case
from chronoforest.errors import InvalidParameter

GIANT = "pointmaze-giant-stitch-v0"


def toy_cases(request):
    return make_cases(Case("pairs", GIANT, 0, 0), request.num_episodes(4))


def toy_exhibits(trials):
    entry = Entry.of_mean((trial.plan.length for trial in trials if trial.plan), published="12.3")
    return [Sheet("toy", "Lengths", "Table 99", ("length",), (Row("all", {"length": entry}),))]


TOY = Suite("toy", "a suite of this test", toy_cases, toy_exhibits, seconds=2.0)


@pytest.fixture(autouse=True)
def fake_planners(monkeypatch):
    """Every planner is the fake one."""
    bench_run._planner.cache_clear()
    monkeypatch.setattr(
        "chronoforest.peers.registry.load", lambda name, preset, data, **options: FakePlanner(preset)
    )
    yield
    bench_run._planner.cache_clear()


def killed_after(num_trials):
    """Runs so many cases and is then interrupted."""
    seen = []

    def run(case, planner):
        if len(seen) == num_trials:
            raise KeyboardInterrupt
        seen.append(case)
        return run_case(case, planner)

    return run


def test_a_toy_suite_runs_and_is_shown(tmp_path):
    trials = run_suite(TOY, Request(), tmp_path, Setting())
    (sheet,) = TOY.exhibits(trials)
    assert sheet.rows[0].entries["length"].num_trials == 4
    assert read_records(tmp_path, TOY) == trials


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_suite(replace(TOY, run=killed_after(2)), Request(), tmp_path, Setting())
    assert len(read_records(tmp_path, TOY)) == 2
    seen = []
    trials = run_suite(TOY, Request(), tmp_path, Setting(), on_progress=lambda *counts: seen.append(counts))
    assert seen == [(3, 4), (4, 4)]
    assert trials == run_suite(TOY, Request(), tmp_path / "whole", Setting())


def test_a_forecast_takes_the_suite_s_seconds_then_the_records_own(tmp_path):
    (before,) = forecast(TOY, Request(), tmp_path, Setting())
    assert (before.num_wanted, before.num_kept, before.seconds) == (4, 0, 8.0)
    run_suite(TOY, Request(episodes=3), tmp_path, Setting())
    (after,) = forecast(TOY, Request(), tmp_path, Setting())
    assert (after.num_kept, after.seconds) == (3, pytest.approx(0.01))


def test_what_cannot_be_run_is_left_out_and_told(tmp_path):
    def cases(request):
        own = toy_cases(request)
        graph = [replace(case, planner="dataset-graph") for case in own]
        return [*own, *graph, *(replace(case, distance="missing") for case in own)]

    suite = replace(TOY, cases=cases)
    setting = Setting(data=tmp_path)
    told = [one.obstacle for one in forecast(suite, Request(), tmp_path, setting)]
    assert told[0] == ""
    assert GIANT in told[1]
    assert told[2] == f"no distance-missing.safetensors for {GIANT}"
    assert len(run_suite(suite, Request(), tmp_path, setting)) == 4


def test_compressed_records_are_read_too(tmp_path):
    trials = run_suite(TOY, Request(), tmp_path, Setting())
    path = tmp_path / TOY.file
    (tmp_path / f"{TOY.file}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert sorted(t.case.episode for t in read_records(tmp_path, TOY)) == [0, 1, 2, 3]
    path.unlink()
    assert read_records(tmp_path, TOY) == trials


def test_suites_are_chosen_by_name():
    assert [suite.name for suite in chosen_suites()] == list(SUITES)
    assert [suite.name for suite in chosen_suites(["toy"], {"toy": TOY})] == ["toy"]
    with pytest.raises(InvalidParameter, match="unknown suite 'nothing'; available: stitch"):
        chosen_suites(["nothing"])


@pytest.mark.parametrize("counts", [{"repeats": 0}, {"episodes": -1}])
def test_an_effort_is_at_least_one(counts):
    with pytest.raises(InvalidParameter, match="must be at least 1"):
        Request(**counts)


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_every_suite_has_distinct_cases_and_shows_something_of_few_trials_or_none(suite):
    cases = suite.cases(Request(repeats=1, episodes=1))
    assert len(set(cases)) == len(cases) > 0
    assert set(cases) <= set(suite.cases(Request()))
    suite.exhibits([])


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_other_processes_can_run_every_suite(suite):
    assert pickle.loads(pickle.dumps(suite.run)) is suite.run
    loaders = {campaign._loader(case, Setting()) for case in suite.cases(Request(1, 1))}
    assert pickle.loads(pickle.dumps(loaders)) == loaders


def test_a_contest_names_what_is_loaded():
    case = Case("pairs", GIANT, 0, 0, planner="tree-single", change="search.num_expand=2")
    contest = campaign.Contest.of(case)
    assert (contest.planner, contest.change) == ("tree-single", "search.num_expand=2")
    assert campaign.obstacle(campaign.Contest.of(Case("pairs", GIANT, 0, 0)), Path("nowhere")) == ""
