"""The README and the pages under docs/ say what the code does: links, commands, names and defaults."""

import ast
import re
import runpy
import tomllib
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

import chronoforest
from chronoforest.cli import VERBS, main
from chronoforest.modules import EXTRAS
from chronoforest.planning.result import PlanResult
from chronoforest.types import Plan

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
README = ROOT / "README.md"
CLI_PAGE = ROOT / "docs" / "cli.md"
PAGES = [README, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

LINK = re.compile(r"\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEFAULT = re.compile(r"^\| `(\w+)\.(\w+)` \| `([^`]+)` \|", re.MULTILINE)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text())


def links(page: Path) -> list[tuple[str, Path]]:
    """Text and file of every relative link."""
    found = (match.groups() for match in LINK.finditer(prose(page)))
    return [(text, page.parent / target.partition("#")[0]) for text, target in found if "://" not in target]


def commands(page: Path) -> list[str]:
    """What follows `chronoforest` wherever a page calls it in code."""
    shell = (
        line
        for language, text in FENCE.findall(page.read_text())
        if language == "sh"
        for line in text.split("\n")
    )
    inline = re.findall(r"`([^`\n]+)`", prose(page))
    called = (text.partition("#")[0].strip() for text in (*shell, *inline))
    return [text.removeprefix("chronoforest ") for text in called if text.startswith("chronoforest ")]


def verb_of(command: str) -> str | None:
    words = command.split()
    return next((name for n in (2, 1) if (name := " ".join(words[:n])) in VERBS), None)


@cache
def module_of(class_name: str) -> str:
    """The module that defines a class."""
    defines = re.compile(rf"^class {class_name}\b", re.MULTILINE)
    packages = ((SOURCE, "chronoforest"), (ROOT, "benchmarks"))
    files = [(folder, path) for folder, name in packages for path in (folder / name).rglob("*.py")]
    ((folder, path),) = ((folder, path) for folder, path in files if defines.search(path.read_text()))
    return ".".join(path.relative_to(folder).with_suffix("").parts)


@every_page
def test_every_relative_link_leads_to_a_file(page):
    assert [str(target) for _, target in links(page) if not target.exists()] == []


@every_page
def test_every_name_that_links_to_a_source_file_is_defined_there(page):
    named = [(text.strip("`").split(".")[-1], path) for text, path in links(page) if path.suffix == ".py"]
    names = [(name, path) for name, path in named if name != "py" and path.exists() and " " not in name]
    missing = [
        f"{name} in {path}"
        for name, path in names
        if not re.search(rf"^\s*(def|class) {name}\b|^{name}\b", path.read_text(), re.MULTILINE)
    ]
    assert missing == []


@every_page
def test_lists_look_on_the_site_as_they_do_in_the_repository(page):
    """Markdown on the site wants four blanks a level and an empty line before a list and a table."""
    item = re.compile(r"( *)(?:[-*]|\d+\.) ")
    lines = prose(page).split("\n")
    indents = [len(found[1]) for line in lines if (found := item.match(line))]
    assert [indent for indent in indents if indent % 4] == []
    glued = [
        line
        for before, line in pairwise(lines)
        if before.strip() and not before.startswith(" ")
        if (item.match(line) and not item.match(before))
        or (line.startswith("|") and not before.startswith("|"))
    ]
    assert glued == []


@every_page
def test_every_command_exists(page):
    named = [command for command in commands(page) if not command.startswith(("COMMAND", "-", "help"))]
    assert [command for command in named if verb_of(command) is None] == []


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_option_named_with_a_command_exists(verb, capsys):
    main([*verb.split(), "--help"])
    offered = set(re.findall(r"--[\w-]+", capsys.readouterr().out))
    named = {
        option
        for page in PAGES
        for command in commands(page)
        if verb_of(command) == verb
        for option in re.findall(r"(?<=\s)--[a-z][\w-]*", command)
    }
    assert named <= offered


def test_the_page_of_the_command_line_lists_every_command():
    assert {verb_of(command) for command in commands(CLI_PAGE)} >= set(VERBS)


def test_every_make_target_in_the_readme_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z]+)", README.read_text(), re.MULTILINE)) <= targets


def test_every_public_name_in_the_readme_exists():
    named = set(re.findall(r"\bcf\.(\w+)", README.read_text()))
    assert named
    assert named <= set(chronoforest.__all__)
    assert all(hasattr(chronoforest, name) for name in named)


