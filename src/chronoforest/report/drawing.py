"""How a plan looks: the data's support, the trees, where they met, the routes and the anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.files import drafted
from chronoforest.types import FloatArray, Problem, Support, TreePicture

AGENT_COLOURS = ("#d1495b", "#00798c", "#edae49", "#66418d", "#30638e", "#3f7d20", "#c06014", "#8a4f7d")
GROUND, ROOM, INK = "#22303c", "#f4f1ea", "#22303c"
WAYPOINT = "#ffd166"


def agent_colour(agent: int) -> str:
    """The colour of an agent, its start and its goal."""
    return AGENT_COLOURS[agent % len(AGENT_COLOURS)]


def new_axes(support: Support, width: float = 10.0) -> tuple[Any, Any]:
    """A figure that fits the support, drawn as the ground plan it implies."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    left, right, bottom, top = support.extent
    figure = Figure(figsize=(width, width * (top - bottom) / (right - left) + 0.5), dpi=120)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.93))
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


def _in_colours(figure: Any, count: int) -> Any:
    """The figure as a picture with a palette."""
    from PIL import Image

    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    return picture.quantize(count, dither=Image.Dither.NONE)


def ground(support: Support, axes: Any = None) -> Any:
    """The axes with the support drawn on them, or new ones that fit it."""
    if axes is None:
        return new_axes(support)[1]
    draw_support(axes, support)
    return axes


def draw_support(axes: Any, support: Support) -> None:
    """The supported region as rooms in the ground, and the axes fitted to it."""
    from matplotlib.colors import ListedColormap

    left, right, bottom, top = support.extent
    axes.imshow(
        support.mask.T,
        origin="lower",
        extent=support.extent,
        cmap=ListedColormap([GROUND, ROOM]),
        interpolation="nearest",
        zorder=0,
    )
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.axis("off")


def draw_frame(axes: Any, support: Support, frame: Frame) -> None:
    """Where two corners lie in the user's coordinates, and a bar of a round length; nothing where the plane
    is the user's own."""
    if frame.kind == "plain" and not any(frame.origin):
        return
    left, right, bottom, top = support.extent
    margin = 0.012 * max(right - left, top - bottom)
    style = {
        "color": ROOM,
        "fontsize": 8,
        "zorder": 7,
        "bbox": {"facecolor": GROUND, "linewidth": 0, "pad": 2},
    }
    places = (((left, bottom), 1, "left", "bottom"), ((right, top), -1, "right", "top"))
    for corner, sign, across, up in places:
        text = frame.show_local(np.array(corner))
        axes.text(corner[0] + sign * margin, corner[1] + sign * margin, text, ha=across, va=up, **style)
    length = round_length(0.25 * (right - left))
    end, height = right - margin, bottom + 2 * margin
    for colour, width in ((GROUND, 7), (ROOM, 3)):
        axes.plot([end - length, end], [height, height], color=colour, linewidth=width, zorder=7)
    axes.text(
        end - length / 2, height + margin, f"{length:g} {frame.unit}", ha="center", va="bottom", **style
    )


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
    from matplotlib import patheffects

    for agent, path in enumerate(paths):
        halo = [patheffects.Stroke(linewidth=5.5, foreground="white", alpha=0.85), patheffects.Normal()]
        axes.plot(*path.T, color=agent_colour(agent), linewidth=3, zorder=3, path_effects=halo)


def draw_anchors(
    axes: Any, problem: Problem, labels: Mapping[str, str] | None = None, scale: float = 1.0
) -> None:
    """Starts as circles, goals as stars, both in their agent's colour; waypoints as diamonds."""
    from matplotlib import patheffects

    halo = [patheffects.Stroke(linewidth=3 * scale, foreground="white"), patheffects.Normal()]
    for name, point in zip(problem.names, problem.anchors, strict=True):
        marker, size = {"S": ("o", 150), "G": ("*", 330), "W": ("D", 90)}[name[0]]
        colour = WAYPOINT if name[0] == "W" else agent_colour(int(name[1:]) - 1)
        style = {"color": colour, "edgecolor": INK, "linewidth": 1.3 * scale, "zorder": 5}
        axes.scatter(*point, marker=marker, s=size * scale**2, **style)
        axes.annotate(
            (labels or {}).get(name, name),
            point,
            xytext=(8 * scale, 8 * scale),
            textcoords="offset points",
            fontsize=11 * scale,
            fontweight="bold",
            color=INK,
            zorder=6,
            path_effects=halo,
        )
