from io import StringIO

import pytest
from fake_planner import FakePlanner
from rich.console import Console

from chronoforest.bench.suites import SUITES
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import make_cases
from chronoforest.bench.trials import Trial
from chronoforest.bench.protocol import run_case
from chronoforest.report.tables import bench_table

GIANT = "pointmaze-giant-stitch-v0"


@pytest.fixture(scope="module")
def planner():
    return FakePlanner(GIANT)


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_has_a_table(planner, suite):
    cases = make_cases(Case(suite, GIANT, 0, 0, reference="centres"), 1)
    table = bench_table(suite, [run_case(case, planner) for case in cases], "a title")
    assert all(len(row) == len(table.header) for row in table.rows)
    assert table.rows[-1][0] == f"all ({len(cases)})"
    assert "100.0 %" in table.rows[-1][1]
    lines = table.to_markdown().splitlines()
    assert len({line.count("|") for line in lines}) == 1
    screen = StringIO()
    Console(file=screen, width=250).print(table.to_rich())
    assert all(name in screen.getvalue() for name in ("a title", *table.header[1:]))


def test_stitch_has_a_row_per_task_with_both_caps(planner):
    trials = [run_case(case, planner) for case in make_cases(Case("stitch", GIANT, 0, 0), 1)]
    table = bench_table("stitch", trials)
    assert [row[0] for row in table.rows] == [f"task {k}" for k in range(1, 6)] + ["all (5)"]
    assert table.header[1:3] == ("success within 1000", "success within 2000")
    assert table.rows[-1][-1] == "none"


def test_a_table_of_failures_alone_does_not_break():
    table = bench_table("pairs", [Trial(Case("pairs", GIANT, 0, 0), None, refusal="outside")])
    assert table.rows[0][1].startswith("0.0 %")
    assert table.rows[0][-1] == "1 no plan"
