"""The report of a folder of records: one HTML page that needs nothing else, CSV tables and figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from benchmarks.run import read_records
from benchmarks.suite import Contents
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


def write_report(folder: Path, contents: Contents) -> Path:
    """Write FOLDER/report from the records in FOLDER; returns the page."""
    found = {suite: read_records(folder, suite) for suite in contents.suites.values()}
    if not any(found.values()):
        names = ", ".join(contents.suites)
        raise BadResult(f"{folder} holds no records of {names}; `{contents.command}` makes them")
    out, facts, body = folder / "report", [], []
    path = folder / "config.json"
    if path.is_file():  # commands and version of the run
        with reading(path, "a configuration", BadResult):
            values = json.loads(path.read_text())
            facts = [(f"command {number}", each) for number, each in enumerate(values["commands"], 1)]
            facts.append(("version", values["version"]))
    for suite, trials in found.items():
        exhibits = suite.show(trials) if trials else []
        for shown in exhibits:
            shown.save(out)
        head = f"<h2>{escape(suite.name)}: {escape(suite.summary)}</h2><p>{escape(describe(trials))}</p>"
        body.append(head + "".join(shown.to_html(out) for shown in exhibits))
    told = "".join(f"<li>{escape(name)}: <code>{escape(value)}</code></li>" for name, value in facts)
    page = out / "index.html"
    write_text(
        page,
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>ChronoForest: the tables</title>'
        f"<style>{_STYLE}</style></head>"
        f"<body><h1>{contents.title}</h1><ul>{told}</ul>{''.join(body)}</body></html>\n",
    )
    return page


def describe(trials: Sequence[Trial]) -> str:
    """How many trials there are, of which seeds, how many were refused, and what made them where told."""
    if not trials:
        return "no records yet"
    seeds = ", ".join(map(str, sorted({trial.case.seed for trial in trials})))
    refused = sum(bool(trial.refusal) for trial in trials)
    origins = {trial.origin for trial in trials} - {Origin()}
    made = sorted(f"; version {one.version} on {one.device}, weights {one.weights}" for one in origins)
    return f"{len(trials)} trials, seeds {seeds}, {refused} refused; intervals are of 95 %{''.join(made)}"
