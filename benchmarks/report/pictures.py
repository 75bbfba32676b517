"""Pictures of a report: charts and maps side by side, their files, and how the page shows them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.mazes import maze_of
from benchmarks.report.tables import heading, html_notes
from chronoforest.envs.maps import CELL_SIZE, cell_centre
from chronoforest.report import drawing as pictures
from chronoforest.report.drawing import AGENT_COLOURS, INK, save
from chronoforest.types import FloatArray, Problem, Support

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
            save(figure, self._path(folder, ending))

    def to_html(self, folder: Path) -> str:
        """A heading, the saved drawing as a part of the page, and the notes."""
        data = base64.b64encode(self._path(folder, "svg").read_bytes()).decode()
        picture = f'<img alt="{escape(self.title)}" src="data:image/svg+xml;base64,{data}">'
        return f"<h3>{escape(heading(self.title, self.source))}</h3>{picture}{html_notes(self.notes)}"

    def _path(self, folder: Path, ending: str) -> Path:
        return folder / "figures" / f"{self.name}.{ending}"


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
        for series, colour in zip(self.series, cycle(AGENT_COLOURS), strict=False):
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


Role = Literal["tree", "tentative", "route", "reference", "planned", "walked"]
"""What a line on a map is, which decides how it is drawn."""

WIDTH = 4.3  # inches of one map

TITLES, TOP, BOTTOM = 0.55, 0.45, 0.45
"""Inches over each map for its title, over all of them for theirs, and below for the legend."""

NEAR = 0.5  # anchors nearer to each other than so many units share a label
SCALE = 0.6  # of marks and their names, against a picture of a single plan

PALE = "#55636d"

STYLES: dict[Role, tuple[str, dict[str, Any]]] = {
    "tree": ("segments of the trees", {"color": "#7c8a94", "linewidth": 0.8, "zorder": 1}),
    "tentative": ("leg not met yet", {"linewidth": 1.4, "linestyle": (0, (4, 2)), "zorder": 2.5}),
    "route": ("route", {"linewidth": 2.0, "zorder": 3}),
    "planned": ("plan", {"linewidth": 6.0, "alpha": 0.28, "zorder": 2}),
    "reference": (
        "shortest way over cells (BFS)",
        {"color": INK, "linewidth": 1.3, "linestyle": (0, (4, 2)), "zorder": 2.5},
    ),
    "walked": ("walk", {"linewidth": 1.8, "zorder": 3}),
}
"""What a line is called in the legend, and how it looks; in its agent's colour where it has none."""


@dataclass(frozen=True, eq=False)
class Way:
    """A line across the world; points: [T, 2]; agent: whose colour it has, where its role has one."""

    role: Role
    points: FloatArray
    agent: int = 0


@dataclass(frozen=True, eq=False)
class Panel:
    """One map; note: a line under its title; meetings: [n, 2] where trees touched."""

    title: str
    note: str
    problem: Problem
    ways: tuple[Way, ...]
    meetings: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))


