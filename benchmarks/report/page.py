"""The report of a folder of records: one HTML page that needs nothing else, CSV tables and figures.

Nothing is run and no model is loaded; what a suite has no records of is said to be missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from benchmarks.run import read_records
from benchmarks.suite import Contents, Exhibit, Suite
from benchmarks.trials import Origin, Trial
from chronoforest.errors import BadResult
from chronoforest.files import reading, write_text

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22303c }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { border: 1px solid #d5d9dc; padding: .3rem .6rem; text-align: right; vertical-align: top }
th:first-child { text-align: left }
.paper { color: #00798c } .count { color: #7c8a94; font-size: 85% } ul { color: #55636d }
img { max-width: 100% } code { overflow-wrap: anywhere }
"""


@dataclass(frozen=True)
class Section:
    """What is shown of a suite: its exhibits and a line about the trials behind them."""

    suite: Suite
    exhibits: Sequence[Exhibit]
    basis: str


def write_report(folder: Path, contents: Contents) -> Path:
    """Write FOLDER/report from the records in FOLDER; returns the page."""
    sections = read_sections(folder, contents)
    if not any(section.exhibits for section in sections):
        names = ", ".join(contents.suites)
        raise BadResult(f"{folder} holds no records of {names}; `{contents.command}` makes them")
    out = folder / "report"
    configuration = read_configuration(folder)
    for shown in (shown for section in sections for shown in section.exhibits):
        shown.save(out)
    page = out / "index.html"
    write_text(page, _html(contents.title, sections, configuration, out))
    return page


def read_sections(folder: Path, contents: Contents) -> list[Section]:
    """The exhibits of every suite that has records in a folder."""
    sections = []
    for suite in contents.suites.values():
        trials = read_records(folder, suite)
        shown = suite.show(trials) if trials else []
        sections.append(Section(suite, shown, describe(trials)))
    return sections


def describe(trials: Sequence[Trial]) -> str:
    """How many trials there are, of which seeds, how many were refused, and what made them where told."""
    if not trials:
        return "no records yet"
    seeds = ", ".join(map(str, sorted({trial.case.seed for trial in trials})))
    refused = sum(bool(trial.refusal) for trial in trials)
    origins = {trial.origin for trial in trials} - {Origin()}
    made = sorted(f"; version {one.version} on {one.device}, weights {one.weights}" for one in origins)
    return f"{len(trials)} trials, seeds {seeds}, {refused} refused; intervals are of 95 %{''.join(made)}"


def read_configuration(folder: Path) -> dict[str, str]:
    """Commands and version of the run, as its folder remembers them."""
    path = folder / "config.json"
    if not path.is_file():
        return {}
    with reading(path, "a configuration", BadResult):
        values = json.loads(path.read_text())
        commands = {f"command {number}": command for number, command in enumerate(values["commands"], 1)}
        return {**commands, "version": values["version"]}


def _html(title: str, sections: Sequence[Section], configuration: Mapping[str, str], out: Path) -> str:
    facts = "".join(f"<li>{escape(name)}: <code>{escape(v)}</code></li>" for name, v in configuration.items())
    body = "".join(_html_section(section, out) for section in sections)
    head = f'<meta charset="utf-8"><title>ChronoForest: the tables</title><style>{_STYLE}</style>'
    return (
        f'<!doctype html><html lang="en"><head>{head}</head>'
        f"<body><h1>{title}</h1><ul>{facts}</ul>{body}</body></html>\n"
    )


def _html_section(section: Section, out: Path) -> str:
    shown = "".join(one.to_html(out) for one in section.exhibits)
    head = f"<h2>{escape(section.suite.name)}: {escape(section.suite.summary)}</h2>"
    return f"{head}<p>{escape(section.basis)}</p>{shown}"
