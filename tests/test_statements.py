"""What the pages say about defaults, options, formats and names is what the code has."""

import ast
import inspect
import json
import re
import shlex
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from fakes import make_planner, scattered_problem
from test_docs import CALLED, CLI_PAGE, FENCE, ROOT, SOURCE, commands, every_page, verb_of

import chronoforest
from benchmarks.case import Case
from benchmarks.trials import Origin, PlanFigures, Trial, WalkFigures
from chronoforest import names
from chronoforest.execution import rollout
from chronoforest.execution.rollout import Rollout
from chronoforest.exports import plans as plan_files
from chronoforest.models import checkpoint
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.variants import VARIANTS
from chronoforest.types import Certificate, Leg, Plan, Problem, RoundStats
from chronoforest.types.problem_files import read_stops

FORMATS = (ROOT / "docs" / "formats.md").read_text()
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
PICTURE = re.compile(r"!\[[^\]]*\]\((?!\w+:)([^)\s]+)\)")
PLACES = ("starts", "goals", "waypoints")
WORDS = {"required": [MISSING], "off": [False]}
UNTOLD = ("the preset's", "the package's", "none", "no limit", "what the preset", "`runs/PRESET`")


@cache
def options_of(verb):
    """Every option of a command with its default, those of its dataclasses included."""
    function = CALLED[verb].load()
    hints = get_type_hints(function)
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind = hints[name]
        if is_dataclass(kind):
            found |= {field.name: field.default for field in fields(kind)}
        else:
            empty = parameter.default is inspect.Parameter.empty
            found[name] = MISSING if empty else parameter.default
    return {name.replace("_", "-"): default for name, default in found.items()}


def sections(page):
    """Text under each heading of a page."""
    return re.split(r"^## .*$", page.read_text(), flags=re.MULTILINE)


def verbs_in(section):
    shell = [text for language, text in FENCE.findall(section) if language == "sh"]
    called = re.findall(r"^(?:chronoforest|python -m benchmarks) [^\n]+", "\n".join(shell), re.MULTILINE)
    return {verb for command in called if (verb := verb_of(command))}


def is_told(shown, default):
    """Whether a default is what a table says about it."""
    if shown in WORDS:
        return any(default is value for value in WORDS[shown])
    if shown.startswith(UNTOLD):
        return default in (None, "")
    return str(default) == shown.strip("`") or f"{default}" == f"{shown}.0"


def test_every_default_in_a_table_of_options_is_the_commands():
    wrong = []
    for section in sections(CLI_PAGE):
        for cells, shown in re.findall(r"^\| (`--[^|]+) \| ([^|]+) \|", section, re.MULTILINE):
            for option in re.findall(r"--([\w-]+)", cells):
                defaults = {verb: options_of(verb).get(option) for verb in verbs_in(section)}
                having = {verb: d for verb, d in defaults.items() if option in options_of(verb)}
                if not having or not all(is_told(shown.strip(), default) for default in having.values()):
                    wrong.append(f"--{option}: {shown} said, {having} found")
    assert wrong == []


@every_page
def test_every_default_in_brackets_after_an_option_is_some_commands(page):
    known = {(name, str(default)) for verb in CALLED for name, default in options_of(verb).items()}
    told = re.findall(r"`--([\w-]+)` \(`?([\w./-]+)`?\)", page.read_text())
    not_ours = {("device", "auto"), ("workers", "all"), ("seed", "0")}  # of `python -m benchmarks expert`
    assert set(told) - not_ours <= known


@cache
def constants():
    """Numbers in capitals at the top of all modules, by name."""
    found = {}
    for path in [*(SOURCE / "chronoforest").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign):
                targets = ast.unparse(node.targets[0]).strip("()").split(", ")
                values = ast.unparse(node.value).strip("()").split(", ")
                for name, value in zip(targets, values, strict=False):
                    found.setdefault(name, set()).add(value)
    return {name: {float(v) for v in values if NUMBER.fullmatch(v)} for name, values in found.items()}


@every_page
def test_every_constant_with_a_value_has_it(page):
    text = page.read_text()
    rows = re.findall(r"^\| `([A-Z_]{3,})` \| `(-?[\d.]+)` \|", text, re.MULTILINE)
    said = re.findall(r"`([A-Z_]{3,})` (?:=|is) (-?[\d.]*\d)", text)
    wrong = [
        f"{name} is {constants().get(name)}, not {v}"
        for name, v in rows + said
        if float(v) not in constants().get(name, ())
    ]
    assert wrong == []


def table(heading):
    """Rows of the tables under a heading of formats.md: keys, and what is said about them."""
    text = FORMATS.partition(f"\n## {heading}")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \| (.+) \|$", text, re.MULTILINE)
    return {key: said for keys, said in rows for key in re.findall(r"`(\w+)`", keys)}


def named(text):
    """The names in a sentence such as `per round: round_index, route (…), seconds`."""
    listed = re.sub(r"\([^)]*\)", "", text).partition(":")[2] or text
    return set(re.findall(r"\w+", listed.partition(";")[0]))


def field_names(kind):
    return {field.name for field in fields(kind)}