def test_the_quick_start_reads_what_results_have():
    (code,) = (text for language, text in FENCE.findall(README.read_text()) if language == "python")
    read = {ast.unparse(node) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)}
    of_result = {text.split(".")[1].split("[")[0] for text in read if text.startswith("result.")}
    of_route = {text.split(".")[-1] for text in read if text.startswith("result.routes[0].")}
    assert {"complete", "routes", "unmet", "save", "plot"} <= of_result
    assert {"order", "path"} <= of_route
    assert of_result <= {*dir(PlanResult), *(field.name for field in fields(PlanResult))}
    assert of_route <= {*dir(Plan), *(field.name for field in fields(Plan))}


@every_page
def test_every_default_in_a_table_is_the_default_in_the_code(page):
    wrong = []
    for class_name, name, shown in DEFAULT.findall(page.read_text()):
        defaults = {
            f.name: f.default for f in fields(getattr(import_module(module_of(class_name)), class_name))
        }
        default = defaults.get(name, MISSING)
        if default is MISSING or repr(default) != shown:
            wrong.append(f"{class_name}.{name} is {default!r}, not {shown}")
    assert wrong == []


def test_every_dependency_is_explained_with_its_extra():
    extras = PROJECT["optional-dependencies"]
    told = [*PROJECT["dependencies"], *(requirement for extra in extras.values() for requirement in extra)]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in told} - {"chronoforest"}
    page = (ROOT / "docs" / "dependencies.md").read_text()
    explained = re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)
    assert sorted(names) == sorted(explained)
    for name, extra in re.findall(r"^\| `([\w-]+)` \| `(\w+)` \|", page, re.MULTILINE):
        assert any(requirement.startswith(name) for requirement in extras[extra])


def test_every_extra_that_an_error_names_exists():
    named = [
        extra
        for path in (SOURCE / "chronoforest").rglob("*.py")
        for extra in re.findall(
            r'(?:optional|MissingExtra)\("[\w.]+", "(\w+)"\)|require\("(\w+)"\)', path.read_text()
        )
    ]
    assert {a or b for a, b in named} >= {"sim", "view", "parquet"}
    assert {a or b for a, b in named} <= set(PROJECT["optional-dependencies"])
    for extra, modules in EXTRAS.items():
        wanted = " ".join(PROJECT["optional-dependencies"][extra]).replace("-", "_")
        assert all(module in wanted for module in modules)


def test_every_dependency_has_a_tested_version():
    extras = PROJECT["optional-dependencies"]
    told = [*PROJECT["dependencies"], *(requirement for extra in extras.values() for requirement in extra)]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in told} - {"chronoforest"}
    pinned = set(re.findall(r"^([\w-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    assert names <= pinned


def test_a_package_index_shows_the_readme_with_links_that_lead_somewhere():
    setup = runpy.run_path(str(ROOT / "setup.py"))
    text = setup["shown_readme"](README.read_text())
    assert not [
        target for _, target in LINK.findall(FENCE.sub("", text)) if "://" not in target and target[0] != "#"
    ]
    assert f"/raw/v{PROJECT['version']}/docs/images/" in text


def test_the_readme_is_read_in_a_minute_and_says_first_what_and_for_whom():
    text = README.read_text()
    assert text.count("\n") <= 120
    before_tables = text.partition("\n|")[0]
    asked = ("plans long routes", "**Who it is for.**", "**When to use it.**", "**When something simpler")
    assert all(answer in before_tables for answer in (*asked, "**How it works.**", "make demo"))


def test_the_citation_is_of_this_version_and_names_the_paper():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {PROJECT['version']}\n" in citation
    (title,) = re.findall(r"the paper \*([^*]+)\*", README.read_text())
    assert f'title: "{title}"' in citation


def test_the_changelog_knows_the_version():
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_folder_has_a_page():
    folders = {path.parent.name for path in (SOURCE / "chronoforest").glob("*/__init__.py")}
    assert folders - {"types"} <= {
        page.stem for page in PAGES
    }  # the values are on api.md and in the glossary


def test_every_page_is_in_the_table_of_contents():
    index = ROOT / "docs" / "index.md"
    listed = {target.name for _, target in links(index)}
    assert {page.name for page in PAGES if page.parent == index.parent} - {index.name} <= listed


def test_every_page_is_in_the_navigation_of_the_site():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("nav:")[2].partition("\ntheme:")[0]
    listed = set(re.findall(r": ([\w/.-]+\.md)$", navigation, re.MULTILINE))
    written = {page.name for page in (ROOT / "docs").glob("*.md")}
    outside = {f"repository/{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")}
    assert listed - outside == written


def test_every_public_name_is_on_the_page_of_the_api():
    shown = set(
        re.findall(r"^::: chronoforest\.(\w+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    )
    assert set(chronoforest.__all__) <= shown
