"""Problems that people write by hand: one or many in a file, or points in a CSV file."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chronoforest.errors import InvalidProblem
from chronoforest.files import DAMAGE, reading
from chronoforest.typed import check_whole, from_plain
from chronoforest.types import Problem

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""What the plan of a problem may be called: its file gets that name."""

TAKEN = frozenset({"config"})
"""Names of other files beside the plans."""

ENDS = ("start_x", "start_y", "goal_x", "goal_y")
"""Columns that a table of problems has."""


def load_problem(path: str | Path) -> Problem:
    """The problem of a JSON file with `starts`, `goals` and, if there are any, `waypoints`; a saved plan will
    do too."""
    with reading(path, "a problem", InvalidProblem):
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        return _problem(values)


def _problem(values: Any) -> Problem:
    if not isinstance(values, dict):
        raise ValueError('it must be an object such as {"starts": [[0, 0]], "goals": [[52, 36]]}')
    return from_plain(Problem, {"waypoints": [], **values.get("problem", values)})


@dataclass(frozen=True, eq=False)
class NamedProblem:
    """One of many problems; name: of its plan; seed: None where the file tells none."""

    name: str
    problem: Problem
    seed: int | None = None

    def seed_or(self, seed: int) -> int:
        """Its own, or the one of all."""
        return seed if self.seed is None else self.seed


def load_problems(path: str | Path) -> list[NamedProblem]:
    """The problems of a file: a list of them in `.json`, one a line in `.jsonl`, one a row in `.csv`.

    Each may have a `name` and a `seed`; those without a name are called by their number, from 000001 on.
    """
    readers: dict[str, Callable[[Path], list[tuple[str, Any]]]] = {
        ".json": _listed,
        ".jsonl": _in_lines,
        ".csv": _in_rows,
    }
    path = Path(path)
    if path.suffix.lower() not in readers:
        raise InvalidProblem(f"{path}: problems are read from files that end in {', '.join(readers)}")
    with reading(path, "a file of problems", InvalidProblem):
        rows = readers[path.suffix.lower()](path)
        if not rows:
            raise ValueError("it has no problems")
        found = [_named(number, *row) for number, row in enumerate(rows, start=1)]
        _refuse_same_names(found, [where for where, _ in rows])
        return found


def _listed(path: Path) -> list[tuple[str, Any]]:
    """Where each problem stands, and what stands there."""
    values = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(values, list):
        raise ValueError('it must be a list such as [{"starts": [[0, 0]], "goals": [[52, 36]]}]')
    return [(f"problem {number}", one) for number, one in enumerate(values, start=1)]


def _in_lines(path: Path) -> list[tuple[str, Any]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    numbered = [(f"line {number}", line) for number, line in enumerate(lines, start=1) if line.strip()]
    return [(where, _placed(where, json.loads, line)) for where, line in numbered]


def _in_rows(path: Path) -> list[tuple[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file, skipinitialspace=True)
        names = {name: name.strip().lower() for name in table.fieldnames or () if name}
        if missing := [name for name in ENDS if name not in names.values()]:
            raise ValueError(f"it lacks {missing}; a table of problems has the columns {', '.join(ENDS)}")
        found = []
        for row in table:
            cells = {names[name]: cell for name, cell in row.items() if name in names and cell}
            where = f"line {table.line_num}"
            found.append((where, _placed(where, _from_cells, cells)))
        return found


def _from_cells(cells: Mapping[str, str]) -> dict[str, Any]:
    """A row of a table as a problem is written in JSON."""
    if missing := [name for name in ENDS if name not in cells]:
        raise ValueError(f"nothing stands under {missing}")
    start_x, start_y, goal_x, goal_y = (float(cells[name]) for name in ENDS)
    values: dict[str, Any] = {"starts": [[start_x, start_y]], "goals": [[goal_x, goal_y]]}
    values["waypoints"] = [list(map(float, word.split(","))) for word in cells.get("waypoints", "").split()]
    if "name" in cells:
        values["name"] = cells["name"].strip()
    if "seed" in cells:
        values["seed"] = int(cells["seed"])
    return values


def _placed(where: str, read: Callable[..., Any], *arguments: Any) -> Any:
    """What `read` returns; what it raises is told with its place."""
    try:
        return read(*arguments)
    except DAMAGE as error:
        raise ValueError(f"{where}: {error}") from error


def _named(number: int, where: str, values: Any) -> NamedProblem:
    return _placed(where, _one, number, values)


def _one(number: int, values: Any) -> NamedProblem:
    if not isinstance(values, dict):
        raise ValueError('it must be an object such as {"starts": [[0, 0]], "goals": [[52, 36]]}')
    own = {key: value for key, value in values.items() if key not in ("name", "seed")}
    name, seed = values.get("name", f"{number:06d}"), values.get("seed")
    if not isinstance(name, str) or not NAME.fullmatch(name) or name.lower() in TAKEN:
        raise ValueError(f"{name!r:.60} is no name for a plan; use letters, digits, '.', '-' and '_'")
    if seed is not None:
        check_whole("seed", seed)
    return NamedProblem(name, _problem(own), seed)


def _refuse_same_names(problems: Sequence[NamedProblem], places: Sequence[str]) -> None:
    """Some file systems tell no capital letters apart."""
    seen: dict[str, str] = {}
    for one, where in zip(problems, places, strict=True):
        first = seen.setdefault(one.name.lower(), where)
        if first != where:
            raise ValueError(f"{first} and {where} are both called {one.name!r}")


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
