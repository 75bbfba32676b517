"""Charts, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.report.pictures import Picture
from chronoforest.report.drawing import AGENT_COLOURS, INK


@dataclass(frozen=True)
class Series:
    """One line or cloud of a chart."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Chart(Picture):
    """Lines or points over two axes, both logarithmic where `is_log`; marks: vertical lines by name."""

    name: str
    title: str
    source: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["line", "scatter"] = "line"
    marks: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    is_log: bool = False

    def figure(self) -> Any:
        """Lines or points, and the marks."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.2), dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for series, colour in zip(self.series, _colours(len(self.series)), strict=True):
            if self.kind == "scatter":
                axes.scatter(
                    series.x, series.y, s=4, alpha=0.35, color=colour, label=series.label, linewidth=0
                )
            else:
                axes.plot(series.x, series.y, marker="o", markersize=3, color=colour, label=series.label)
        for number, (name, place) in enumerate(self.marks.items()):
            axes.axvline(place, color=INK, linestyle=("--", ":", "-.")[number % 3], linewidth=1, label=name)
        axes.set(xlabel=self.x_label, ylabel=self.y_label)
        if self.is_log:
            axes.set(xscale="log", yscale="log")
        axes.set_title(self.title, fontsize=11, color=INK)
        axes.legend(fontsize=8, frameon=False)
        axes.grid(alpha=0.25)
        return figure


def _colours(count: int) -> list[str]:
    return [AGENT_COLOURS[number % len(AGENT_COLOURS)] for number in range(count)]
