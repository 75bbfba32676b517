"""Painting into a picture: discs, thick lines with round ends, and words."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.types import FloatArray

Picture = NDArray[np.uint8]
"""[height, width, 3] red, green and blue."""

WHITE = np.array([255.0, 255.0, 255.0])


def rgb(colour: str) -> FloatArray:
    """[3] in 0…255 from #rrggbb."""
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.float64)


def paint_disc(canvas: Picture, centre: FloatArray, radius: float, colour: FloatArray) -> None:
    """Paint a disc with a smooth edge into the canvas; centre [2] as column, row."""
    paint_line(canvas, centre, centre, radius, colour)


def paint_line(
    canvas: Picture, start: FloatArray, end: FloatArray, radius: float, colour: FloatArray
) -> None:
    """Paint a line with round ends and a smooth edge; start and end [2] as column, row."""
    low = np.floor(np.minimum(start, end) - radius - 1).astype(int)
    high = np.ceil(np.maximum(start, end) + radius + 2).astype(int)
    left, top = np.clip(low, 0, None)
    right, bottom = np.minimum(high, (canvas.shape[1], canvas.shape[0]))
    if left >= right or top >= bottom:
        return
    rows, columns = np.ogrid[top:bottom, left:right]
    distance = _to_segment(columns, rows, start, end)
    cover = np.clip(radius + 0.5 - distance, 0.0, 1.0)[..., None]
    patch = canvas[top:bottom, left:right]
    patch[:] = (patch * (1.0 - cover) + colour * cover + 0.5).astype(np.uint8)


@lru_cache(maxsize=64)
def caption_strip(text: str, colour: str, width: int, height: int) -> Picture:
    """White bold words on a coloured strip."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=colour)
    canvas: Any = FigureCanvasAgg(figure)
    size = 0.52 * height * 72 / 100
    figure.text(0.35 * height / width, 0.46, text, color="white", weight="bold", size=size, va="center")
    canvas.draw()
    picture: Picture = np.asarray(canvas.buffer_rgba())[:height, :width, :3].copy()
    picture.setflags(write=False)  # it is shared by all who ask for the same words
    return picture


def _to_segment(
    columns: NDArray[np.int_], rows: NDArray[np.int_], start: FloatArray, end: FloatArray
) -> FloatArray:
    """[rows, columns] distance of every pixel to the segment."""
    along = end - start
    squared = float(along @ along)
    if squared == 0.0:
        return np.hypot(columns - start[0], rows - start[1])
    share = np.clip(((columns - start[0]) * along[0] + (rows - start[1]) * along[1]) / squared, 0.0, 1.0)
    return np.hypot(columns - start[0] - share * along[0], rows - start[1] - share * along[1])
