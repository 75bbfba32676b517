"""Pictures of a report: how their files are written and how the page shows them."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.report.sheets import heading, html_notes
from chronoforest.report.plots import save_figure

FORMATS = ("png", "svg")


class Picture:
    """A picture with a name for its files, a title, where the paper has it, and notes."""

    name: str
    title: str
    source: str
    notes: tuple[str, ...]

    def figure(self) -> Any:
        """The picture as matplotlib draws it."""
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        """Write figures/NAME.png and figures/NAME.svg."""
        figure = self.figure()
        for ending in FORMATS:
            save_figure(figure, self._path(folder, ending))

    def to_markdown(self) -> str:
        """A link to the drawing, and the notes."""
        lines = [f"![{self.title}](figures/{self.name}.svg)", ""]
        if self.notes:
            lines += [*(f"- {note}" for note in self.notes), ""]
        return "\n".join(lines)

    def to_html(self, folder: Path) -> str:
        """A heading, the saved drawing as a part of the page, and the notes."""
        data = base64.b64encode(self._path(folder, "svg").read_bytes()).decode()
        picture = f'<img alt="{escape(self.title)}" src="data:image/svg+xml;base64,{data}">'
        return f"<h3>{escape(heading(self.title, self.source))}</h3>{picture}{html_notes(self.notes)}"

    def _path(self, folder: Path, ending: str) -> Path:
        return folder / "figures" / f"{self.name}.{ending}"
