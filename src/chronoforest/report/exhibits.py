"""Tables of the paper's suites as Markdown, CSV and HTML: ours with its interval, and the published value."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape

import numpy as np

from chronoforest.bench.paper.exhibits import Entry, Exhibit, Sheet

CSV_HEADER = ("row", "column", "ours", "low", "high", "trials", "published")


def shown(entry: Entry) -> str:
    """Our figure with the ends of its interval; a fit has none, and that of one trial is unknown."""
    if entry.ours is None:
        return "–"
    if entry.ours.low == entry.ours.high:
        return _number(entry.ours.value, entry)
    value, low, high = (_number(end, entry) for end in (entry.ours.value, entry.ours.low, entry.ours.high))
    return f"{value} [{low}, {high}]" if np.isfinite(entry.ours.low) else f"{value} [?]"


def to_markdown(sheet: Sheet) -> str:
    """A heading, a pipe table and the notes."""
    rule = ("---",) * (1 + len(sheet.columns))
    lines = [f"### {heading(sheet)}", "", _pipes(("", *sheet.columns)), _pipes(rule)]
    for row in sheet.rows:
        entries = (row.entries.get(column) for column in sheet.columns)
        lines.append(_pipes((row.label, *(_plain(entry) for entry in entries))))
    return "\n".join([*lines, "", *(f"- {note}" for note in sheet.notes), ""])


def to_csv(sheet: Sheet) -> str:
    """One line per figure, for machines; empty where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for row in sheet.rows:
        for column, entry in row.entries.items():
            ours = ("", "", "") if entry.ours is None else (entry.ours.value, entry.ours.low, entry.ours.high)
            writer.writerow((row.label, column, *ours, entry.num_trials, entry.published))
    return text.getvalue()


def to_html(sheet: Sheet) -> str:
    """A table with the published value under each of ours."""
    head = "".join(f"<th>{escape(column)}</th>" for column in ("", *sheet.columns))
    rows = "".join(
        f"<tr><th>{escape(row.label)}</th>"
        + "".join(f"<td>{_cell(row.entries.get(column))}</td>" for column in sheet.columns)
        + "</tr>"
        for row in sheet.rows
    )
    return (
        f"<h3>{escape(heading(sheet))}</h3><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"{html_notes(sheet.notes)}"
    )


def html_notes(notes: Sequence[str]) -> str:
    """A list, or nothing where there is nothing to say."""
    lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<ul>{lines}</ul>" if lines else ""


def heading(exhibit: Exhibit) -> str:
    """The title and where the paper has it."""
    return f"{exhibit.title} (paper: {exhibit.source})" if exhibit.source else exhibit.title


def _number(value: float, entry: Entry) -> str:
    return f"{100 * value:.1f}" if entry.is_share else f"{value:.{entry.digits}f}"


def _plain(entry: Entry | None) -> str:
    if entry is None:
        return ""
    ours = f"{shown(entry)} n = {entry.num_trials}" if entry.num_trials else shown(entry)
    return f"{ours}; paper {entry.published}" if entry.published else ours


def _cell(entry: Entry | None) -> str:
    if entry is None:
        return ""
    count = f' <span class="count">n = {entry.num_trials}</span>' if entry.num_trials else ""
    published = f'<br><span class="paper">paper {escape(entry.published)}</span>' if entry.published else ""
    return f"{escape(shown(entry))}{count}{published}"


def _pipes(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
