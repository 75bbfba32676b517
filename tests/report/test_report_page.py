"""The report reads records only; here they are those of a toy suite with a table and a chart."""

import csv
import re

import pytest
from fake_planner import FakePlanner

from chronoforest.bench.metrics import Estimate
from benchmarks.report.charts import Chart, Series
from benchmarks.report.sheets import Entry, Row, Sheet
from chronoforest.bench.suite import Suite
from chronoforest.bench.run import run_cases
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import make_cases
from chronoforest.cli import main
from chronoforest.errors import BadResult
from benchmarks.report.sheets import shown, to_csv, to_markdown
from chronoforest.report.page import write_report

CASES = make_cases(Case("pairs", "pointmaze-giant-stitch-v0", 0, 0, seed=7), 3)


def exhibits(trials):
    lengths = [trial.plan.length for trial in trials]
    row = Row("<all>", {"length": Entry.of_mean(lengths, "12.3"), "done": Entry.of_share([True] * 3)})
    sheet = Sheet("toy", "Lengths", "Table 99", ("length", "done", "more"), (row,), ("a note",))
    series = Series("ours", (1.0, 2.0, 3.0), tuple(lengths))
    return [sheet, Chart("curve", "A curve", "Figure 99", "x", "units", (series,), marks={"here": 2.0})]


TOY = Suite("toy", "a toy", lambda effort: CASES, exhibits)
IDLE = Suite("idle", "never run", lambda effort: CASES, exhibits)


@pytest.fixture
def folder(tmp_path):
    run_cases(CASES, tmp_path / "toy.jsonl", lambda preset, mode: FakePlanner(preset))
    (tmp_path / "config.json").write_text('{"commands": ["chronoforest bench paper"], "version": "9.9"}')
    return tmp_path


def test_the_page_needs_no_other_file_and_shows_everything(folder):
    page = write_report(folder, {"toy": TOY, "idle": IDLE}).read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    for text in ("Table 99", "paper 12.3", "n = 3", "seeds 7", "a note", "chronoforest bench paper", "9.9"):
        assert text in page
    assert "&lt;all&gt;" in page
    assert "idle: never run</h2><p>no records yet" in page


def test_tables_and_figures_lie_beside_it(folder):
    report = write_report(folder, {"toy": TOY}).parent
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
    first = write_report(folder, {"toy": TOY}).read_text()
    assert (folder / "toy.jsonl").read_bytes() == before
    assert len(write_report(folder, {"toy": TOY}).read_text()) == len(first)


def test_a_folder_without_records_is_refused(tmp_path, capsys):
    with pytest.raises(BadResult, match=r"holds no records of toy; `chronoforest bench paper` makes them"):
        write_report(tmp_path, {"toy": TOY})
    assert main(["report", str(tmp_path)]) == 2
    assert "holds no records of stitch" in capsys.readouterr().err


def test_a_damaged_configuration_is_named(folder):
    (folder / "config.json").write_text("[")
    with pytest.raises(BadResult, match=r"config\.json"):
        write_report(folder, {"toy": TOY})


def test_figures_are_shown_with_what_is_known_of_them():
    assert shown(Entry(None)) == "–"
    assert shown(Entry(Estimate(2.0, -float("inf"), float("inf")), 1)) == "2.0 [?]"
    assert shown(Entry.of_share([True, True])).startswith("100.0 [")


def test_a_pipe_does_not_break_a_table():
    sheet = Sheet("odd", "Odd", "", ("a|b",), (Row("x|y", {}),))
    assert to_markdown(sheet).splitlines()[2] == "|  | a\\|b |"
    assert to_csv(sheet) == "row,column,ours,low,high,trials,published\n"
