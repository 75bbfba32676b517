"""Small changes to the code, one at a time: a change that no test of its room notices has survived.

`python tests/mutants.py --rooms search routing` tries every mutant of the two rooms, `--sample 150 --seed 0`
a random part of each room's; the outcomes go to a file of JSON lines, from which a second run goes on, and
with `--again` the survivors in it are tried once more. `equivalent_mutants.txt` names those that change
nothing.

Pytest collects a room's tests once; a child is forked for each mutant, gives one function its changed code
and runs the tests that call this function, the quickest first. Only the bodies of functions are changed, and
no texts: a constant or a default outside is a choice and not behaviour.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import hypothesis
import pytest
from scipy.stats import binomtest

HERE = Path(__file__).resolve().parent
ROOMS = ("search", "routing", "planning")
EQUIVALENT = HERE / "equivalent_mutants.txt"

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
SWAPPED = [("min", "max"), ("argmin", "argmax"), ("minimum", "maximum"), ("any", "all"), ("zeros", "ones")]
CALLED = {**dict(SWAPPED), **{right: left for left, right in SWAPPED}, "sorted": "list", "reversed": "list"}
KEPT_KEYWORDS = {"dtype", "strict", "method"}
"""They guard or name something; no number depends on them."""
TIMING = ("perf_counter", "seconds", "logger")


@dataclass(frozen=True)
class Mutant:
    """One change: `place` of `parent` in `tree` becomes `new`. The name stays the same when lines move."""

    file: Path
    function: str
    line: int
    name: str
    tree: ast.Module
    parent: ast.AST
    place: tuple[str, int | None]
    new: object

    @property
    def target(self) -> tuple[str, str]:
        """(file, function) whose tests should notice."""
        return str(self.file), self.function

    def apply(self) -> None:
        """Give every function object of that name the changed code."""
        _put(self.parent, self.place, self.new)
        module = compile(ast.fix_missing_locations(self.tree), str(self.file), "exec", dont_inherit=True)
        code = next(code for code in _codes(module) if code.co_qualname == self.function)
        for found in gc.get_objects():
            if type(found) is FunctionType and _target(found.__code__) == self.target:
                found.__code__ = code


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _target(code: CodeType) -> tuple[str, str]:
    return code.co_filename, code.co_qualname


# What may change: each of these takes a node and yields (field, index in the field, replacement).

Change = tuple[str, int | None, object]


def _of_operator(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                yield from (("ops", index, other()) for other in COMPARED[type(operator)])
        case ast.AugAssign(op=ast.Add()):  # of lists: a TypeError
            return
        case ast.BinOp() | ast.AugAssign() if type(node.op) in COMPUTED:
            yield "op", None, COMPUTED[type(node.op)]()
        case ast.BoolOp():
            yield "op", None, ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.Constant(value=bool()):
            yield "value", None, not node.value
        case ast.Constant(value=int() | float()):
            yield "value", None, node.value + 1


def _of_call(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Call):
        return
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name in CALLED and isinstance(node.func, ast.Name):
        yield "func", None, ast.Name(CALLED[name], ast.Load())
    elif name in CALLED and isinstance(node.func, ast.Attribute):
        yield "func", None, ast.Attribute(node.func.value, CALLED[name], ast.Load())
    if name[:1].islower():
        for index, keyword in enumerate(node.keywords):
            if keyword.arg not in (None, *KEPT_KEYWORDS):
                yield "keywords", None, [*node.keywords[:index], *node.keywords[index + 1 :]]


def _of_condition(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If() | ast.IfExp():
            yield from (("test", None, ast.Constant(value)) for value in (True, False))
        case ast.While() if not isinstance(node.test, ast.Constant):
            yield "test", None, ast.Constant(False)
        case ast.comprehension():
            yield from (("ifs", None, [*node.ifs[:k], *node.ifs[k + 1 :]]) for k in range(len(node.ifs)))
        case ast.Slice():
            parts = ("lower", "upper", "step")
            yield from ((field, None, None) for field in parts if getattr(node, field) is not None)


def _of_parent(node: ast.AST, field: str, index: int | None) -> Iterator[Change]:
    """Changes that replace the node itself: `not`, `~` and minus dropped, statements deleted."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield field, index, node.operand
    is_effect = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    is_stored = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
    if is_effect or is_stored or isinstance(node, ast.AugAssign | ast.Continue | ast.Break):
        yield field, index, ast.Pass()


