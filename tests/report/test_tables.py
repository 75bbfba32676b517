from dataclasses import replace
from io import StringIO

import pytest
from fake_planner import FakePlanner
from protocol_runs import make_cases, run_case
from rich.console import Console

from chronoforest.bench.case import Case
from chronoforest.bench.protocol import PROTOCOL_SUITES
from chronoforest.bench.trials import Trial
from chronoforest.peers.choice import PlannerChoice
from chronoforest.report.tables import bench_table, setup_tables, setup_title

GIANT = "pointmaze-giant-stitch-v0"


@pytest.fixture(scope="module")
def planner():
    return FakePlanner(GIANT)


@pytest.mark.parametrize("suite", PROTOCOL_SUITES)
def test_every_suite_has_a_table(planner, suite):
    cases = make_cases(Case(suite, PlannerChoice(GIANT), reference="centres"), 1)
    table = bench_table(suite, [run_case(case, planner) for case in cases], "a title")
    assert all(len(row) == len(table.header) for row in table.rows)
    assert table.rows[-1][0] == f"all ({len(cases)})"
    assert "100.0 %" in table.rows[-1][1]
    lines = table.to_pipes().splitlines()
    assert len({line.count("|") for line in lines}) == 1
    screen = StringIO()
    Console(file=screen, width=250).print(table.to_rich())
    assert all(name in screen.getvalue() for name in ("a title", *table.header[1:]))


def test_stitch_has_a_row_per_task_with_both_caps(planner):
    trials = [run_case(case, planner) for case in make_cases(Case("stitch", PlannerChoice(GIANT)), 1)]
    table = bench_table("stitch", trials)
    assert [row[0] for row in table.rows] == [f"task {k}" for k in range(1, 6)] + ["all (5)"]
    assert table.header[1:3] == ("success within 1000", "success within 2000")
    assert table.rows[-1][-1] == "none"


def test_a_title_tells_what_is_not_as_usual():
    assert setup_title(Case("pairs", PlannerChoice(GIANT), 0, 3, seed=5)) == f"pairs, {GIANT}, online"
    other = Case(
        "multi", PlannerChoice(GIANT, planner="tree-single", device="cuda"), num_agents=2, replans=False
    )
    assert setup_title(other) == f"multi, {GIANT}, online, planner tree-single, agents 2, replans False"


def test_setups_have_tables_of_their_own(planner):
    trials = [run_case(case, planner) for case in make_cases(Case("pairs", PlannerChoice(GIANT)), 2)]
    fixed = [replace(trial, case=replace(trial.case, variant="temporal-fixed")) for trial in trials]
    tables = setup_tables("pairs", [*trials, *fixed])
    assert [table.title for table in tables] == [f"pairs, {GIANT}, online", f"pairs, {GIANT}, temporal-fixed"]
    assert [table.rows[-1][0] for table in tables] == ["all (2)", "all (2)"]


def test_a_table_of_failures_alone_does_not_break():
    table = bench_table("pairs", [Trial(Case("pairs", PlannerChoice(GIANT)), None, refusal="outside")])
    assert table.rows[0][1].startswith("0.0 %")
    assert table.rows[0][-1] == "1 no plan"
