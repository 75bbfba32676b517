"""From recordings to a plan for three carts and eight stops, by the commands a person would type.

    python examples/yard/run.py [FOLDER]

Everything is written into FOLDER (runs/yard-example unless told). Ends with 1 when the plan is incomplete,
misses a stop, leaves the road or drives against a one-way lane.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

from yard import LANES, Traffic, judge, lane_arrows, record

from chronoforest import PlanResult, load_result
from chronoforest.cli import main
from chronoforest.report.drawing import draw_anchors, draw_paths, new_axes

STARTS = "12,3 60,38 3,36"
GOALS = "12,24 3,12 28.5,13.5"
STOPS = "28,24 20,33 48,3 37,33 48.5,18.5 48.5,9.5 60,33 12,42"

COMMANDS = (
    "data import {files} --out yard.npz --overwrite",
    "data inspect yard.npz",
    "preset new yard --data yard.npz --overwrite",
    "train all --preset yard --quick --device cpu",
    f'plan --preset yard --starts "{STARTS}" --goals "{GOALS}" --waypoints "{STOPS}" --out plan',
)


def run(folder: Path) -> int:
    """Record, then run the commands in the folder and judge the plan."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    began = time.monotonic()
    files = shlex.join(str(path) for path in record(Path("recordings"), Traffic()))
    for command in COMMANDS:
        words = shlex.split(command.format(files=files))
        print(f"\n$ chronoforest {shlex.join(words)}", flush=True)
        started = time.monotonic()
        if main(words) != 0:
            return 1
        print(f"({time.monotonic() - started:.0f} s)", flush=True)
    result = load_result("plan/plan.json")
    draw(result, Path("plan/yard.png"))
    verdict = judge([route.path for route in result.routes], result.problem.waypoints)
    print(f"\n{verdict}\n{time.monotonic() - began:.0f} s in all; {folder / 'plan' / 'yard.png'}")
    return 0 if result.complete and verdict.is_good else 1


def draw(result: PlanResult, path: Path) -> None:
    """The plan over the data's support, with the real directions of the lanes as arrows."""
    figure, axes = new_axes(result.support)
    for place, heading in (arrow for lane in LANES for arrow in lane_arrows(lane)):
        axes.annotate(
            "",
            place + heading,
            place - heading,
            arrowprops={"arrowstyle": "->", "color": "#7c8a94", "lw": 1.5},
        )
    draw_paths(axes, [route.path for route in result.routes])
    draw_anchors(axes, result.problem)
    axes.set_title("three carts, eight stops, one-way lanes that only the recordings know", fontsize=12)
    figure.savefig(path)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/yard-example").resolve()))
