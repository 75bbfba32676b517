"""An animation of the rounds of one plan of the variant `online`: trees grow, meet, and the route changes.

    python examples/rounds.py [FILE]

Writes a GIF (runs/rounds.gif unless told) and prints the route of every round.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from PIL import Image

import chronoforest as cf
from chronoforest.report.drawing import INK, agent_colour, draw_anchors, draw_meetings, draw_paths, new_axes
from chronoforest.types import JointRoute, Snapshot, Support

PRESET = "pointmaze-giant-stitch-v0"
PROBLEM = cf.Problem(
    starts=[[33.0, 17.0], [16.0, 15.0]],
    goals=[[4.0, 8.0], [52.0, 28.0]],
    waypoints=[[24.0, 36.5], [3.0, 36.0], [7.0, 27.0], [25.0, 31.0]],
)

WIDTH = 7.0
"""Inches at 120 dots each."""

GROWTH = 5
"""Pictures in which the new segments of a round grow."""

QUICK, SLOW, LAST = 90, 1100, 4000
"""Milliseconds that a picture of growth, of a finished round and of the plan is shown."""


@dataclass(frozen=True)
class Frame:
    """A picture and the milliseconds for which it is shown."""

    picture: Image.Image
    duration: int


def main(path: Path) -> None:
    """Plan, print the rounds, write the animation."""
    snapshots: list[Snapshot] = []
    planner = cf.load_planner(PRESET)
    result = planner.plan(PROBLEM, seed=0, on_snapshot=snapshots.append, variant="online")
    for snapshot in snapshots:
        print(caption(snapshot))
    print(result.summary())
    write(path, list(animate(snapshots, result)))
    print(f"{path}, {path.stat().st_size / 1e6:.2f} MB")


def animate(snapshots: Sequence[Snapshot], result: cf.PlanResult) -> Iterator[Frame]:
    """The guess, then for every round its growth and what came of it, then the plan."""
    support = result.support
    yield Frame(draw(snapshots[0], support), SLOW)
    for before, after in pairwise(snapshots):
        for part in np.linspace(0, 1, GROWTH + 1)[1:-1]:
            yield Frame(draw(growing(before, after, part), support), QUICK)
        yield Frame(draw(after, support, has_flipped=after.stats.route != before.stats.route), SLOW)
    yield Frame(draw_plan(snapshots[-1], result), LAST)


def growing(before: Snapshot, after: Snapshot, part: float) -> Snapshot:
    """The earlier snapshot with the first `part` of every segment that the later one adds."""
    trees = []
    for old, new in zip(before.trees, after.trees, strict=True):
        segments = new.segments.copy()
        last = round(part * (segments.shape[1] - 1))
        added = segments[len(old.segments) :]
        added[:, last:] = added[:, last : last + 1]
        trees.append(replace(new, segments=segments))
    return replace(before, trees=tuple(trees))


def draw(snapshot: Snapshot, support: Support, has_flipped: bool = False) -> Image.Image:
    """Trees, the tentative route, meetings and anchors."""
    figure, axes = new_axes(support, WIDTH)
    draw_segments(axes, snapshot)
    draw_legs(axes, snapshot)
    draw_meetings(axes, np.array(list(snapshot.meetings.values())).reshape(-1, 2))
    draw_anchors(axes, snapshot.problem)
    colour = "#d1495b" if has_flipped else INK
    axes.set_title(caption(snapshot) + "   new order" * has_flipped, fontsize=9, color=colour)
    return rendered(figure)


def draw_plan(last: Snapshot, result: cf.PlanResult) -> Image.Image:
    """The finished plan over the trees that found it."""
    figure, axes = new_axes(result.support, WIDTH)
    draw_segments(axes, last)
    draw_paths(axes, [route.path for route in result.routes])
    draw_anchors(axes, result.problem)
    orders = "   ".join(" → ".join(route.order) for route in result.routes)
    axes.set_title(f"plan   {orders}   {result.length:.0f} units", fontsize=9, color=INK)
    return rendered(figure)


def draw_segments(axes: Any, snapshot: Snapshot) -> None:
    """All trees, darker than in the picture of a plan: here they are what matters."""
    segments = [segment for tree in snapshot.trees for segment in tree.segments]
    axes.add_collection(LineCollection(segments, colors="#5b6b77", linewidths=1.2, alpha=0.7))


def draw_legs(axes: Any, snapshot: Snapshot) -> None:
    """Met legs of the tentative route as they would be walked, the others as straight dashes."""
    anchors = snapshot.problem.anchors
    for agent, order in enumerate(snapshot.stats.route.orders):
        for leg in JointRoute((order,)).legs:
            is_met = leg in snapshot.paths
            path = snapshot.paths[leg] if is_met else anchors[[leg.source, leg.target]]
            style = "solid" if is_met else (0, (2, 2))
            axes.plot(*path.T, color=agent_colour(agent), linewidth=2.5, linestyle=style, zorder=3)


def caption(snapshot: Snapshot) -> str:
    """Round, tentative route, legs met, nodes."""
    stats = snapshot.stats
    orders = "   ".join(" → ".join(order) for order in stats.route.named(snapshot.problem))
    when = "first guess" if stats.round_index < 0 else f"round {stats.round_index + 1}"
    num_legs = len(stats.route.legs)
    return f"{when}   {orders}   {len(stats.accepted)} of {num_legs} legs met, {stats.num_nodes} nodes"


def rendered(figure: Any) -> Image.Image:
    """The figure in few colours, which keeps the file small."""
    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    return picture.quantize(64, dither=Image.Dither.NONE)


def write(path: Path, frames: Sequence[Frame]) -> None:
    """Write beside the target and rename, so that a broken file never has the final name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.stem}.draft.gif")
    first, *others = (frame.picture for frame in frames)
    durations = [frame.duration for frame in frames]
    first.save(draft, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    os.replace(draft, path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/rounds.gif"))
