"""An MP4 of agents moving in the maze, drawn from their records.

The ground plan, the plans and the anchors are drawn once; after that every frame only stamps round brushes
into the picture: small ones that stay, for the tracks, and large ones that do not, for the agents.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronoforest import pictures
from chronoforest.errors import CannotWrite, InvalidParameter
from chronoforest.execution.rollout import Rollout
from chronoforest.pictures import Support
from chronoforest.report.plots import JUMP, draw_planned
from chronoforest.types import FloatArray, Problem

Picture = NDArray[np.uint8]
"""[height, width, 3] red, green and blue."""

WHITE = np.array([255.0, 255.0, 255.0])


@dataclass(frozen=True)
class VideoParams:
    """width: pixels; fps: frames a second; max_frames: walks are sped up to fit; hold: frames at the end;
    body, trail: radii in world units."""

    width: int = 960
    fps: int = 30
    max_frames: int = 360
    hold: int = 30
    body: float = 0.7
    trail: float = 0.17

    def __post_init__(self) -> None:
        if self.width < 64 or self.max_frames < 1 or self.fps < 1:
            raise InvalidParameter(
                "a video needs at least 64 pixels, 1 frame and 1 frame a second, "
                f"got {self.width}, {self.max_frames} and {self.fps}"
            )


@dataclass(frozen=True, eq=False)
class Scene:
    """The picture behind the agents and where it lies in the world.

    background: [height, width, 3], both even; corner: [2] world position of the upper left pixel's edge;
    scale: pixels per unit.
    """

    background: Picture
    corner: FloatArray
    scale: float

    def pixel(self, points: FloatArray) -> FloatArray:
        """[…, 2] world units → […, 2] column and row, pixel centres at whole numbers."""
        return (points - self.corner) * np.array([1.0, -1.0]) * self.scale - 0.5


def draw_video(
    path: str | Path,
    support: Support,
    problem: Problem,
    rollouts: Sequence[Rollout],
    title: str = "",
    params: VideoParams | None = None,
) -> None:
    """Write an H.264 MP4 of all agents walking at the same time."""
    params = params or VideoParams()
    scene = draw_scene(support, problem, rollouts, title, params)
    _encode(Path(path), scene, frames(scene, rollouts, params), params)


def draw_scene(
    support: Support, problem: Problem, rollouts: Sequence[Rollout], title: str, params: VideoParams
) -> Scene:
    """Everything that does not move."""
    figure, axes = pictures.new_axes(support)
    figure.set_dpi(params.width / figure.get_figwidth())
    draw_planned(axes, rollouts)
    pictures.draw_anchors(axes, problem)
    axes.set_title(title, fontsize=12, color=pictures.INK)
    figure.canvas.draw()
    image: Picture = np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()
    inverse = axes.transData.inverted()
    corner, unit = inverse.transform([(0, image.shape[0]), (1, image.shape[0])])
    height, width = (size // 2 * 2 for size in image.shape[:2])  # yuv420p halves the colours' resolution
    return Scene(image[:height, :width].copy(), corner, 1.0 / float(unit[0] - corner[0]))


def frames(scene: Scene, rollouts: Sequence[Rollout], params: VideoParams) -> Iterator[Picture]:
    """One picture for every few steps; agents that have finished stay where they are."""
    canvas = scene.background.copy()
    num_steps = max(rollout.steps for rollout in rollouts)
    stride = max(1, -(-num_steps // params.max_frames))
    moments = [0, *range(stride, num_steps, stride), num_steps]
    for before, now in zip([0, *moments], moments, strict=False):
        for agent, rollout in enumerate(rollouts):
            _paint_trail(canvas, scene, rollout, agent, before, now, params)
        yield _with_agents(canvas, scene, rollouts, now, params)
    for _ in range(params.hold):
        yield _with_agents(canvas, scene, rollouts, num_steps, params)


def stamp(canvas: Picture, centre: FloatArray, radius: float, colour: FloatArray) -> None:
    """Paint a disc with a smooth edge into the canvas; centre [2] as column, row."""
    low = np.floor(centre - radius - 1).astype(int)
    high = np.ceil(centre + radius + 2).astype(int)
    left, top = np.clip(low, 0, None)
    right, bottom = np.minimum(high, (canvas.shape[1], canvas.shape[0]))
    if left >= right or top >= bottom:
        return
    rows, columns = np.ogrid[top:bottom, left:right]
    distance = np.hypot(columns - centre[0], rows - centre[1])
    cover = np.clip(radius + 0.5 - distance, 0.0, 1.0)[..., None]
    patch = canvas[top:bottom, left:right]
    patch[:] = (patch * (1.0 - cover) + colour * cover + 0.5).astype(np.uint8)


def _paint_trail(
    canvas: Picture, scene: Scene, rollout: Rollout, agent: int, before: int, now: int, params: VideoParams
) -> None:
    """The steps since the last picture, dotted so closely that the dots are a line; visits as rings."""
    colour = _rgb(pictures.agent_colour(agent))
    track = rollout.xy[before : now + 1]
    for place in _dots(track, spacing=0.5 / scene.scale):
        stamp(canvas, scene.pixel(place), params.trail * scene.scale, colour)
    for step, place in zip(rollout.visit_steps, rollout.visited, strict=True):
        if before < step <= now:
            stamp(canvas, scene.pixel(place), params.body * scene.scale, WHITE)
            stamp(canvas, scene.pixel(place), 0.6 * params.body * scene.scale, colour)


def _with_agents(
    canvas: Picture, scene: Scene, rollouts: Sequence[Rollout], now: int, params: VideoParams
) -> Picture:
    """A copy with the agents where they are at a step, on white rims so that they stand out."""
    picture = canvas.copy()
    radius = params.body * scene.scale
    for agent, rollout in enumerate(rollouts):
        centre = scene.pixel(rollout.xy[min(now, rollout.steps)])
        stamp(picture, centre, radius + 2.0, WHITE)
        stamp(picture, centre, radius, _rgb(pictures.agent_colour(agent)))
    return picture


def _dots(track: FloatArray, spacing: float) -> FloatArray:
    """Points along the polyline [T, 2], none on teleports, at most `spacing` units apart."""
    dots = [np.zeros((0, 2))]
    for start, end in pairwise(track):
        length = float(np.linalg.norm(end - start))
        if length <= JUMP:
            dots.append(np.linspace(start, end, int(np.ceil(length / spacing)) + 1))
    return np.concatenate(dots)


def _rgb(colour: str) -> FloatArray:
    """[3] from #rrggbb."""
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.float64)


def _encode(path: Path, scene: Scene, pictures: Iterator[Picture], params: VideoParams) -> None:
    """Write beside the target and rename, so that a broken video never has the final name."""
    import imageio_ffmpeg

    draft = path.with_name(f".{path.stem}.draft.mp4")
    height, width = scene.background.shape[:2]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = imageio_ffmpeg.write_frames(
            str(draft), (width, height), fps=params.fps, codec="libx264", macro_block_size=2, quality=7
        )
        writer.send(None)
        for picture in pictures:
            writer.send(picture.tobytes())
        writer.close()
        os.replace(draft, path)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error
