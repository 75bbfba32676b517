"""Problems that people write by hand: a JSON file of starts, goals and waypoints, or points in a CSV file."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from chronoforest.errors import InvalidProblem
from chronoforest.files import reading
from chronoforest.typed import from_plain
from chronoforest.types import Problem


def load_problem(path: str | Path) -> Problem:
    """The problem of a JSON file with `starts`, `goals` and, if there are any, `waypoints`; a saved plan will
    do too."""
    with reading(path, "a problem", InvalidProblem):
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise ValueError('it must be an object such as {"starts": [[0, 0]], "goals": [[52, 36]]}')
        return from_plain(Problem, {"waypoints": [], **values.get("problem", values)})


def load_points(path: str | Path) -> list[list[float]]:
    """[n, 2] the points of a CSV file: its columns `x` and `y`, or its two columns where it names none."""
    with reading(path, "a CSV file of points", InvalidProblem), Path(path).open(encoding="utf-8-sig") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if any(row)]
        columns = _columns(rows[0]) if rows else None
        body = rows if columns is None else rows[1:]
        first, second = columns or (0, 1)
        return [[float(row[first]), float(row[second])] for row in body]


def _columns(head: Sequence[str]) -> tuple[int, int] | None:
    """Where x and y are; None where the first row holds numbers already."""
    names = [cell.lower() for cell in head]
    if "x" in names and "y" in names:
        return names.index("x"), names.index("y")
    if len(head) == 2 and all(map(_is_number, head)):
        return None
    raise ValueError(f"it needs columns x and y, or two columns without names; its first row is {list(head)}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
