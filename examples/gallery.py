"""A picture of a plan in every world that ships, for docs/gallery.md.

    python examples/gallery.py [FOLDER]

Two agents and five waypoints each, at places far apart that the recordings themselves offer. Writes
PRESET.png for every preset into FOLDER (docs/images/gallery unless told).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.ndimage import distance_transform_edt

import chronoforest as cf
from chronoforest.names import PRESETS
from chronoforest.report.drawing import new_axes, save
from chronoforest.types import FloatArray, Support

NUM_AGENTS, NUM_WAYPOINTS = 2, 5

ROOM = 0.6
"""Share of the widest room that an anchor has around it at least."""

WIDTH, NUM_COLOURS = 7.0, 64
"""Inches across a picture at 120 dots each, and its colours: both keep the files small."""


def main(folder: Path) -> None:
    """Plan in every world and draw."""
    folder.mkdir(parents=True, exist_ok=True)
    for preset in PRESETS:
        planner = cf.load_planner(preset)
        result = planner.plan(far_problem(planner.models.support), seed=0)
        path = folder / f"{preset}.png"
        draw(result, path)
        print(f"{path}  {result!r}", flush=True)


def far_problem(support: Support) -> cf.Problem:
    """Anchors with room around them, each as far as can be from those before it."""
    room = distance_transform_edt(support.mask)
    places = support.origin + support.cell * np.argwhere(room >= ROOM * room.max())
    chosen = far_apart(places, 2 * NUM_AGENTS + NUM_WAYPOINTS)
    starts, goals, waypoints = np.split(chosen, [NUM_AGENTS, 2 * NUM_AGENTS])
    return cf.Problem(starts=starts, goals=goals, waypoints=waypoints)


def far_apart(places: FloatArray, count: int) -> FloatArray:
    """[count, 2] of places [n, 2], the first in the lower left."""
    chosen = [int(places.sum(axis=1).argmin())]
    gap = np.linalg.norm(places - places[chosen[0]], axis=1)
    while len(chosen) < count:
        chosen.append(int(gap.argmax()))
        gap = np.minimum(gap, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return places[chosen]


def draw(result: cf.PlanResult, path: Path) -> None:
    """The plan in a small file."""
    figure, axes = new_axes(result.support, WIDTH)
    result.plot(ax=axes)
    axes.set_title("   ".join(" → ".join(route.order) for route in result.routes), fontsize=9)
    save(figure, path, NUM_COLOURS)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/gallery"))
