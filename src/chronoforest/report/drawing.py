"""How plans and walks look: the data's support, routes with arrows and numbered stops, trees, tracks."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import cKDTree

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.files import drafted
from chronoforest.roadmap.straight import resample
from chronoforest.types import FloatArray, Plan, Problem, Support, TreePicture, lengths_along

if TYPE_CHECKING:
    from chronoforest.planning.result import PlanResult

AGENT_COLOURS = ("#d1495b", "#00798c", "#edae49", "#66418d", "#30638e", "#3f7d20", "#c06014", "#8a4f7d")
GROUND, ROOM, INK = "#22303c", "#f4f1ea", "#22303c"
WAYPOINT = "#ffd166"
STATES = {"verified": "#3f7d20", "refuted": "#d1495b", "unknown": "#7c8a94"}
"""Colours of the pieces of a path by what is known of them."""

CHECKED = ("recorded", "verified", "generated", "standing")
"""Evidence of legs that are drawn as whole lines; the others are dashed."""


def agent_colour(agent: int) -> str:
    """The colour of an agent, its start and its goal."""
    return AGENT_COLOURS[agent % len(AGENT_COLOURS)]


def rgb(colour: str) -> FloatArray:
    """[3] in 0…255 from #rrggbb."""
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.float64)


def new_axes(support: Support, width: float = 10.0) -> tuple[Any, Any]:
    """A figure that fits the support, drawn as the ground plan it implies."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    left, right, bottom, top = support.extent
    figure = Figure(figsize=(width, width * (top - bottom) / (right - left) + 0.5), dpi=120)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.93))
    axes.set_title("", y=1.0)  # a title without y is placed anew above ticks, which are not drawn
    draw_support(axes, support)
    return figure, axes


def save(figure: Any, path: str | Path, num_colours: int = 0) -> None:
    """Write a figure, complete or not at all; refuses an ending that no format of pictures has. Few colours
    keep a PNG small; 0 for all."""
    known = figure.canvas.get_supported_filetypes()
    if Path(path).suffix.lower().lstrip(".") not in known:
        raise InvalidParameter(f"a picture is written as .png, .svg, .pdf or .jpg, got {Path(path).name!r}")
    with drafted(path) as draft:
        if num_colours:
            _in_colours(figure, num_colours).save(draft, optimize=True)
        else:
            figure.savefig(draft)


def inline(axes: Any) -> str:
    """The picture of some axes as HTML that needs no other file."""
    text = io.StringIO()
    axes.figure.savefig(text, format="svg", bbox_inches="tight")
    return f'<div style="max-width:50em">{text.getvalue()[text.getvalue().index("<svg") :]}</div>'


def _in_colours(figure: Any, count: int) -> Any:
    """The figure as a picture with a palette."""
    from PIL import Image

    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    return picture.quantize(count, dither=Image.Dither.NONE)


def ground(support: Support, axes: Any = None) -> Any:
    """The axes with the support drawn on them, or new ones that fit it."""
    if axes is not None:
        draw_support(axes, support)
    return new_axes(support)[1] if axes is None else axes


def draw_support(axes: Any, support: Support) -> None:
    """The supported region as rooms in the ground, and the axes fitted to it."""
    from matplotlib.image import PcolorImage

    left, right, bottom, top = support.extent
    width, height = support.mask.shape
    edges = np.linspace(left, right, width + 1), np.linspace(bottom, top, height + 1)
    cells = np.stack([rgb(GROUND), rgb(ROOM)]).astype(np.uint8).take(support.mask.T, axis=0)
    image = PcolorImage(axes, *edges, cells, zorder=0)  # imshow resamples, which takes longer
    image.set_in_layout(False)  # it has no extent that a tight layout could ask for
    axes.add_image(image)
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.axis("off")


def draw_result(axes: Any, result: PlanResult) -> None:
    """A plan in the plane of its frame: trees, meetings, a line with arrows for each agent, beside each other
    where ways are shared, and its stops in their order, with their names and when they are reached."""
    routes = [result.frame.to_local(route.path) for route in result.routes]
    draw_trees(axes, result.trees)
    draw_meetings(axes, result.meetings)
    for agent, (route, path, moved) in enumerate(
        zip(result.routes, routes, _apart(axes, routes), strict=True)
    ):
        _draw_route(axes, route, path, moved, agent)
    _draw_stops(axes, result)
    draw_scale(axes, result.frame)


def _apart(axes: Any, paths: Sequence[FloatArray]) -> list[FloatArray]:
    """Paths [n, 2] as lines of small steps, moved to the right of travel where another one, or the same a
    second time, runs along: each beside those before it in the same direction."""
    spacing = 0.008 * float(np.ptp(axes.get_xlim()))
    lines = [resample(path, spacing) for path in paths]
    points = np.concatenate(lines)
    agent = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    along = np.concatenate([lengths_along(line) for line in lines])
    ahead = np.concatenate([_directions(line) for line in lines])
    one, other = cKDTree(points).query_pairs(spacing, output_type="ndarray").reshape(-1, 2).T
    is_apart = (agent[one] != agent[other]) | (np.abs(along[one] - along[other]) > 4 * spacing)
    one, other = one[is_apart], other[is_apart]
    is_shared, num_before = np.zeros(len(points)), np.zeros(len(points))
    is_shared[one] = is_shared[other] = 1.0
    is_same = (ahead[one] * ahead[other]).sum(axis=1) > 0
    before = np.unique(np.stack([other[is_same], agent[one[is_same]]], axis=1), axis=0)
    np.add.at(num_before, before[:, 0], 1.0)
    aside = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)
    offset = spacing * (num_before + 0.5 * is_shared)
    moved = []
    for rows in np.split(np.arange(len(points)), np.cumsum([len(line) for line in lines])[:-1]):
        smooth = gaussian_filter1d(offset[rows], 2.0, mode="nearest") if len(rows) else offset[rows]
        moved.append(points[rows] + smooth[:, None] * aside[rows])
    return moved


def _directions(line: FloatArray) -> FloatArray:
    """[n, 2] unit vectors along a line."""
    if len(line) < 2:
        return np.zeros_like(line)
    ahead = np.gradient(line, axis=0)
    return ahead / (np.linalg.norm(ahead, axis=1, keepdims=True) + 1e-9)


def _draw_route(axes: Any, route: Plan, path: FloatArray, line: FloatArray, agent: int) -> None:
    """A route along its line, leg by leg, dashed where recordings did not make all of it and no model could
    generate it, with arrows."""
    colour = agent_colour(agent)
    share = lengths_along(path)[list(route.stops)] / max(lengths_along(path)[-1], 1e-9)
    ends = np.rint(share * (len(line) - 1)).astype(int)
    for leg, (first, last) in zip(route.legs, pairwise(ends), strict=False):
        style = {} if leg.evidence in CHECKED else {"dashes": (2.2, 1.2)}
        part = line[first : last + 1]
        axes.plot(*part.T, color=colour, linewidth=3, zorder=3, path_effects=_halo(5.5, 0.85), **style)
    if len(ends) < len(route.order):
        axes.plot(*line[ends[-1] :].T, color=colour, linewidth=3, zorder=3, alpha=0.5, linestyle=":")
    every = max(len(line) // max(2, round(len(line) / 25)), 1)
    for row in range(every // 2, len(line) - 1, every):
        arrow = {"arrowstyle": "-|>,head_width=0.42,head_length=0.7", "color": colour, "lw": 0}
        axes.annotate("", line[row + 1], line[row], arrowprops=arrow, zorder=4)


def _draw_stops(axes: Any, result: PlanResult) -> None:
    """Marks at the stops: waypoints with their place in the order of their agent, and one text for all stops
    at a place, of what they are called and when they are reached."""
    problem = result.problem.moved(result.frame.to_local)
    draw_anchors(axes, problem, dict.fromkeys(problem.names, ""))
    for agent, route in enumerate(result.routes):
        for number, name in enumerate(route.order[1:-1], start=1):
            style: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": 8}
            place = problem.anchors[problem.names.index(name)]
            _mark(axes, place, "o", 170, WAYPOINT, agent_colour(agent), 2)
            axes.text(*place, str(number), color=INK, zorder=6, fontweight="bold", **style)
    times: dict[tuple[float, float], dict[str, list[str]]] = {}
    for stop in result.timetable:
        place = problem.anchors[problem.names.index(stop.name)]
        when = times.setdefault((float(place[0]), float(place[1])), {}).setdefault(stop.label, [])
        if stop.arrival:
            when.append(f"{stop.clock:%H:%M}" if stop.clock else result.timetable.time(stop))
    for where, known in times.items():
        _write(axes, where, "\n".join(" ".join([label, *when]) for label, when in known.items()), fontsize=9)


def draw_scale(axes: Any, frame: Frame) -> None:
    """A bar of a round length; where the plane is not the user's own, also where two corners lie."""
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    margin = 0.012 * max(right - left, top - bottom)
    style = {"color": ROOM, "fontsize": 8, "zorder": 7}
    style["bbox"] = {"facecolor": GROUND, "linewidth": 0, "pad": 2}
    corners = (((left, bottom), 1, "left", "bottom"), ((right, top), -1, "right", "top"))
    for corner, sign, across, up in corners if frame.is_degrees or any(frame.origin) else ():
        text = frame.show_local(np.array(corner))
        axes.text(corner[0] + sign * margin, corner[1] + sign * margin, text, ha=across, va=up, **style)
    length = round_length(0.25 * (right - left))
    end, height = right - margin, bottom + 2 * margin
    for colour, width in ((GROUND, 7), (ROOM, 3)):
        axes.plot([end - length, end], [height, height], color=colour, linewidth=width, zorder=7)
    text = f"{length:g} {frame.unit}"
    axes.text(end - length / 2, height + margin, text, ha="center", va="bottom", **style)


