"""Tables of parameters say what docstrings say."""

import re
from dataclasses import MISSING, dataclass, fields, is_dataclass

import pytest

from benchmarks import parameters
from benchmarks.numbers import content
from benchmarks.pages import ROOT, entries, fill
from benchmarks.parameters import meanings
from chronoforest.errors import InvalidParameter

NAMED = {
    name.strip()
    for page in entries().values()
    for entry in page
    if entry.get("whole", "").startswith("parameters;")
    for name in entry["whole"].partition(";")[2].split(",")
}


@dataclass(frozen=True)
class Toy:
    """A toy.

    size: of it, in units; edge, width: two of a kind; hue: what `hue: 1` is, and
    more of it.
    """

    size: float = 1.0
    edge: int = 2
    width: int = 3
    hue: str = "red"
    other: int = 4


def test_a_docstring_tells_every_name_it_lists_with_what_follows():
    assert meanings(Toy) == {
        "size": "of it, in units",
        "edge": "two of a kind",
        "width": "two of a kind",
        "hue": "what `hue: 1` is, and more of it",
    }


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("NothingParams", "one module should define NothingParams"),
        ("Variant.fixes_order", "says nothing about 'fixes_order'"),
        ("junction.NOTHING", r"one module junction.py should say what NOTHING is, found 0"),
    ],
)
def test_what_nobody_says_is_refused(names, words):
    with pytest.raises(InvalidParameter, match=words):
        content(f"parameters; {names}")


def test_no_page_has_a_table_of_parameters_that_was_written_by_hand():
    for path in (ROOT / "docs").glob("*.md"):
        text = fill(f"docs/{path.name}", path.read_text(), number=lambda source: "from docstrings")
        assert "| parameter | default |" not in text, path.name


@pytest.mark.parametrize("name", sorted(name for name in NAMED if "." not in name))
def test_classes_on_the_pages_say_what_their_numbers_mean(name):
    kind = parameters._class(name)
    numbers = [f for f in fields(kind) if f.default is not MISSING and isinstance(f.default, int | float)]
    bases = [base for base in kind.__bases__ if is_dataclass(base)]
    inherited = {f.name for base in bases for f in fields(base)}
    silent = [f.name for f in numbers if f.name not in meanings(kind) and f.name not in inherited]
    assert [found for found in silent if not re.fullmatch(r"seed|observation_dim|action_dim", found)] == []
