"""Draws where a dataset went."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from chronoforest.data.episodes import Episodes, Float32Array
from chronoforest.report.plots import save_figure
from chronoforest.types import FloatArray

NUM_PIXELS = 240
"""Pixels of the map along its longer side."""

NUM_SHOWN = 12
"""Episodes drawn as lines over the map."""


def draw_coverage(episodes: Episodes, path: Path, title: str = "") -> None:
    """Write a PNG: how often each place was visited, on a logarithmic scale, with a few episodes as lines."""
    from matplotlib.figure import Figure

    counts, extent, pixel = _visits(episodes)
    height = 7.4 * (extent[3] - extent[2]) / (extent[1] - extent[0]) + 0.9
    figure = Figure(figsize=(9.0, height), dpi=110, layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(
        np.ma.masked_equal(counts.T, 0), origin="lower", extent=extent, cmap="YlGnBu", norm="log"
    )
    for track in _shown_tracks(episodes):
        axes.plot(*track.T, linewidth=1.1, alpha=0.9)
        axes.plot(*track[0], "o", color="black", markersize=3)
    axes.set(xlabel="x (units)", ylabel="y (units)", title=title)
    figure.colorbar(image, ax=axes, label=f"visits per {pixel:.2g} × {pixel:.2g} units", shrink=0.8)
    save_figure(figure, path)


def _visits(episodes: Episodes) -> tuple[FloatArray, tuple[float, float, float, float], float]:
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