def _is_left_out(node: ast.AST) -> bool:
    """Messages, docstrings, protocols, and what only measures time."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(node, ast.ClassDef):
        return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.keyword) and node.arg in KEPT_KEYWORDS:
        return True
    is_simple = isinstance(node, ast.Expr | ast.Assign | ast.keyword)
    return is_simple and any(word in ast.unparse(node) for word in TIMING)


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "args", "returns", "decorator_list") and not isinstance(node, ast.Call):
            continue
        if isinstance(value, ast.AST):
            yield value, field, None
        elif isinstance(value, list):
            yield from ((item, field, i) for i, item in enumerate(value) if isinstance(item, ast.AST))


def _walk(node: ast.AST) -> Iterator[tuple[ast.AST, Change]]:
    """(the node that holds the change, change) for every change below a node."""
    for child, field, index in _children(node):
        if _is_left_out(child):
            continue
        yield from ((node, change) for change in _of_parent(child, field, index))
        for changes in (_of_operator, _of_call, _of_condition):
            yield from ((child, change) for change in changes(child))
        yield from _walk(child)


def _functions(node: ast.Module | ast.ClassDef, scope: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes, by qualified name."""
    for child in node.body:
        if isinstance(child, ast.FunctionDef):
            yield scope + child.name, child
        elif isinstance(child, ast.ClassDef) and not _is_left_out(child):
            yield from _functions(child, f"{scope}{child.name}.")


def _put(node: ast.AST, place: tuple[str, int | None], new: object) -> object:
    """Write into a node; returns what was there."""
    field, index = place
    old = getattr(node, field) if index is None else getattr(node, field)[index]
    if index is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[index] = new
    return old


