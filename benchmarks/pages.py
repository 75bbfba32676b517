"""Numbers on the pages: docs/numbers.toml says where each of them is and which records it comes from.

The pages are plain text. An entry finds its place in a page by what stands around the number:

- `line`: a piece of a page in which `{SOURCE}` stands for each number,
- `below`, `table`, `cells`: the table below this heading whose first column has this header. The source of
  a cell is `cells`, where `{row}` and `{column}` are its label and its header, or what `rows` and `columns`
  have for them; with `columns`, the other columns are left as they are, and a dash stays a dash,
- `below`, `table`, `whole`: such a table, written as a whole from this source.

Two entries for tables of one heading and header are for the first and the second of them. What a SOURCE may
be is in numbers.py. `make figures` writes all numbers anew, and a test compares them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.numbers import content
from chronoforest.errors import BadResult
from chronoforest.files import write_text

ROOT = Path(__file__).parents[1]
NUMBERS = ROOT / "docs" / "numbers.toml"
HOLE = re.compile(r"\{([^{}]+)\}")

Entry = dict[str, Any]
Content = Callable[[str], str]


def figures() -> None:
    """Write the numbers of README.md and of the pages under docs/ anew, from the records."""
    for page in entries():
        text = (ROOT / page).read_text(encoding="utf-8")
        filled = fill(page, text)
        if filled != text:
            write_text(ROOT / page, filled)
        print(f"{page}: {'written' if filled != text else 'the same'}")


@cache
def entries() -> dict[str, list[Entry]]:
    """The entries of each page, by its path in the repository."""
    return tomllib.loads(NUMBERS.read_text(encoding="utf-8"))


def fill(page: str, text: str, number: Content = content) -> str:
    """A page with what `number` makes of each source, instead of what stands there."""
    of_page = entries().get(page, [])
    places = [(entry.get("below"), entry.get("table")) for entry in of_page]
    for index, entry in reversed(list(enumerate(of_page))):  # a later table first, so that the count holds
        if "line" in entry:
            text = _with_line(text, entry["line"], number, page)
        else:
            text = _with_table(text, entry, places[:index].count(places[index]), number, page)
    return text


def _with_line(text: str, line: str, number: Content, page: str) -> str:
    """The page with the numbers of one piece of it; the piece may be broken into lines anywhere."""
    parts = HOLE.split(line)
    plain = [re.sub(r"(\\ |\s)+", r"\\s+", re.escape(part)) for part in parts[::2]]
    found = re.findall("(" + ")([^|\n]+?)(".join(plain) + ")", text)
    if len(found) != 1:
        raise BadResult(f"{page} should have one place that reads {line!r}, and has {len(found)}")
    pieces = [
        piece if position % 2 == 0 else number(parts[position]) for position, piece in enumerate(found[0])
    ]
    return text.replace("".join(found[0]), "".join(pieces))


def _with_table(text: str, entry: Entry, position: int, number: Content, page: str) -> str:
    """The page with one of its tables written anew."""
    lines = text.split("\n")
    tables = list(_tables(lines, entry["below"], entry["table"]))
    if position >= len(tables):
        raise BadResult(f"{page} has no table {entry['table']!r} below {entry['below']!r}")
    table = tables[position]
    shown = lines[table]
    lines[table] = number(entry["whole"]).split("\n") if "whole" in entry else _rows(shown, entry, number)
    return "\n".join(lines)


def _tables(lines: list[str], heading: str, first: str) -> Iterator[slice]:
    """Where the tables below a heading are whose first column has this header."""
    if heading not in lines:
        return
    start = lines.index(heading) + 1
    while start < len(lines) and not lines[start].startswith("#"):
        end = start
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        if end > start and _cells(lines[start])[0] == first:
            yield slice(start, end)
        start = max(end, start + 1)


def _rows(shown: list[str], entry: Entry, number: Content) -> list[str]:
    """The lines of a table, with its cells from their sources."""
    header, rule, *rows = shown
    names = _cells(header)
    columns = entry.get("columns", {name: name for name in names[1:]})
    return [header, rule, *map(partial(_row, names=names, columns=columns, entry=entry, number=number), rows)]


def _row(row: str, names: list[str], columns: dict[str, str], entry: Entry, number: Content) -> str:
    label, *cells = _cells(row)
    of_row = entry.get("rows", {}).get(label, label.replace("`", ""))
    written = [
        number(entry["cells"].format(row=of_row, column=columns[name]))
        if name in columns and cell != "–"
        else cell
        for name, cell in zip(names[1:], cells, strict=True)
    ]
    return f"| {' | '.join([label, *written])} |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
