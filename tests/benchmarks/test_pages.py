import re

import pytest

from benchmarks.pages import MARK, content, fill, pages
from chronoforest.errors import ChronoForestError

INTERVAL = re.compile(r"\d(?: %)? \[[\d.]+, [\d.]+\]")
ANT = "records/stitch.jsonl.gz; preset=ant-giant seed=0; trials"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_marked_number_is_what_the_records_say(page):
    """Where it is not, `make figures` writes it anew."""
    text = page.read_text()
    assert fill(text) == text


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_figure_with_an_interval_has_its_source(page):
    """Of README and of every page under docs/."""
    assert INTERVAL.findall(MARK.sub("", page.read_text())) == []


def test_every_mark_has_an_end():
    for page in pages():
        text = page.read_text()
        assert text.count("<!-- from:") == text.count("<!-- end -->") == len(MARK.findall(text))


def test_a_number_that_was_changed_by_hand_is_written_anew():
    text = f"In <!-- from: {ANT} -->1000<!-- end --> walks."
    assert fill(text) == f"In <!-- from: {ANT} -->250<!-- end --> walks."


def test_conditions_choose_the_trials_and_by_makes_a_table_of_them():
    assert content("records/stitch.jsonl.gz; preset=ant-giant seed=0,1; trials") == "500"
    table = content("records/stitch.jsonl.gz; by preset=point-large,ant-giant; trials")
    assert [line.split(" | ")[0] for line in table.strip().splitlines()[2:]] == [
        "| point large",
        "| ant giant",
    ]


def test_records_that_do_not_tell_when_the_first_plan_was_there_have_a_dash():
    assert float(content("records/verified-pairs.jsonl.gz; seed=0; first plan s (median)")) > 0
    assert content("records/graph-pairs.jsonl.gz; seed=0; first plan s (median)") == "–"


def test_a_cell_of_the_papers_tables_is_found_by_suite_table_row_and_column():
    cell = content("records/paper/hamiltonian; hamiltonian-own-ratios; M = 2; online ÷ graph-fixed")
    assert 0.9 < float(cell.split(" ")[0]) < 1.1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("records/stitch.jsonl.gz; seed=0; sucess", "unknown column 'sucess'; did you mean 'success'"),
        ("records/stitch.jsonl.gz; seed=99; trials", "no trial has"),
        ("records/stitch.jsonl.gz", "a mark is FILE"),
        ("preset; ant-giant; planner.nothing", "preset ant-giant has no planner.nothing"),
        ("records/paper/hamiltonian; nothing; a; b", "unknown table 'nothing'"),
        ("records/paper/hamiltonian; hamiltonian-own-ratios; M = 3; b", "unknown column 'M = 3; b'"),
    ],
)
def test_a_mark_that_asks_for_what_is_not_there_says_so(source, sentence):
    with pytest.raises(ChronoForestError) as error:
        content(source)
    assert sentence in str(error.value)
