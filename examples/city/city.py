"""What the example of the city adds to the commands: the streets under a plan, and the plan for maps.

The streets are drawn and nothing else. The planner never sees them: it has the trips alone.
"""

from __future__ import annotations

import base64
import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from chronoforest import PlanResult, Problem
from chronoforest.data.frames import Frame
from chronoforest.report.drawing import INK, WAYPOINT, agent_colour, round_length, save
from chronoforest.types import FloatArray, Plan

MERIDIAN, SCALE, FALSE_EASTING = -87.0, 0.9996, 500_000.0
"""Zone 16N of UTM: its central meridian, the scale on it, and what is added to metres east of it."""

ATTRIBUTION = "streets © OpenStreetMap contributors, tracks by Ahmed et al. 2015"
PAPER, STREET = "#f7f5f0", "#c9c5bb"

NUM_COLOURS = 96
"""Of the picture, which keeps its file small."""

MARGIN = 180.0
"""Metres around the routes that are shown."""

ARROW_EVERY = 420.0
"""Metres of a route from one arrow to the next."""

BESIDE = 9.0
"""Metres that a route is drawn to the right of its way, and twice more for every further vehicle, so that
whoever shares a street shows."""


def read_streets(path: Path) -> FloatArray:
    """[n, 2, 2] straight pieces of streets, from a CSV file with the columns x1, y1, x2, y2."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        rows = [[float(row[name]) for name in ("x1", "y1", "x2", "y2")] for row in csv.DictReader(file)]
    return np.array(rows).reshape(-1, 2, 2)


def to_degrees(metres: FloatArray) -> FloatArray:
    """[..., 2] metres of UTM 16N → [..., 2] longitude and latitude."""
    plane = (np.asarray(metres, dtype=np.float64) - (FALSE_EASTING, 0.0)) / SCALE
    return Frame("degrees", (MERIDIAN, 0.0)).to_user(plane)


def for_maps(result: PlanResult) -> str:
    """The plan as GeoJSON in longitude and latitude, which is what map programs expect."""
    collection = json.loads(result.to_geojson())
    for feature in collection["features"]:
        geometry = feature["geometry"]
        geometry["coordinates"] = np.round(to_degrees(np.array(geometry["coordinates"])), 8).tolist()
    return json.dumps(collection)


def viewer_link(problem: Problem, port: int) -> str:
    """The address at which a viewer of the same preset opens the problem."""
    asked = {name: getattr(problem, name).tolist() for name in ("starts", "goals", "waypoints")}
    text = base64.urlsafe_b64encode(json.dumps(asked, separators=(",", ":")).encode()).decode()
    return f"http://127.0.0.1:{port}/#plan={text.rstrip('=')}"


def draw(result: PlanResult, streets: FloatArray, path: Path, width: float = 10.0) -> None:
    """The routes over the streets, the stops by their numbers in the problem."""
    ways = np.concatenate([route.path for route in result.routes])
    low, high = ways.min(axis=0) - MARGIN, ways.max(axis=0) + MARGIN
    across, up = high - low
    figure = Figure(figsize=(width, width * up / across), dpi=120)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.axis("off")
    figure.set_facecolor(PAPER)
    axes.add_collection(LineCollection(list(streets), colors=STREET, linewidths=1.1, capstyle="round"))
    for agent, route in enumerate(result.routes):
        line = beside(route.path, BESIDE * (1 + 2 * agent))
        _draw_line(axes, line, agent)
        _draw_stops(axes, route, line, agent)
    _draw_scale(axes, low, high)
    save(figure, path, NUM_COLOURS)


def _draw_line(axes: Any, line: FloatArray, agent: int) -> None:
    """A route [n, 2] with arrows along it."""
    halo = [patheffects.Stroke(linewidth=5.5, foreground="white", alpha=0.9), patheffects.Normal()]
    axes.plot(*line.T, color=agent_colour(agent), linewidth=3, zorder=3, path_effects=halo)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    for metres in np.arange(ARROW_EVERY * (0.4 + 0.35 * agent), along[-1], ARROW_EVERY):
        tail, tip = (
            [np.interp(metres + ahead, along, column) for column in line.T] for ahead in (-18.0, 18.0)
        )
        style = {"arrowstyle": "-|>,head_width=0.36,head_length=0.6", "color": agent_colour(agent), "lw": 0}
        axes.annotate("", tip, tail, arrowprops={**style, "shrinkA": 0, "shrinkB": 0}, zorder=4)


def beside(path: FloatArray, metres: float) -> FloatArray:
    """[n, 2] the path moved so far to its right."""
    ahead = np.gradient(path, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True) + 1e-9
    return path + metres * np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)


def _draw_stops(axes: Any, route: Plan, line: FloatArray, agent: int) -> None:
    """A square where a vehicle starts, a star where it ends, and its stops by their numbers, on its line."""
    colour = agent_colour(agent)
    for name, row in zip(route.order, route.stops, strict=True):
        place = line[row]
        marker, size = {"S": ("s", 130), "G": ("*", 420), "W": ("o", 250)}[name[0]]
        fill = WAYPOINT if name[0] == "W" else colour
        edge = colour if name[0] == "W" else INK
        axes.scatter(*place, marker=marker, s=size, color=fill, edgecolor=edge, linewidth=2, zorder=5)
        if name[0] == "W":
            style = {"ha": "center", "va": "center_baseline", "fontsize": 10, "fontweight": "bold"}
            axes.text(*place, name[1:], color=INK, zorder=6, **style)


def _draw_scale(axes: Any, low: FloatArray, high: FloatArray) -> None:
    """A bar of a round length, and who made what is under the routes."""
    length = round_length(0.2 * float(high[0] - low[0]))
    left, height = low[0] + 60.0, low[1] + 60.0
    axes.plot(
        [left, left + length], [height, height], color=INK, linewidth=3, zorder=7, solid_capstyle="butt"
    )
    halo = [patheffects.Stroke(linewidth=3, foreground=PAPER), patheffects.Normal()]
    style = {"color": INK, "zorder": 7, "path_effects": halo}
    axes.text(left + length / 2, height + 18, f"{length:g} m", ha="center", va="bottom", fontsize=10, **style)
    axes.text(high[0] - 30, low[1] + 25, ATTRIBUTION, ha="right", va="bottom", fontsize=7, **style)
