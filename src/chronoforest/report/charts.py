"""Charts of the paper's suites, drawn with matplotlib as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chronoforest.bench.paper.exhibits import Chart
from chronoforest.report.drawing import AGENT_COLOURS, INK
from chronoforest.report.plots import save_figure

FORMATS = ("png", "svg")


def draw_chart(chart: Chart, folder: Path) -> list[Path]:
    """Write NAME.png and NAME.svg into a folder; returns their paths."""
    return save_formats(_figure(chart), chart.name, folder)


def save_formats(figure: Any, name: str, folder: Path) -> list[Path]:
    """Write a figure in every format; returns the paths."""
    paths = [folder / f"{name}.{ending}" for ending in FORMATS]
    for path in paths:
        save_figure(figure, path)
    return paths


def _figure(chart: Chart) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for series, colour in zip(chart.series, _colours(len(chart.series)), strict=True):
        if chart.kind == "scatter":
            axes.scatter(series.x, series.y, s=4, alpha=0.35, color=colour, label=series.label, linewidth=0)
        else:
            axes.plot(series.x, series.y, marker="o", markersize=3, color=colour, label=series.label)
    for number, (name, place) in enumerate(chart.marks.items()):
        axes.axvline(place, color=INK, linestyle=("--", ":", "-.")[number % 3], linewidth=1, label=name)
    axes.set(xlabel=chart.x_label, ylabel=chart.y_label)
    axes.set_title(chart.title, fontsize=11, color=INK)
    axes.legend(fontsize=8, frameon=False)
    axes.grid(alpha=0.25)
    return figure


def _colours(count: int) -> list[str]:
    return [AGENT_COLOURS[number % len(AGENT_COLOURS)] for number in range(count)]
