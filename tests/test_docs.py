"""The README and the pages under docs/ say what the code does: links, commands, names and defaults."""

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
from benchmarks.__main__ import VERBS as BENCHMARKS
from benchmarks.__main__ import main as run_benchmarks
from chronoforest.cli import VERBS, main
from chronoforest.names import EXTRAS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
README = ROOT / "README.md"
CLI_PAGE = ROOT / "docs" / "cli.md"
PAGES = [README, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = {"chronoforest": (VERBS, main), "python -m benchmarks": (BENCHMARKS, run_benchmarks)}
CALLED = {
    f"{program} {name}": verb for program, (verbs, _) in PROGRAMS.items() for name, verb in verbs.items()
}
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
    """Every call of our programs in the code of a page."""
    shell = (
        line
        for language, text in FENCE.findall(page.read_text())
        if language == "sh"
        for line in text.replace("\\\n", " ").split("\n")
    )
    inline = re.findall(r"`([^`\n]+)`", prose(page))
    called = (text.partition("#")[0].strip() for text in (*shell, *inline))
    return [text for text in called if text.startswith(tuple(f"{program} " for program in PROGRAMS))]


def verb_of(command: str) -> str | None:
    words = command.split()
    return next((name for n in (4, 3, 2) if (name := " ".join(words[:n])) in CALLED), None)


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
    general = re.compile(r"(chronoforest|python -m benchmarks) (COMMAND|SUITE|-|help)")
    named = [command for command in commands(page) if not general.match(command)]
    assert [command for command in named if verb_of(command) is None] == []


@pytest.mark.parametrize("verb", sorted(CALLED))
def test_every_option_named_with_a_command_exists(verb, capsys):
    program = next(program for program in PROGRAMS if verb.startswith(program))
    PROGRAMS[program][1]([*verb.removeprefix(program).split(), "--help"])
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
    assert {verb_of(command) for command in commands(CLI_PAGE)} >= {f"chronoforest {name}" for name in VERBS}


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


def test_the_citation_is_of_this_version_and_names_the_paper():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {PROJECT['version']}\n" in citation
    (title,) = re.findall(r"the paper \*([^*]+)\*", " ".join(README.read_text().split()))
    assert f'title: "{title}"' in citation


def test_the_changelog_knows_the_version():
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_folder_has_a_page():
    folders = {path.parent.name for path in (SOURCE / "chronoforest").glob("*/__init__.py")}
    assert folders - {"types"} <= {
        page.stem for page in PAGES
    }  # the values are on api.md and in the glossary


def test_every_page_is_in_a_table_of_contents():
    """For users on the first page, for contributors on the one about the inside."""
    contents = [ROOT / "docs" / name for name in ("index.md", "inside.md")]
    listed = {target.name for page in contents for _, target in links(page)}
    assert {page.name for page in PAGES if page.parent == ROOT / "docs"} - {"index.md"} <= listed


def test_the_readme_has_no_long_line():
    assert max(map(len, README.read_text().split("\n"))) <= 400


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