@dataclass(frozen=True, eq=False)
class Panels(Picture):
    """Maps side by side on the data's support or else the walls of a world; headings: of the columns."""

    name: str
    title: str
    source: str
    world: str
    panels: tuple[Panel, ...]
    num_columns: int = 3
    headings: tuple[str, ...] = ()
    support: Support | None = None
    notes: tuple[str, ...] = ()

    def figure(self) -> Any:
        """All maps, and one legend."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        ground = self.support
        if ground is None:  # a maze's free cells, drawn as a support is
            ground = Support(cell_centre(np.array([0, 0])), CELL_SIZE, ~maze_of(self.world).is_wall.T)
        left, right, bottom, top = ground.extent
        num_rows = -(-len(self.panels) // self.num_columns)
        height = WIDTH * (top - bottom) / (right - left) + TITLES
        is_full = num_rows * self.num_columns == len(self.panels)
        size = (self.num_columns * WIDTH, num_rows * height + TOP + (BOTTOM if is_full else 0.0))
        figure = Figure(figsize=size, dpi=120, layout=ConstrainedLayoutEngine(h_pad=0.09))
        FigureCanvasAgg(figure)
        grid = list(figure.subplots(num_rows, self.num_columns, squeeze=False).flat)
        for axes, panel in zip(grid, self.panels, strict=False):
            pictures.draw_support(axes, ground)
            for way in panel.ways:
                axes.plot(*way.points.T, **_style(way), solid_capstyle="round")
            pictures.draw_meetings(axes, panel.meetings, SCALE)
            anchors, names = panel.problem.anchors, panel.problem.names
            near = np.linalg.norm(anchors[:, None] - anchors, axis=-1) < NEAR  # these share a label
            labels = {a: ", ".join(np.array(names)[row]) for a, row in zip(names, near, strict=True)}
            pictures.draw_anchors(axes, panel.problem, labels, SCALE)
            axes.set_title(panel.title, fontsize=10, color=INK, pad=16)
            _write_above(axes, panel.note, 3, fontsize=8, color=PALE)
        for axes, name in zip(grid, self.headings, strict=False):
            _write_above(axes, name, 36, fontsize=11, fontweight="bold", color=INK)
        handles, spare = _legend_handles(self.panels), grid[len(self.panels) :]
        for axes in spare:
            axes.axis("off")
        if spare:
            spare[0].legend(handles=handles, loc="center", frameon=False, fontsize=10)
        else:
            style = {"ncols": min(len(handles), 2 * self.num_columns), "frameon": False, "fontsize": 9}
            figure.legend(handles=handles, loc="outside lower center", **style)
        figure.suptitle(self.title, fontsize=13, color=INK)
        return figure


def _style(way: Way) -> dict[str, Any]:
    """Routes of later agents are thinner and on top, so that those beneath can be seen."""
    style = {"color": pictures.agent_colour(way.agent), **STYLES[way.role][1]}
    if way.role == "route":
        style |= {"linewidth": max(1.0, 3.4 - 1.8 * way.agent), "zorder": 3 + 0.1 * way.agent}
    return style


def _legend_handles(panels: Sequence[Panel]) -> list[Any]:
    """One for every kind of line, a route's with its agent's number where there are several, and one for
    every kind of mark."""
    from matplotlib.lines import Line2D

    ways = {(way.role, way.agent): way for panel in panels for way in panel.ways}
    agents = {agent for _, agent in ways}
    handles = []
    for role, (name, _) in STYLES.items():
        own = [way for (kind, _), way in sorted(ways.items()) if kind == role]
        is_told_apart = role == "route" and len(agents) > 1
        for way in own if is_told_apart else own[:1]:
            label = f"{name} of agent {way.agent + 1}" if is_told_apart else name
            handles.append(Line2D([], [], label=label, **_style(way)))
    letters = {name[0] for panel in panels for name in panel.problem.names}
    if any(len(panel.meetings) for panel in panels):
        letters.add("meeting")
    is_single = max(panel.problem.num_agents for panel in panels) == 1
    own_colour = pictures.agent_colour(0) if is_single else "#b8c0c6"
    marks = {
        "S": ("start", "o", own_colour, 8),
        "G": ("goal", "*", own_colour, 12),
        "W": ("waypoint", "D", pictures.WAYPOINT, 7),
        "meeting": ("where two trees meet", "o", "white", 5),
    }
    outline: dict[str, Any] = {"linestyle": "", "markeredgecolor": INK}
    shown = (mark for letter, mark in marks.items() if letter in letters)
    return handles + [
        Line2D([], [], label=label, marker=marker, markerfacecolor=colour, markersize=size, **outline)
        for label, marker, colour, size in shown
    ]


def _write_above(axes: Any, text: str, points: float, **style: Any) -> None:
    """A line of text so many points over a map."""
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(text, (0.5, 1.0), (0, points), ha="center", va="bottom", **place, **style)
