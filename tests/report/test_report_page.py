"""The report of a folder of the protocol's records; nothing is planned for it."""

import csv
import re
from dataclasses import replace

import pytest
from fake_planner import FakePlanner
from protocol_runs import make_cases

from chronoforest.bench.case import Case
from chronoforest.bench.protocol import PAIRS
from chronoforest.bench.run import run_cases
from chronoforest.cli import main
from chronoforest.errors import BadResult, InvalidParameter
from chronoforest.peers.choice import PlannerChoice
from chronoforest.report.contents import contents_of, known_contents
from chronoforest.report.page import write_report
from chronoforest.report.tables import CONTENTS

GIANT = "pointmaze-giant-stitch-v0"
CASES = make_cases(Case("pairs", PlannerChoice(GIANT), seed=7), 3)


@pytest.fixture
def folder(tmp_path):
    fake = replace(PAIRS, load=lambda choice: FakePlanner(choice.preset))
    run_cases(fake, CASES, tmp_path)
    (tmp_path / "config.json").write_text('{"commands": ["chronoforest bench pairs"], "version": "9.9"}')
    return tmp_path


def test_the_page_shows_tables_and_what_is_missing(folder, capsys):
    assert main(["report", str(folder)]) == 0
    assert "index.html" in capsys.readouterr().out
    page = (folder / "report" / "index.html").read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    for text in ("seeds 7", "chronoforest bench pairs", "9.9", f"pairs, {GIANT}, online", "all (3)"):
        assert text in page
    assert "waypoints whose order is easily misjudged</h2><p>no records yet" in page


def test_tables_lie_beside_it(folder):
    report = write_report(folder, CONTENTS).parent
    (path,) = (report / "tables").iterdir()
    header, row = csv.reader(path.open())
    assert (path.stem, row[0]) == (f"pairs-{GIANT}-online", "all (3)")
    assert header[1] == "complete"
    text = (report / "report.md").read_text()
    assert f"### pairs, {GIANT}, online\n\n|  | complete |" in text


def test_a_trial_that_was_run_twice_is_shown_once(folder):
    lines = (folder / "pairs.jsonl").read_text()
    (folder / "pairs.jsonl").write_text(lines + lines)
    assert "3 trials, seeds 7" in write_report(folder, CONTENTS).read_text()


def test_the_origin_of_the_trials_is_told(folder):
    page = write_report(folder, CONTENTS).read_text()
    assert len(re.findall(r"version [\w.]+ on cpu, weights [0-9a-f]{16}</p>", page)) == 1


def test_a_folder_without_records_is_refused(tmp_path, capsys):
    with pytest.raises(BadResult, match=r"holds no records of stitch.*`chronoforest bench SUITE` makes them"):
        write_report(tmp_path, CONTENTS)
    assert main(["report", str(tmp_path)]) == 2
    assert "holds no records of stitch" in capsys.readouterr().err


def test_a_damaged_configuration_is_named(folder):
    (folder / "config.json").write_text("[")
    with pytest.raises(BadResult, match=r"config\.json"):
        write_report(folder, CONTENTS)


def test_suites_of_ones_own_are_found_by_their_module(folder, tmp_path, monkeypatch):
    (tmp_path / "own_suites.py").write_text(
        "from dataclasses import replace\n"
        "from chronoforest.report.tables import CONTENTS as OTHERS\n"
        "CONTENTS = replace(OTHERS, title='Mine')\n"
        "NOTHING = 1\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(folder), "--suites", "own_suites"]) == 0
    assert "# Mine" in (folder / "report" / "report.md").read_text()
    for module in ("no_such_suites", "chronoforest.errors"):
        with pytest.raises(InvalidParameter, match=module):
            contents_of(module)


def test_without_the_paper_s_module_our_own_suites_are_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("chronoforest.report.contents.BESIDE", "nowhere.contents")
    assert known_contents(tmp_path, CONTENTS) is CONTENTS
