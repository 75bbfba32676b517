"""Pictures of walks: all at once, and the map behind the agents with what is painted onto it meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.envs.bodies import Limbs
from chronoforest.execution.rollout import Rollout
from chronoforest.planning.result import PlanResult
from chronoforest.report import drawing
from chronoforest.types import FloatArray, Problem, Support

Picture = NDArray[np.uint8]
"""[height, width, 3] red, green and blue."""

JUMP = 1.5
"""Units; a longer step of a walk is a teleport, and lines are interrupted there."""

WHITE = np.array([255.0, 255.0, 255.0])

BODY = 0.7
"""Radius of a point, and of the mark on a visited waypoint, in world units."""

TRAIL = 0.17
"""Radius of the line behind an agent, in world units."""

SHADE = 0.45
"""How much darker an ant is painted at the floor than at its back."""


@dataclass(frozen=True, eq=False)
class MapPicture:
    """A picture and where it lies in the world.

    canvas: [height, width, 3], both even; corner: [2] world position of the upper left pixel's edge;
    scale: pixels per unit.
    """

    canvas: Picture
    corner: FloatArray
    scale: float

    def pixel(self, points: FloatArray) -> FloatArray:
        """[…, 2] world units → […, 2] column and row, pixel centres at whole numbers."""
        return (points - self.corner) * np.array([1.0, -1.0]) * self.scale - 0.5

    def copy(self) -> MapPicture:
        """The same place with a canvas of its own."""
        return replace(self, canvas=self.canvas.copy())

    def paint_line(self, start: FloatArray, end: FloatArray, radius: float, colour: FloatArray) -> None:
        """A line with round ends and a smooth edge; start and end [2] and the radius in world units."""
        start, end, radius = self.pixel(start), self.pixel(end), radius * self.scale
        low = np.floor(np.minimum(start, end) - radius - 1).astype(int)
        high = np.ceil(np.maximum(start, end) + radius + 2).astype(int)
        left, top = np.clip(low, 0, None)
        right, bottom = np.minimum(high, (self.canvas.shape[1], self.canvas.shape[0]))
        if left >= right or top >= bottom:
            return
        rows, columns = np.ogrid[top:bottom, left:right]
        (across, down), squared = end - start, max(float(((end - start) ** 2).sum()), np.finfo(float).tiny)
        share = np.clip(((columns - start[0]) * across + (rows - start[1]) * down) / squared, 0.0, 1.0)
        distance = np.hypot(columns - start[0] - share * across, rows - start[1] - share * down)
        cover = np.clip(radius + 0.5 - distance, 0.0, 1.0)[..., None]
        patch = self.canvas[top:bottom, left:right]
        patch[:] = (patch * (1.0 - cover) + colour * cover + 0.5).astype(np.uint8)

    def paint_disc(self, centre: FloatArray, radius: float, colour: FloatArray) -> None:
        """A disc with a smooth edge; centre [2] and radius in world units."""
        self.paint_line(centre, centre, radius, colour)


def draw_map(result: PlanResult, rollouts: Sequence[Rollout], title: str, width: int) -> MapPicture:
    """Everything that does not move: the support, the paths to follow and the anchors."""
    figure, axes = drawing.new_axes(result.support)
    figure.set_dpi(width / figure.get_figwidth())
    draw_planned(axes, rollouts)
    drawing.draw_anchors(axes, result.problem)
    axes.set_title(title, fontsize=12, color=drawing.INK)
    figure.canvas.draw()
    image: Picture = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    corner, unit = axes.transData.inverted().transform([(0, image.shape[0]), (1, image.shape[0])])
    height, width = (size // 2 * 2 for size in image.shape[:2])  # yuv420p halves the colours' resolution
    return MapPicture(image[:height, :width].copy(), corner, 1.0 / float(unit[0] - corner[0]))


def draw_rollouts(
    path: str | Path, support: Support, problem: Problem, rollouts: Sequence[Rollout], title: str = ""
) -> None:
    """Write a PNG: plans as pale broad bands, tracks as lines, a cross where an agent planned anew."""
    figure, axes = drawing.new_axes(support)
    draw_planned(axes, rollouts)
    shown = [rollout.xy.copy() for rollout in rollouts]
    for walk in shown:  # a gap at every teleport
        walk[1:][np.linalg.norm(np.diff(walk, axis=0), axis=1) > JUMP] = np.nan
    drawing.draw_paths(axes, shown)
    for rollout in rollouts:
        places = rollout.xy[list(rollout.replan_steps)]
        axes.scatter(*places.T, marker="x", s=70, color=drawing.INK, linewidth=2, zorder=4)
    drawing.draw_anchors(axes, problem)
    axes.set_title(title, fontsize=12, color=drawing.INK)
    drawing.save(figure, path)


def draw_planned(axes: Any, rollouts: Sequence[Rollout]) -> None:
    """The paths every agent was to follow, the re-planned ones included."""
    for agent, rollout in enumerate(rollouts):
        for path in rollout.paths:
            colour = drawing.agent_colour(agent)
            axes.plot(*path.T, color=colour, linewidth=9, alpha=0.25, solid_capstyle="round", zorder=2)


def paint_trail(picture: MapPicture, rollout: Rollout, agent: int, before: int, now: int) -> None:
    """The steps since the last picture as a line, and a ring on every waypoint visited in them."""
    colour = drawing.rgb(drawing.agent_colour(agent))
    for start, end in pairwise(rollout.xy[before : now + 1]):
        if np.linalg.norm(end - start) <= JUMP:
            picture.paint_line(start, end, TRAIL, colour)
    for step, place in zip(rollout.visit_steps, rollout.visited, strict=True):
        if before < step <= now:
            picture.paint_disc(place, BODY, WHITE)
            picture.paint_disc(place, 0.6 * BODY, colour)


def paint_point(picture: MapPicture, place: FloatArray, agent: int) -> None:
    """A disc on a white rim, so that it stands out."""
    picture.paint_disc(place, BODY + 2.0 / picture.scale, WHITE)
    picture.paint_disc(place, BODY, drawing.rgb(drawing.agent_colour(agent)))


def paint_limbs(picture: MapPicture, limbs: Limbs, agent: int, enlarge: float = 1.0) -> None:
    """An ant from above on a white rim: what is lower is darker and lies under what is higher.

    enlarge: how many times its size it is painted, about its middle.
    """
    places, middle = limbs.ends[..., :2], limbs.ends[0, 0, :2]
    ends, radii = middle + enlarge * (places - middle), enlarge * limbs.radii
    rim = max(1.5 / picture.scale, 0.05)
    for (start, end), radius in zip(ends, radii, strict=True):
        picture.paint_line(start, end, radius + rim, WHITE)
    heights = limbs.ends[..., 2].mean(axis=1)
    light = 1.0 - SHADE * (1.0 - (heights - heights.min()) / max(np.ptp(heights), 1e-6))
    colour = drawing.rgb(drawing.agent_colour(agent))
    for limb in np.argsort(heights, kind="stable"):
        start, end = ends[limb]
        picture.paint_line(start, end, radii[limb], light[limb] * colour)
