import re

import pytest

from benchmarks import pages
from benchmarks.numbers import content
from benchmarks.pages import HOLE, ROOT, entries, fill
from chronoforest.errors import BadResult, ChronoForestError

INTERVAL = re.compile(r"\d(?: %)? \[[\d.]+, [\d.]+\]")
WRITTEN = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture
def page(monkeypatch):
    """A page of its own, by its entries."""

    def make(*of_page):
        monkeypatch.setattr(pages, "entries", lambda: {"page.md": list(of_page)})
        return "page.md"

    return make


@pytest.mark.parametrize("name", entries())
def test_every_number_is_what_the_records_say(name):
    """Where it is not, `make figures` writes it anew."""
    text = (ROOT / name).read_text()
    assert fill(name, text) == text


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_every_figure_with_an_interval_has_its_source(path):
    """Of README and of every page under docs/."""
    text = fill(str(path.relative_to(ROOT)), path.read_text(), number=lambda source: "from records")
    assert INTERVAL.findall(text) == []


def test_a_number_in_a_sentence_is_found_by_its_words_wherever_the_line_breaks(page):
    name = page({"line": "In {a} walks, {b} fell."})
    assert fill(name, "x\nIn 1 walks,\n2 fell. In 3.", str.upper) == "x\nIn A walks,\nB fell. In 3."


@pytest.mark.parametrize("text", ["nothing of the kind", "In 1 walks. In 2 walks."])
def test_a_sentence_that_is_not_there_once_is_refused(page, text):
    with pytest.raises(BadResult) as error:
        fill(page({"line": "In {a} walks."}), text, str)
    assert "In {a} walks." in str(error.value)


TABLES = """## Heading

| planner | share | note |
|---|---|---|
| `ours` | 1 | by hand |
| other | – | by hand |

| planner | seconds |
|---|---|
| ours | 2 |
"""


def test_cells_are_from_labels_and_headers_and_a_dash_stays(page):
    entry = {"below": "## Heading", "table": "planner", "cells": "{row}; {column}"}
    first = entry | {"columns": {"share": "s"}, "rows": {"`ours`": "x"}}
    filled = fill(page(first, entry), TABLES, lambda source: f"<{source}>")
    assert "| `ours` | <x; s> | by hand |\n| other | – | by hand |" in filled
    assert "| ours | <ours; seconds> |" in filled


@pytest.mark.parametrize(
    "place", [{"below": "## Other", "table": "planner"}, {"below": "## Heading", "table": "x"}]
)
def test_a_table_that_is_not_there_is_refused(page, place):
    with pytest.raises(BadResult) as error:
        fill(page(place | {"whole": "all"}), TABLES, str)
    assert place["below"] in str(error.value)


def test_a_line_has_words_around_its_numbers():
    """Without them a number would reach to the end of the line."""
    lines = [entry["line"] for of_page in entries().values() for entry in of_page if "line" in entry]
    assert [line for line in lines if "" in HOLE.split(line)[::2]] == []


def test_conditions_choose_the_trials_and_by_makes_a_table_of_them():
    assert content("records/stitch.jsonl.gz; preset=ant-giant seed=0,1; trials") == "500"
    table = content("records/stitch.jsonl.gz; by preset=point-large,ant-giant; trials")
    assert [line.split(" | ")[0] for line in table.strip().splitlines()[2:]] == [
        "| point large",
        "| ant giant",
    ]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("records/stitch.jsonl.gz; seed=0; sucess", "unknown column 'sucess'; did you mean 'success'"),
        ("records/stitch.jsonl.gz; seed=99; trials", "no trial has"),
        ("records/stitch.jsonl.gz", "a source is FILE"),
        ("preset; ant-giant; planner.nothing", "preset ant-giant has no planner.nothing"),
        ("records/paper/hamiltonian; nothing; a; b", "unknown table 'nothing'"),
        ("records/paper/hamiltonian; hamiltonian-own-ratios; M = 3; b", "unknown column 'M = 3; b'"),
    ],
)
def test_a_source_that_is_not_there_is_refused(source, sentence):
    with pytest.raises(ChronoForestError) as error:
        content(source)
    assert sentence in str(error.value)
