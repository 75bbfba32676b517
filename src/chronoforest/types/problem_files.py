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
from chronoforest.typed import check_whole
from chronoforest.types import Problem
from chronoforest.types.problems import COORDINATES, NUMBER, typed_points

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""What the plan of a problem may be called: its file gets that name."""

TAKEN = frozenset({"config"})
"""Names of other files beside the plans."""

EXAMPLE = 'it must be an object such as {"starts": [[0, 0]], "goals": [[52, 36]]}'

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
        raise ValueError(EXAMPLE)
    return Problem.from_dict(values.get("problem", values))


@dataclass(frozen=True, eq=False)
class NamedProblem:
    """One of many problems; name: of its plan; seed: None where the file has none."""

    name: str
    problem: Problem
    seed: int | None = None

    def seed_or(self, seed: int) -> int:
        """Its own seed, or that of all problems."""
        return seed if self.seed is None else self.seed


def load_problems(path: str | Path) -> Problem | list[NamedProblem]:
    """What is in a file: one problem where a `.json` file holds an object; otherwise many, a list of them in
    `.json`, one a line in `.jsonl`, one a row in `.csv`.

    Each of many may have a `name` and a `seed`; those without a name are called by their number, from 000001
    on.
    """
    readers = {".json": _listed, ".jsonl": _in_lines, ".csv": _in_rows}
    path = Path(path)
    if path.suffix.lower() not in readers:
        raise InvalidProblem(f"{path}: problems are read from files that end in {', '.join(readers)}")
    with reading(path, "a file of problems", InvalidProblem):
        rows = readers[path.suffix.lower()](path)
        if rows and rows[0][0] == "":
            return _problem(rows[0][1])
        if not rows:
            raise ValueError("it has no problems")
        found, seen = [], dict[str, str]()
        for number, (where, values) in enumerate(rows, start=1):
            found.append(_placed(where, _named, number, values))
            # Names that differ in capital letters alone are the same file on some systems.
            first = seen.setdefault(found[-1].name.lower(), where)
            if first != where:
                raise ValueError(f"{first} and {where} are both called {found[-1].name!r}")
        return found


def _listed(path: Path) -> list[tuple[str, Any]]:
    """Where each problem stands, and what stands there; nowhere in particular where it is the only one."""
    values = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(values, list):
        return [("", values)]
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
    """What `read` returns; what it raises names its place."""
    try:
        return read(*arguments)
    except DAMAGE as error:
        raise ValueError(f"{where}: {error}") from error


def _named(number: int, values: Any) -> NamedProblem:
    if not isinstance(values, dict):
        raise ValueError(EXAMPLE)
    own = {key: value for key, value in values.items() if key not in ("name", "seed")}
    name, seed = values.get("name", f"{number:06d}"), values.get("seed")
    if not isinstance(name, str) or not NAME.fullmatch(name) or name.lower() in TAKEN:
        raise ValueError(f"{name!r:.60} is no name for a plan; use letters, digits, '.', '-' and '_'")
    if seed is not None:
        check_whole("seed", seed)
    return NamedProblem(name, _problem(own), seed)


def typed_problem(starts: str, goals: str = "", waypoints: str = "") -> Problem:
    """The problem of three texts, each with points or the name of a CSV file; goals are the starts where
    there are none."""
    if not starts.strip():
        raise InvalidProblem('there is no start; say where to go, as in starts "0,0" and goals "52,36"')
    from_starts = read_stops("starts", starts)
    to_goals = read_stops("goals", goals) if goals else from_starts
    between = read_stops("waypoints", waypoints) if waypoints else ([], [])
    labels = [*from_starts[1], *between[1], *to_goals[1]]
    return Problem(from_starts[0], to_goals[0], between[0], labels)


def read_stops(name: str, text: str) -> tuple[list[list[float]], list[str]]:
    """[n, 2] points and what each is called, "" where nothing is said: typed, or in a CSV file."""
    if text.lower().endswith(".csv"):
        return load_points(text)
    points = typed_points(name, text).tolist()
    return points, [""] * len(points)


def load_points(path: str | Path) -> tuple[list[list[float]], list[str]]:
    """[n, 2] the points of a CSV file and their names: its columns such as `x` and `y`, or `lon` and `lat`,
    and `name`; or its two columns where it names none."""
    with reading(path, "a CSV file of points", InvalidProblem), Path(path).open(encoding="utf-8-sig") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if any(row)]
        head = [cell.lower() for cell in rows[0]] if rows else []
        has_head = bool(head) and not (len(head) == 2 and all(re.fullmatch(NUMBER, cell) for cell in head))
        x, y = _columns(head) if has_head else (0, 1)
        body = rows[1:] if has_head else rows
        names = [row[head.index("name")] if "name" in head else "" for row in body]
        return [[float(row[x]), float(row[y])] for row in body], names


def _columns(head: Sequence[str]) -> tuple[int, int]:
    """Where the coordinates are."""
    for x, y in COORDINATES:
        if x in head and y in head:
            return head.index(x), head.index(y)
    known = " or ".join(f"{x} and {y}" for x, y in COORDINATES)
    raise ValueError(f"it needs columns {known}, or two columns without names; its first row is {list(head)}")