def mutants_of(file: Path, package: Path) -> list[Mutant]:
    """All mutants of a file, in the order of its lines."""
    tree = ast.parse(file.read_text())
    parents = {id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    names: Counter[str] = Counter()
    found = []
    for function, body in _functions(tree):
        for parent, (field, index, new) in _walk(body):
            statement = parent
            while not isinstance(statement, ast.stmt):
                statement = parents[id(statement)]
            before = ast.unparse(statement)
            old = _put(parent, (field, index), new)
            after = ast.unparse(ast.fix_missing_locations(statement))
            _put(parent, (field, index), old)
            name = f"{file.relative_to(package)} {function}: {_in_words(before, after)}"
            names[name] += 1
            name += f" #{names[name]}" if names[name] > 1 else ""
            line = getattr(old, "lineno", getattr(parent, "lineno", statement.lineno))
            found.append(Mutant(file, function, line, name, tree, parent, (field, index), new))
    return found


def _in_words(before: str, after: str, context: int = 24) -> str:
    """What differs, with some characters around it."""
    before, after = " ".join(before.split()), " ".join(after.split())
    start = _num_equal(before, after)
    end = _num_equal(before[start:][::-1], after[start:][::-1])
    first = max(0, start - context)
    old, new = (text[first : len(text) - max(0, end - context)] for text in (before, after))
    return f"{old}  ->  {new}"


def _num_equal(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def in_child(work: Callable[[], int], cpu_seconds: int) -> str:
    """Run work in a fork: 'survived' for 0, 'killed' for 1, 'timeout' beyond the limit, else 'error'."""
    child = os.fork()
    if child == 0:
        code = 9
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
            signal.alarm(10 * cpu_seconds)
            code = work()
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        late = (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL)
        return "timeout" if os.WTERMSIG(status) in late else "killed"
    return {0: "survived", 1: "killed"}.get(os.WEXITSTATUS(status), "error")


def run_items(session: pytest.Session, items: Sequence[pytest.Item]) -> int:
    """How many of the tests fail, up to the first."""
    for index, item in enumerate(items):
        following = items[index + 1] if index + 1 < len(items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            break
    return session.testsfailed


def watch(session: pytest.Session) -> tuple[dict[str, list[tuple[str, str]]], dict[str, float]]:
    """Per test: the functions of the package it calls, and its seconds."""
    calls: dict[str, list[tuple[str, str]]] = {}
    seconds: dict[str, float] = {}
    for item in session.items:
        called: set[tuple[str, str]] = set()

        def note(frame: FrameType, event: str, _: object, called: set[tuple[str, str]] = called) -> None:
            if event == "call" and "/chronoforest/" in frame.f_code.co_filename:
                called.add(_target(frame.f_code))

        started = time.process_time()
        sys.setprofile(note)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        sys.setprofile(None)
        calls[item.nodeid], seconds[item.nodeid] = sorted(called), time.process_time() - started
    assert session.testsfailed == 0, "tests fail without a mutant"
    return calls, seconds


@dataclass
class Examination:
    """A pytest plugin: instead of running the tests once, it tries the mutants of a room on them."""

    name: str
    mutants: list[Mutant]
    record: Path

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Watch the tests once in a child, then one child per mutant."""
        notes = self.record.with_suffix(f".{self.name}.watched")

        def observe() -> int:
            notes.write_text(json.dumps(watch(session)))
            return 0

        assert in_child(observe, 1200) == "survived", f"the tests of {self.name} fail without a mutant"
        calls, seconds = json.loads(notes.read_text())
        notes.unlink()
        callers: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
        for item in sorted(session.items, key=lambda item: seconds[item.nodeid]):
            for target in calls[item.nodeid]:
                callers[tuple(target)].append(item)
        for mutant in self.mutants:
            items = callers[mutant.target]
            limit = int(5 + 3 * sum(seconds[item.nodeid] for item in items))
            self.write(mutant, self.outcome(session, mutant, items, limit))
        return True

    def outcome(self, session: pytest.Session, mutant: Mutant, items: list[pytest.Item], limit: int) -> str:
        """What becomes of a mutant."""

        def work() -> int:
            mutant.apply()
            return min(1, run_items(session, items))

        return in_child(work, limit)

    def write(self, mutant: Mutant, outcome: str) -> None:
        """Append to the record."""
        with self.record.open("a") as file:
            row = {"name": mutant.name, "line": mutant.line, "outcome": outcome}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def collect_and_try(examination: Examination, tests: str) -> None:
    """One pytest session over the tests, silent."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # a mutant needs no small example
    hypothesis.settings.register_profile("mutants", phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    options = ["-m", "not slow", "--tb=no", "-s", "-p", "no:cacheprovider", "-p", "no:xdist"]
    pytest.main([tests, *options], plugins=[examination])


def equivalent() -> set[str]:
    """Names of the mutants that change nothing one could see; the lines that start with # give reasons."""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return {line.strip() for line in lines if line and not line.startswith("#")}


def report(room: str, outcomes: dict[str, Any]) -> None:
    """The survivors and their share."""
    known = equivalent()
    counted = {name: row for name, row in outcomes.items() if name.strip() not in known}
    alive = [(name, row["line"]) for name, row in counted.items() if row["outcome"] == "survived"]
    for name, line in alive:
        print(f"survived  line {line:>3}  {name}")
    if counted:
        ends = binomtest(len(alive), len(counted)).proportion_ci(method="wilson")
        print(
            f"{room}: {len(alive)} of {len(counted)} survived = {len(alive) / len(counted):.1%} "
            f"(95 %: {ends.low:.1%} to {ends.high:.1%}), {len(outcomes) - len(counted)} equivalent left out",
            flush=True,
        )


def read_record(record: Path) -> dict[str, Any]:
    """The last outcome of every mutant tried so far."""
    rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    return {row["name"]: row for row in rows}


def examine(room: str, options: argparse.Namespace) -> None:
    """Try a room's mutants that the record does not have yet, and report on all that were asked for."""
    record, package = Path(options.record).resolve(), HERE.parent / "src" / "chronoforest"
    files = sorted((package / room).rglob("*.py"))
    pool = [mutant for file in files for mutant in mutants_of(file, package)]
    if options.sample:
        pool = random.Random(options.seed).sample(pool, min(options.sample, len(pool)))
    known = read_record(record)
    done = {name for name, row in known.items() if not (options.again and row["outcome"] == "survived")}
    waiting = [mutant for mutant in pool if mutant.name not in done]
    if waiting:
        tests = str(HERE / room)
        in_child(lambda: collect_and_try(Examination(room, waiting, record), tests) or 0, 100_000)
    known = read_record(record)
    report(room, {mutant.name: known[mutant.name] for mutant in pool if mutant.name in known})


def main() -> None:
    """Try mutants, print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rooms", nargs="+", default=ROOMS)
    parser.add_argument("--sample", type=int, default=0, help="as many of each room, 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", default="mutants.jsonl", help="JSON lines, one per mutant tried")
    parser.add_argument("--again", action="store_true", help="try the record's survivors once more")
    options = parser.parse_args()
    sys.path[:0] = [str(HERE.parent / "src"), str(HERE)]
    for room in options.rooms:
        examine(room, options)


if __name__ == "__main__":
    main()
