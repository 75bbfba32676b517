"""Draws what agents did over what they had planned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chronoforest.execution.rollout import Rollout
from chronoforest.files import drafted
from chronoforest.report import drawing
from chronoforest.report.drawing import INK
from chronoforest.types import FloatArray, Problem, Support

JUMP = 1.5
"""A longer step is a teleport; lines are interrupted there."""


def draw_rollouts(
    path: str | Path, support: Support, problem: Problem, rollouts: Sequence[Rollout], title: str = ""
) -> None:
    """Write a PNG: plans as pale broad bands, tracks as lines, a cross where an agent planned anew."""
    figure, axes = drawing.new_axes(support)
    draw_planned(axes, rollouts)
    drawing.draw_paths(axes, [without_jumps(rollout.xy) for rollout in rollouts])
    for rollout in rollouts:
        places = rollout.xy[list(rollout.replan_steps)]
        axes.scatter(*places.T, marker="x", s=70, color=INK, linewidth=2, zorder=4)
    drawing.draw_anchors(axes, problem)
    axes.set_title(title, fontsize=12, color=INK)
    save_figure(figure, path)


def draw_planned(axes: Any, rollouts: Sequence[Rollout]) -> None:
    """The paths every agent was to follow, the re-planned ones included."""
    for agent, rollout in enumerate(rollouts):
        for path in rollout.paths:
            colour = drawing.agent_colour(agent)
            axes.plot(*path.T, color=colour, linewidth=9, alpha=0.25, solid_capstyle="round", zorder=2)


def without_jumps(track: FloatArray) -> FloatArray:
    """[T, 2] with a gap (NaN) at every step that is a teleport."""
    shown = track.copy()
    shown[1:][np.linalg.norm(np.diff(track, axis=0), axis=1) > JUMP] = np.nan
    return shown


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a picture in the format of the path's ending."""
    with drafted(path) as draft:
        figure.savefig(draft)
