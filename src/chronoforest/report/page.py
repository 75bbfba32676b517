"""The report of a folder of records: one HTML page that needs nothing else, Markdown, CSV tables and figures.

Nothing is run and no model is loaded; what a suite has no records of is said to be missing.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from chronoforest.bench.paper.campaign import read_records
from chronoforest.bench.paper.exhibits import Chart, Exhibit, Panels, Sheet
from chronoforest.bench.paper.registry import SUITES
from chronoforest.bench.paper.suite import Suite
from chronoforest.bench.trials import Trial
from chronoforest.errors import BadResult
from chronoforest.files import reading, write_text
from chronoforest.report.charts import draw_chart
from chronoforest.report.exhibits import heading, html_notes, to_csv, to_html, to_markdown
from chronoforest.report.panels import draw_panels

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


def write_report(folder: Path, suites: Mapping[str, Suite] = SUITES) -> Path:
    """Write FOLDER/report from the records in FOLDER; returns the page."""
    sections = read_sections(folder, suites)
    if not any(section.exhibits for section in sections):
        names = ", ".join(suites)
        raise BadResult(f"{folder} holds no records of {names}; `chronoforest bench paper` makes them")
    out = folder / "report"
    configuration = read_configuration(folder)
    images = _write_pictures(sections, out / "figures")
    for sheet in _sheets(sections):
        write_text(out / "tables" / f"{sheet.name}.csv", to_csv(sheet))
    write_text(out / "report.md", _markdown(sections, configuration))
    page = out / "index.html"
    write_text(page, _html(sections, configuration, images))
    return page


def read_sections(folder: Path, suites: Mapping[str, Suite] = SUITES) -> list[Section]:
    """The exhibits of every suite that has records in a folder."""
    sections = []
    for suite in suites.values():
        trials = read_records(folder, suite)
        shown = suite.exhibits(trials) if trials else []
        sections.append(Section(suite, shown, describe(trials)))
    return sections


def describe(trials: Sequence[Trial]) -> str:
    """How many trials there are, of which seeds, and how many were refused."""
    if not trials:
        return "no records yet"
    seeds = ", ".join(map(str, sorted({trial.case.seed for trial in trials})))
    refused = sum(bool(trial.refusal) for trial in trials)
    return f"{len(trials)} trials, seeds {seeds}, {refused} refused; intervals are of 95 %"


def read_configuration(folder: Path) -> dict[str, str]:
    """Commands and version of the run, as its folder remembers them."""
    path = folder / "config.json"
    if not path.is_file():
        return {}
    with reading(path, "a configuration", BadResult):
        values = json.loads(path.read_text())
        commands = {f"command {number}": command for number, command in enumerate(values["commands"], 1)}
        return {**commands, "version": values["version"]}


def _sheets(sections: Sequence[Section]) -> list[Sheet]:
    return [shown for section in sections for shown in section.exhibits if isinstance(shown, Sheet)]


def _write_pictures(sections: Sequence[Section], folder: Path) -> dict[str, str]:
    """Draw all charts and maps; returns the SVG of each as a data address."""
    images = {}
    for section in sections:
        for shown in (one for one in section.exhibits if not isinstance(one, Sheet)):
            paths = _draw(shown, folder)
            svg = next(path for path in paths if path.suffix == ".svg")
            images[shown.name] = f"data:image/svg+xml;base64,{base64.b64encode(svg.read_bytes()).decode()}"
    return images


def _draw(shown: Chart | Panels, folder: Path) -> list[Path]:
    return draw_chart(shown, folder) if isinstance(shown, Chart) else draw_panels(shown, folder)


def _markdown(sections: Sequence[Section], configuration: Mapping[str, str]) -> str:
    parts = ["# The paper's tables, from these records", ""]
    parts += [f"- {name}: `{value}`" for name, value in configuration.items()]
    for section in sections:
        parts += ["", f"## {section.suite.name}: {section.suite.summary}", "", section.basis, ""]
        parts += [_markdown_exhibit(shown) for shown in section.exhibits]
    return "\n".join(parts)


def _markdown_exhibit(shown: Exhibit) -> str:
    if isinstance(shown, Sheet):
        return to_markdown(shown)
    lines = [f"![{shown.title}](figures/{shown.name}.svg)", ""]
    if shown.notes:
        lines += [*(f"- {note}" for note in shown.notes), ""]
    return "\n".join(lines)


def _html(sections: Sequence[Section], configuration: Mapping[str, str], images: Mapping[str, str]) -> str:
    facts = "".join(f"<li>{escape(name)}: <code>{escape(v)}</code></li>" for name, v in configuration.items())
    body = "".join(_html_section(section, images) for section in sections)
    head = f'<meta charset="utf-8"><title>ChronoForest: the tables</title><style>{_STYLE}</style>'
    title = "<h1>The paper's tables, from these records</h1>"
    return (
        f'<!doctype html><html lang="en"><head>{head}</head>'
        f"<body>{title}<ul>{facts}</ul>{body}</body></html>\n"
    )


def _html_section(section: Section, images: Mapping[str, str]) -> str:
    shown = "".join(_html_exhibit(one, images) for one in section.exhibits)
    head = f"<h2>{escape(section.suite.name)}: {escape(section.suite.summary)}</h2>"
    return f"{head}<p>{escape(section.basis)}</p>{shown}"


def _html_exhibit(shown: Exhibit, images: Mapping[str, str]) -> str:
    if isinstance(shown, Sheet):
        return to_html(shown)
    picture = f'<img alt="{escape(shown.title)}" src="{images[shown.name]}">'
    return f"<h3>{escape(heading(shown))}</h3>{picture}{html_notes(shown.notes)}"
