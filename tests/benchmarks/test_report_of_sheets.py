"""The report reads records only; here they are those of a toy suite with a table and a chart."""

import csv
import re

import pytest
from fake_planner import FakePlanner
from protocol_runs import make_cases

from benchmarks.report.charts import Chart, Series
from benchmarks.report.sheets import Entry, Row, Sheet, shown
from chronoforest.bench.case import Case
from chronoforest.bench.metrics import Estimate
from chronoforest.bench.protocol import plan_random
from chronoforest.bench.run import run_cases
from chronoforest.bench.suite import Suite
from chronoforest.errors import BadResult
from chronoforest.peers.choice import PlannerChoice
from chronoforest.report.contents import Contents
from chronoforest.report.page import write_report

CASES = make_cases(Case("pairs", PlannerChoice("pointmaze-giant-stitch-v0"), seed=7), 3)


def exhibits(trials):
    lengths = [trial.plan.length for trial in trials]
    row = Row("<all>", {"length": Entry.of_mean(lengths, "12.3"), "done": Entry.of_share([True] * 3)})
    sheet = Sheet("toy", "Lengths", "Table 99", ("length", "done", "more"), (row,), ("a note",))
    series = Series("ours", (1.0, 2.0, 3.0), tuple(lengths))
    return [sheet, Chart("curve", "A curve", "Figure 99", "x", "units", (series,), marks={"here": 2.0})]


def load_fake(choice):
    return FakePlanner(choice.preset)


TOY = Suite("toy", "a toy", lambda request: CASES, plan_random, load_fake)
IDLE = Suite("idle", "never run", lambda request: CASES, plan_random, load_fake)


def shown_of(*suites):
    return Contents(
        "All of it",
        {suite.name: suite for suite in suites},
        {suite.name: exhibits for suite in suites},
        "make toys",
    )


@pytest.fixture
def folder(tmp_path):
    run_cases(TOY, CASES, tmp_path)
    (tmp_path / "config.json").write_text('{"commands": ["python -m benchmarks run"], "version": "9.9"}')
    return tmp_path


def test_the_page_needs_no_other_file_and_shows_everything(folder):
    page = write_report(folder, shown_of(TOY, IDLE)).read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    for text in ("Table 99", "paper 12.3", "n = 3", "seeds 7", "a note", "python -m benchmarks run", "9.9"):
        assert text in page
    assert "&lt;all&gt;" in page
    assert "idle: never run</h2><p>no records yet" in page


def test_tables_and_figures_lie_beside_it(folder):
    report = write_report(folder, shown_of(TOY)).parent
    rows = list(csv.DictReader((report / "tables" / "toy.csv").open()))
    assert [row["published"] for row in rows] == ["12.3", ""]
    assert float(rows[0]["low"]) < float(rows[0]["ours"]) < float(rows[0]["high"])
    assert (report / "figures" / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (report / "figures" / "curve.svg").read_text()
    text = (report / "report.md").read_text()
    assert "![A curve](figures/curve.svg)" in text
    assert "### Lengths (paper: Table 99)" in text


def test_the_records_are_left_alone(folder):
    before = (folder / "toy.jsonl").read_bytes()
    first = write_report(folder, shown_of(TOY)).read_text()
    assert (folder / "toy.jsonl").read_bytes() == before
    assert len(write_report(folder, shown_of(TOY)).read_text()) == len(first)


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(BadResult, match="holds no records of toy; `make toys` makes them"):
        write_report(tmp_path, shown_of(TOY))


def test_a_damaged_configuration_is_named(folder):
    (folder / "config.json").write_text("[")
    with pytest.raises(BadResult, match=r"config\.json"):
        write_report(folder, shown_of(TOY))


def test_figures_are_shown_with_what_is_known_of_them():
    assert shown(Entry(None)) == "–"
    assert shown(Entry(Estimate(2.0, -float("inf"), float("inf")), 1)) == "2.0 [?]"
    assert shown(Entry.of_share([True, True])).startswith("100.0 [")


def test_a_pipe_does_not_break_a_table():
    sheet = Sheet("odd", "Odd", "", ("a|b",), (Row("x|y", {}),))
    assert sheet.to_markdown().splitlines()[2] == "|  | a\\|b |"
    assert sheet.to_csv() == "row,column,ours,low,high,trials,published\n"
