"""Tables: of text, and of figures with the published ones beside them; as CSV and HTML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.metrics import Estimate, mean, wilson
from chronoforest.files import write_text

CSV_HEADER = ("row", "column", "ours", "low", "high", "trials", "published")
Group = TypeVar("Group")
Item = TypeVar("Item")


@dataclass(frozen=True)
class TextTable:
    """Text in rows; the first column names the row, and the last row may be a total."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_total: bool = False

    @property
    def name(self) -> str:
        """Of its file: the title, without what file systems dislike."""
        return re.sub(r"[^\w.-]+", "-", self.title)

    def to_rich(self) -> Any:
        """A table for rich's console."""
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, title_justify="left")
        for position, name in enumerate(self.header):
            table.add_column(name, justify="left" if position == 0 else "right")
        for left, row in enumerate(self.rows, start=1 - len(self.rows)):
            table.add_row(*row, end_section=self.has_total and left == -1)
        return table

    def to_pipes(self) -> str:
        """A pipe table, without the title."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def to_html(self, folder: Path) -> str:
        """A heading and a table."""
        rows = [(name, [escape(cell) for cell in cells]) for name, *cells in self.rows]
        return _html(self.title, self.header, rows)

    def save(self, folder: Path) -> None:
        """Write tables/NAME.csv."""
        write_text(folder / "tables" / f"{self.name}.csv", _csv([self.header, *self.rows]))


@dataclass(frozen=True)
class Entry:
    """One figure: ours over so many trials, and the paper's as it is printed there ("" where it has none)."""

    ours: Estimate | None
    num_trials: int = 0
    published: str = ""
    digits: int = 1
    is_share: bool = False

    @classmethod
    def of_mean(cls, values: Iterable[float], published: str = "", digits: int = 1) -> Entry:
        """A mean with Student's interval; without values there is no figure."""
        data = list(values)
        return cls(mean(data) if data else None, len(data), published, digits)

    @classmethod
    def of_value(cls, value: float, num_trials: int, published: str = "", digits: int = 3) -> Entry:
        """A fitted figure, which has no interval."""
        return cls(Estimate(value, value, value), num_trials, published, digits)

    @classmethod
    def of_share(cls, is_good: Iterable[bool], published: str = "") -> Entry:
        """A share with Wilson's interval."""
        data = [bool(good) for good in is_good]
        return cls(wilson(sum(data), len(data)) if data else None, len(data), published, is_share=True)

    @classmethod
    def of_ratio(
        cls, tops: Sequence[float], bottoms: Sequence[float], published: str = "", digits: int = 3
    ) -> Entry:
        """The ratio of two means over the same problems, with the interval that their matching allows."""
        if len(tops) == 0:
            return cls(None, 0, published, digits)
        return cls(ratio(tops, bottoms), len(tops), published, digits)


@dataclass(frozen=True)
class Row:
    """A name and its entries by column; a missing one stays empty."""

    label: str
    entries: Mapping[str, Entry]


@dataclass(frozen=True)
class Sheet:
    """A table; name: of its files; source: where the paper has it; notes: what a reader must know."""

    name: str
    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def save(self, folder: Path) -> None:
        """Write tables/NAME.csv."""
        write_text(folder / "tables" / f"{self.name}.csv", self.to_csv())

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        source: str,
        groups: Mapping[str, Group],
        columns: Mapping[str, Callable[[Group], Entry]],
        notes: tuple[str, ...] = (),
    ) -> Sheet:
        """A row for every group, with a column for every figure of it."""
        rows = (
            Row(label, {column: figure(group) for column, figure in columns.items()})
            for label, group in groups.items()
        )
        return cls(name, title, source, tuple(columns), tuple(rows), notes)

    def to_csv(self) -> str:
        """One line per figure, for machines; empty where there is none."""
        lines: list[Sequence[object]] = [CSV_HEADER]
        for row in self.rows:
            for column, entry in row.entries.items():
                ours = entry.ours
                ends = ("", "", "") if ours is None else (ours.value, ours.low, ours.high)
                lines.append((row.label, column, *ends, entry.num_trials, entry.published))
        return _csv(lines)

    def to_html(self, folder: Path) -> str:
        """A table with the published value under each of ours."""
        rows = [(row.label, [_cell(row.entries.get(name)) for name in self.columns]) for row in self.rows]
        table = _html(heading(self.title, self.source), ("", *self.columns), rows)
        return f"{table}{html_notes(self.notes)}"


def shown(entry: Entry) -> str:
    """Our figure with the ends of its interval; a fit has none, and that of one trial is unknown."""
    if entry.ours is None:
        return "–"
    if entry.ours.low == entry.ours.high:
        return _number(entry.ours.value, entry)
    value, low, high = (_number(end, entry) for end in (entry.ours.value, entry.ours.low, entry.ours.high))
    return f"{value} [{low}, {high}]" if np.isfinite(entry.ours.low) else f"{value} [?]"


def html_notes(notes: Sequence[str]) -> str:
    """A list, or nothing where there is nothing to say."""
    return f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>" if notes else ""


def heading(title: str, source: str) -> str:
    """The title and where the paper has it."""
    return f"{title} (paper: {source})" if source else title


def _csv(lines: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _html(title: str, header: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A heading and a table; the cells are HTML already."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    lines = "".join(
        f"<tr><th>{escape(label)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for label, cells in rows
    )
    return f"<h3>{escape(title)}</h3><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _number(value: float, entry: Entry) -> str:
    return f"{100 * value:.1f}" if entry.is_share else f"{value:.{entry.digits}f}"


def _cell(entry: Entry | None) -> str:
    if entry is None:
        return ""
    count = f' <span class="count">n = {entry.num_trials}</span>' if entry.num_trials else ""
    published = f'<br><span class="paper">paper {escape(entry.published)}</span>' if entry.published else ""
    return f"{escape(shown(entry))}{count}{published}"


def ratio(tops: Sequence[float], bottoms: Sequence[float]) -> Estimate:
    """mean(tops) / mean(bottoms) over matched values; the interval comes from their linearised difference."""
    above, below = np.array(tops, dtype=np.float64), np.array(bottoms, dtype=np.float64)
    value = float(above.mean() / below.mean())
    spread = mean((above - value * below) / below.mean())
    return Estimate(value, value + spread.low, value + spread.high)


def by(items: Iterable[Item], key: Callable[[Item], Group]) -> dict[Group, list[Item]]:
    """Trials, or what else, in groups, in the order in which their keys first come up."""
    groups: dict[Group, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
