"""Draws where a dataset went."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.data.episodes import Episodes, Float32Array
from chronoforest.data.frames import Frame
from chronoforest.report.drawing import save
from chronoforest.roadmap.roadmap import Roadmap
from chronoforest.types import FloatArray

Extent = tuple[float, float, float, float]
"""Left, right, bottom, top."""

NUM_PIXELS = 240
"""Pixels of the map along its longer side."""

NUM_SHOWN = 12
"""Episodes drawn as lines over the map."""


def draw_coverage(episodes: Episodes, path: Path, title: str = "", roadmap: Roadmap | None = None) -> None:
    """Write a PNG: how often each place was visited, on a logarithmic scale, with a few episodes as lines,
    and beside it, where it is known, which places can reach each other."""
    from matplotlib.figure import Figure

    counts, extent, pixel = _visits(episodes)
    height = 7.4 * (extent[3] - extent[2]) / (extent[1] - extent[0]) + 0.9
    num_panels = 1 if roadmap is None else 2
    figure = Figure(figsize=(9.0 * num_panels, height), dpi=110, layout="constrained")
    axes, *others = figure.subplots(1, num_panels, squeeze=False)[0]
    image = axes.imshow(
        np.ma.masked_equal(counts.T, 0), origin="lower", extent=extent, cmap="YlGnBu", norm="log"
    )
    for track in _shown_tracks(episodes):
        axes.plot(*track.T, linewidth=1.1, alpha=0.9)
        axes.plot(*track[0], "o", color="black", markersize=3)
    _label(axes, extent, episodes.frame)
    axes.set(title=title)
    unit = episodes.frame.unit
    figure.colorbar(image, ax=axes, label=f"visits per {pixel:.2g} × {pixel:.2g} {unit}", shrink=0.8)
    if roadmap is not None:
        is_main = roadmap.parts == np.argmax(np.bincount(roadmap.parts))
        for mask, colour, words in (
            (is_main, "#8fb8c9", "reach each other"),
            (~is_main, "#d1495b", "no way there or no way back"),
        ):
            label = f"{words} ({100 * mask.mean():.0f} %)"
            others[0].scatter(*roadmap.position[mask, :2].T, s=9, color=colour, label=label, linewidths=0)
        _label(others[0], extent, episodes.frame)
        others[0].set(title="places of the roadmap")
        others[0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2, fontsize=8, frameon=False)
    save(figure, path)


def _label(axes: Any, extent: Extent, frame: Frame) -> None:
    """Ticks in the user's coordinates, taken amid the picture where the plane is turned against them."""
    left, right, bottom, top = extent
    middle = np.array([(left + right) / 2, (bottom + top) / 2])
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.set(xlabel=f"{frame.axes[0]}{_unit(frame)}", ylabel=f"{frame.axes[1]}{_unit(frame)}")
    for axis, k in ((axes.xaxis, 0), (axes.yaxis, 1)):
        axis.set_major_formatter(partial(_user_tick, frame=frame, middle=middle, k=k))


def _user_tick(value: float, _: int, frame: Frame, middle: FloatArray, k: int) -> str:
    place = middle.copy()
    place[k] = value
    digits = 4 if frame.is_degrees else 3
    return f"{round(float(frame.to_user(place)[k]), digits):.10g}"


def _unit(frame: Frame) -> str:
    return "" if frame.is_degrees else " (units)"


def _visits(episodes: Episodes) -> tuple[FloatArray, Extent, float]:
    """[X, Y] visits per pixel; the left, right, bottom and top of the map; the edge of a pixel in units."""
    points = episodes.xy.reshape(-1, 2).astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    pixel = float((high - low).max()) / NUM_PIXELS
    edges_x, edges_y = (
        np.arange(a - 4 * pixel, b + 5 * pixel, pixel) for a, b in zip(low, high, strict=True)
    )
    counts, _, _ = np.histogram2d(points[:, 0], points[:, 1], bins=(edges_x, edges_y))
    return counts, (edges_x[0], edges_x[-1], edges_y[0], edges_y[-1]), pixel


def _shown_tracks(episodes: Episodes) -> list[Float32Array]:
    """Evenly chosen episodes [T, 2]; a jump interrupts the line instead of crossing the map."""
    chosen = np.linspace(0, len(episodes) - 1, min(NUM_SHOWN, len(episodes))).astype(int)
    tracks = episodes.xy[chosen].copy()
    tracks[:, 1:][episodes.step_lengths[chosen] > episodes.jump] = np.nan
    return list(tracks)
