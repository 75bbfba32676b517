"""Reports are made of records only: here those of a toy suite, and, of every suite, those that are kept."""

import csv
import gzip
import json
import re
from collections import Counter
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from fake_planner import FakePlanner, support_of
from protocol_runs import make_cases, run_case
from rich.console import Console

from benchmarks.__main__ import main
from benchmarks.case import Case
from benchmarks.experiments.protocol import (
    PROTOCOL_SUITES,
    bench_table,
    plan_random,
)
from benchmarks.mazes import maze
from benchmarks.pages import ROOT
from benchmarks.registry import CONTENTS, SUITES
from benchmarks.report.page import write_report
from benchmarks.report.pictures import Chart, Panel, Panels, Series, Way
from benchmarks.report.tables import Entry, Row, Sheet, ratio
from benchmarks.run import read_records, run_cases
from benchmarks.suite import Contents, Suite
from benchmarks.trials import Trial
from chronoforest.errors import BadResult
from chronoforest.peers.choice import PlannerChoice
from chronoforest.types import Problem

GIANT = "pointmaze-giant-stitch-v0"
CASES = make_cases(Case("pairs", PlannerChoice(GIANT), seed=7), 3)
TWO = Problem([[0.0, 0.0], [52.0, 0.0]], [[52.0, 36.0], [0.1, 0.0]], [[20.0, 0.0]])
KEPT = [
    (folder, suite)
    for folder in sorted({path.parent for path in (ROOT / "records").rglob("*.jsonl.gz")})
    for suite in SUITES.values()
    if (folder / f"{suite.file}.gz").is_file() and folder != ROOT / "records"
]


@pytest.mark.parametrize(("folder", "suite"), KEPT, ids=lambda value: value.name)
def test_every_kept_record_is_read_with_its_figures_and_shown(folder, suite, tmp_path):
    trials = read_records(folder, suite)
    lines = gzip.decompress((folder / f"{suite.file}.gz").read_bytes()).decode().splitlines()
    written = Counter(bool(json.loads(line)["figures"]) for line in lines)
    assert sum(isinstance(trial.figures, suite.figures) for trial in trials) == written[True]
    exhibits = suite.show(trials)
    assert len({exhibit.name for exhibit in exhibits}) == len(exhibits) > 0
    assert all(exhibit.to_html(tmp_path) for exhibit in exhibits if isinstance(exhibit, Sheet))
    again = Trial.from_json(trials[-1].to_json(), suite.figures)
    assert again == trials[-1]


def maps():
    ways = tuple(Way(role, np.array([[0.0, 0.0], [0.0, 8.0]]), 1) for role in ("route", "tentative"))
    panel = Panel("map", "a note", TWO, ways)
    return Panels(
        "maps", "All <maps>", "Figure 99", GIANT, (panel,) * 2, 2, support=support_of(maze("giant"))
    )


def exhibits(trials):
    lengths = [trial.plan.length for trial in trials]
    row = Row("<all>|", {"length": Entry.of_mean(lengths, "12.3"), "done": Entry.of_share([True] * 3)})
    sheet = Sheet("toy", "Lengths", "Table 99", ("length", "done", "more"), (row,), ("a note",))
    series = Series("ours", (1.0, 2.0, 3.0), tuple(lengths))
    chart = Chart("curve", "A curve", "", "x", "units", (series,), marks={"here": 2.0})
    return [sheet, chart, maps()]


def load_fake(choice):
    return FakePlanner(choice.preset)


TOY = Suite("toy", "a toy", lambda request: CASES, plan_random, exhibits, load_fake)
TOYS = Contents("All of it", {"toy": TOY, "idle": replace(TOY, name="idle")}, "make toys")


@pytest.fixture
def folder(tmp_path):
    run_cases(TOY, CASES, tmp_path)
    (tmp_path / "config.json").write_text('{"commands": ["python -m benchmarks run"], "version": "9.9"}')
    return tmp_path


def test_the_page_needs_no_other_file_and_shows_everything(folder):
    before = (folder / "toy.jsonl").read_bytes()
    report = write_report(folder, TOYS).parent
    page = (report / "index.html").read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    for words in (
        "Table 99",
        "paper 12.3",
        "n = 3",
        "3 trials, seeds 7",
        "benchmarks run",
        "9.9",
        "&lt;all&gt;",
    ):
        assert words in page
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "no records yet" in page
    rows = list(csv.DictReader((report / "tables" / "toy.csv").open()))
    assert float(rows[0]["low"]) < float(rows[0]["ours"]) < float(rows[0]["high"])
    assert (report / "figures" / "maps.png").read_bytes().startswith(b"\x89PNG")
    drawn = (report / "figures" / "maps.svg").read_text()
    assert all(f"<!-- {words} -->" in drawn for words in ("map", "a note", "leg not met yet", "waypoint"))
    assert (folder / "toy.jsonl").read_bytes() == before


def test_what_cannot_be_reported_is_refused(folder, tmp_path):
    with pytest.raises(BadResult, match="toy"):
        write_report(tmp_path / "report", TOYS)
    (folder / "config.json").write_text("[")
    with pytest.raises(BadResult, match=r"config\.json"):
        write_report(folder, TOYS)


def test_a_module_in_the_current_folder_is_not_run(tmp_path, monkeypatch):
    run_cases(replace(PROTOCOL_SUITES["pairs"], load=load_fake), CASES, tmp_path)
    for name in ("registry.py", "benchmarks/registry.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit('was run')")
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    assert f"<h1>{CONTENTS[0].title}" in (tmp_path / "report" / "index.html").read_text()


def test_matching_makes_the_interval_of_a_ratio_narrow():
    """Lengths differ much from problem to problem, but their ratio hardly does."""
    rng = np.random.default_rng(0)
    below = rng.uniform(50, 300, 40)
    above = below * rng.normal(1.02, 0.005, 40)
    found = ratio(list(above), list(below))
    assert found.value == pytest.approx(above.mean() / below.mean())
    assert found.low < 1.02 < found.high < found.low + 0.01


@pytest.mark.parametrize("suite", PROTOCOL_SUITES)
def test_every_protocol_suite_has_a_table_with_a_row_per_task_and_one_for_all(suite):
    cases, planner = make_cases(Case(suite, PlannerChoice(GIANT), reference="centres"), 1), FakePlanner(GIANT)
    table = bench_table(suite, [run_case(case, planner) for case in cases], "a title")
    assert [row[0] for row in table.rows[:-1]] == [f"task {case.task}" for case in cases if case.task]
    assert table.rows[-1][0] == f"all ({len(cases)})"
    assert "100.0 %" in table.rows[-1][1]
    assert len({line.count("|") for line in table.to_pipes().splitlines()}) == 1
    screen = StringIO()
    Console(file=screen, width=250).print(table.to_rich())
    assert all(name in screen.getvalue() for name in ("a title", *table.header[1:]))
