"""Tables of parameters from docstrings: of all of a class, of one of its fields, or of a constant of a
module, as in `parameters; SearchParams, Variant.piece_samples, junction.NUM_TRIES`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.report.tables import TextTable
from chronoforest.errors import InvalidParameter

ROOT = Path(__file__).parents[1]
_FILES = sorted(path for room in ("src/chronoforest", "benchmarks") for path in (ROOT / room).rglob("*.py"))
HEADER = ("parameter", "default", "meaning")
PLAIN = (bool, int, float, str, tuple, type(None))  # what a table can show as a default

Row = tuple[str, str, str]


def parameter_table(names: str) -> TextTable:
    """A row for every parameter of the classes, and for every constant, in the order of the names."""
    rows = tuple(row for name in names.split(",") for row in _rows(name.strip()))
    return TextTable("", HEADER, rows)


def meanings(kind: type[Any]) -> dict[str, str]:
    """What the docstring of a class says about each of its fields."""
    text = " ".join((kind.__doc__ or "").split())
    names = "|".join(sorted((field.name for field in fields(kind)), key=len, reverse=True))
    found = list(re.finditer(rf"(?<![\w.`])((?:{names})(?:, (?:{names}))*): ", text))
    ends = [*(after.start() for after in found[1:]), len(text)]
    return {
        name: text[entry.end() : end].strip(" ;.")
        for entry, end in zip(found, ends, strict=True)
        for name in entry[1].split(", ")
    }


def _rows(name: str) -> Iterator[Row]:
    holder, _, part = name.partition(".")
    if part.isupper():
        found = [of[part] for path in _FILES if path.stem == holder and part in (of := _constants(path))]
        if len(found) != 1:
            raise InvalidParameter(f"one module {holder}.py should say what {part} is, found {len(found)}")
        value, text = found[0]
        yield f"`{part}`", f"`{value}`", _cell(text[:1].lower() + text[1:])
        return
    kind = _class(holder)
    told = meanings(kind)
    shown = [field for field in fields(kind) if field.name == part or not part]
    for field in shown:
        if field.name in told and field.default is not MISSING and isinstance(field.default, PLAIN):
            yield f"`{holder}.{field.name}`", f"`{field.default!r}`", _cell(told[field.name])
    if part and part not in told:
        raise InvalidParameter(f"the docstring of {holder} says nothing about {part!r}")


def _class(name: str) -> type[Any]:
    """The class of that name, wherever it is defined."""
    defines = re.compile(rf"^class {re.escape(name)}\b", re.MULTILINE)
    found = [path for path in _FILES if defines.search(path.read_text(encoding="utf-8"))]
    if len(found) != 1:
        raise InvalidParameter(f"one module should define {name}, found {[path.name for path in found]}")
    base = ROOT / "src" if found[0].is_relative_to(ROOT / "src") else ROOT
    module = import_module(".".join(found[0].relative_to(base).with_suffix("").parts))
    kind: type[Any] = getattr(module, name)
    return kind


@cache
def _constants(path: Path) -> dict[str, tuple[str, str]]:
    """Value and meaning of every constant of a module that has a docstring below it."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    found = {}
    for node, after in pairwise(body):
        if isinstance(node, ast.Assign) and isinstance(after, ast.Expr):
            meaning = " ".join(str(ast.literal_eval(after.value)).split()).strip(" ;.")
            targets = ast.unparse(node.targets[0]).strip("()").split(", ")
            is_one = len(targets) == 1 or not isinstance(node.value, ast.Tuple)
            values = [node.value] if is_one else list(ast.iter_child_nodes(node.value))[: len(targets)]
            for target, value in zip(targets, values, strict=True):
                found[target] = (ast.unparse(value), meaning)
    return found


def _cell(text: str) -> str:
    """A meaning as a cell: a bar would end it."""
    return text.replace("|", "\\|")