def test_the_table_of_a_plan_has_the_keys_of_a_plan():
    problem = Problem.from_dict({**scattered_problem(1, 1).to_dict(), "fix": {"W1": "first"}})
    written = json.loads(make_planner().plan(problem, variant="online").to_json())
    said = table("Plan")
    assert set(said) == set(written)
    assert named(said["routes"]) == set(written["routes"][0])
    legs = re.search(r"`legs` \(([^)]+)\)", said["routes"])[1]
    assert set(legs.split(", ")) == field_names(Leg)
    assert named(said["rounds"]) == field_names(RoundStats)
    assert set(re.findall(r"`(\w+)`", said["certificate"])) == field_names(Certificate)
    assert set(re.findall(r"`(\w+)`", said["problem"])) == set(written["problem"])
    assert field_names(Plan) >= set(written["routes"][0])


def test_the_table_of_trials_has_the_keys_of_trials():
    said = table("Trials")
    assert set(said) == field_names(Trial)
    case, _, choice = said["case"].partition("; and the choice of the planner: ")
    assert set(case.split(", ")) == field_names(Case) - {"choice"}
    assert set(choice.split(", ")) == field_names(PlannerChoice)
    assert set(said["plan"].partition(";")[0].split(", ")) == field_names(PlanFigures)
    assert set(re.sub(r" \([^)]*\)", "", said["walk"]).partition(";")[0].split(", ")) == field_names(
        WalkFigures
    )
    assert field_names(Origin) == {"version", "device", "weights", "preset"}


def test_the_section_of_walks_has_the_keys_of_walks():
    said = FORMATS.partition("\n## Walk")[2].partition("\n## ")[0]
    listed = said.partition("per agent: ")[2].partition(", the followed path")[0]
    told = set(re.findall(r"`(\w+)`", listed))
    assert told - {"success", "visited"} <= field_names(Rollout) | {"steps"}
    assert field_names(Rollout) <= told | {"visits"}
    assert rollout.FORMAT in said


@pytest.mark.parametrize("form", [plan_files.FORMAT, rollout.FORMAT, checkpoint.FORMAT])
def test_every_format_is_named(form):
    assert f"`{form}`" in FORMATS


def test_every_variant_is_in_the_table_of_variants():
    page = (ROOT / "docs" / "planning.md").read_text()
    rows = page.partition("| variant |")[2].partition("\n\n")[0].split("\n")
    listed = [name for row in rows for name in re.findall(r"`([\w-]+)`", row.partition(" | ")[0])]
    assert sorted(listed) == sorted(VARIANTS)


@every_page
def test_every_preset_in_a_command_exists(page):
    own = {"yard", "city", "strait", "NAME", "PRESET"}
    told = {word for command in commands(page) for word in re.findall(r"--preset[ =](\S+)", command)}
    assert {name for name in told if "{" not in name} - own <= {*names.PRESETS, *names.PRESETS.values()}


@every_page
def test_every_file_of_the_repository_that_is_named_is_there(page):
    told = re.findall(
        r"`((?:src|tests|docs|records|benchmarks|examples)/[\w./*-]+)`", FENCE.sub("", page.read_text())
    )
    assert [path for path in told if "PRESET" not in path and not list(ROOT.glob(path.rstrip("/")))] == []


@every_page
def test_every_picture_is_small_enough_to_wait_for(page):
    pictures = {page.parent / name for name in PICTURE.findall(page.read_text())}
    assert [path.name for path in pictures if path.stat().st_size > 600_000] == []


@every_page
def test_every_make_target_that_is_named_exists(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z]+)", page.read_text(), re.MULTILINE)) <= targets


@every_page
def test_every_piece_of_python_uses_what_there_is(page):
    for language, text in FENCE.findall(page.read_text()):
        if language == "python":
            tree = ast.parse(text)
            used = {
                node.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "cf"
            }
            assert used <= set(chronoforest.__all__)
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    module = __import__(node.module, fromlist=["x"])
                    assert all(
                        hasattr(module, alias.name) or _is_module(node.module, alias.name)
                        for alias in node.names
                    )


def _is_module(package, name):
    return any((root / Path(*package.split("."), f"{name}.py")).is_file() for root in (SOURCE, ROOT))


def test_choices_that_the_help_names_are_those_there_are():
    """Doc strings of options list trackers and distances by hand."""
    help_text = inspect.getdoc(PlannerChoice)
    assert all(name in help_text for name in (*names.TRACKERS, *names.DISTANCES))
    assert get_args(get_type_hints(PlannerChoice)["mode"]) == ("default", "fast")


def shown_plan(name):
    """The problem of a page, and what it shows of the plan: the lines of routes and of all of them."""
    text = (ROOT / "docs" / name).read_text()
    fences = FENCE.findall(text)
    command = next(text for language, text in fences if language == "sh" and "chronoforest plan " in text)
    (shown,) = (text for language, text in fences if language == "text")
    words = shlex.split(command)
    points = {word[2:]: after for word, after in pairwise(words) if word.startswith("--")}
    written = [json.loads(text) for language, text in fences if language == "json"]
    asked = written[0] if written else {key: read_stops(key, points[key])[0] for key in PLACES}
    return chronoforest.Problem(**asked), shown.splitlines()[1:]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["first-plan.md", "fleet.md"])
def test_what_a_page_shows_of_a_plan_is_what_comes_out(page):
    problem, shown = shown_plan(page)
    result = chronoforest.load_planner("point-giant").plan(problem, seed=0)
    assert result.summary().splitlines()[1:] == shown