def round_length(longest: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not longer."""
    power = 10.0 ** np.floor(np.log10(longest))
    return float(max(factor * power for factor in (1, 2, 5) if factor * power <= longest))


def draw_trees(axes: Any, trees: Sequence[TreePicture]) -> None:
    """Every generated segment as a thin line."""
    from matplotlib.collections import LineCollection

    for tree in trees:
        axes.add_collection(LineCollection(list(tree.segments), colors="#7c8a94", linewidths=0.7, alpha=0.45))


def draw_meetings(axes: Any, meetings: FloatArray, scale: float = 1.0) -> None:
    """Places [n, 2] where two trees touched."""
    if len(meetings):
        style = {"facecolor": "white", "edgecolor": INK, "linewidth": 1.2 * scale, "zorder": 4}
        axes.scatter(*meetings.T, s=34 * scale**2, **style)


def draw_paths(axes: Any, paths: Sequence[FloatArray]) -> None:
    """One line per agent with a pale edge, so that crossing routes stay apart."""
    for agent, path in enumerate(paths):
        halo = _halo(5.5, 0.85)
        axes.plot(*path.T, color=agent_colour(agent), linewidth=3, zorder=3, path_effects=halo)


def _halo(width: float, alpha: float = 1.0) -> list[Any]:
    """A pale edge around a line or a text."""
    from matplotlib import patheffects

    return [patheffects.Stroke(linewidth=width, foreground="white", alpha=alpha), patheffects.Normal()]


def draw_states(axes: Any, pieces: Sequence[tuple[FloatArray, str]]) -> None:
    """Pieces of a path, each in the colour of its state, which the legend names."""
    known = {state: [path for path, own in pieces if own == state] for state in STATES}
    for state, paths in known.items():
        for row, path in enumerate(paths):
            style = {"color": STATES[state], "linewidth": 3, "zorder": 3}
            axes.plot(*path.T, label=None if row else state, **style)
    axes.legend(loc="upper right")


def draw_anchors(
    axes: Any, problem: Problem, labels: Mapping[str, str] | None = None, scale: float = 1.0
) -> None:
    """Starts as squares, goals as stars, both in their agent's colour; waypoints as discs."""
    for name, point in zip(problem.names, problem.anchors, strict=True):
        marker, size = {"S": ("s", 130), "G": ("*", 330), "W": ("o", 90)}[name[0]]
        colour = WAYPOINT if name[0] == "W" else agent_colour(int(name[1:]) - 1)
        _mark(axes, point, marker, size * scale**2, colour, INK, 1.3 * scale)
        if label := (labels or {}).get(name, name):
            _write(axes, point, label, fontsize=11 * scale)


def _mark(
    axes: Any, place: FloatArray, marker: str, area: float, colour: str, edge: str, width: float
) -> None:
    """A marker with an edge; a line of one point, which is drawn faster than a collection of one."""
    style = {"markersize": area**0.5, "markeredgecolor": edge, "markeredgewidth": width}
    axes.plot(*place, marker=marker, color=colour, linestyle="", zorder=5, **style)


def _write(axes: Any, place: Any, text: str, **style: Any) -> None:
    """Words beside a place, toward the middle of the picture, legible on any ground."""
    left, right = axes.get_xlim()
    side, across = (-9, "right") if place[0] > left + 0.85 * (right - left) else (9, "left")
    style |= {"color": INK, "fontweight": "bold", "path_effects": _halo(3)}
    axes.annotate(text, place, (side, 9), textcoords="offset points", ha=across, zorder=6, **style)
