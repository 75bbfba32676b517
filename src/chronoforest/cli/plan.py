"""`chronoforest plan`: routes for any starts, goals and waypoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chronoforest.cli.planning import Choice, check_variant, open_folder, read_points
from chronoforest.files import locked
from chronoforest.peers.choice import PlannerChoice

if TYPE_CHECKING:
    from chronoforest.planning.result import PlanResult
    from chronoforest.types import Problem

FILES = (".geojson", ".gpx", ".csv", ".json")
"""Endings of `--out` that mean one file and no folder."""

INCOMPLETE = 3
"""How `chronoforest plan` ends when its files are written and some leg stayed unmet."""


def plan(
    choice: Choice,
    starts: str,
    goals: str,
    waypoints: str = "",
    variant: str = "online",
    seed: int = 0,
    out: Path = Path("runs/plan"),
    snap: bool = False,
) -> int:
    """Plan routes for agents through shared waypoints; writes plan.json and plan.png, ends with 3 when a leg
    stayed unmet.

    Args:
        starts: one point "x,y" per agent in the coordinates of the recordings, longitude first, separated by
            spaces (write --starts=-1,0 for a leading minus).
        goals: one point per agent, in the same order.
        waypoints: points that some agent has to visit.
        variant: online, or one of the fixed orders and ablations.
        seed: the same seed gives the same plan.
        out: folder for the plan and its picture, or one file: .geojson, .gpx, .csv or .json.
        snap: move a point where nothing was recorded to the nearest place where something was.
    """
    from chronoforest.types import Problem

    choice.check()
    check_variant(variant)
    typed = {"starts": starts, "goals": goals, "waypoints": waypoints}
    problem = Problem(**{name: read_points(name, text) for name, text in typed.items()})
    if out.suffix.lower() in FILES:
        written = [out]
        result = _planned(choice, problem, seed, variant, snap)
        result.save(out)
    else:
        written = [out / "plan.json", out / "plan.png"]
        with locked(open_folder(out)):
            result = _planned(choice, problem, seed, variant, snap)
            result.save(written[0])
            result.plot(written[1])
    print(result.summary())
    print(*(f"  {path}" for path in written), sep="\n")
    return 0 if result.complete else INCOMPLETE


def _planned(choice: PlannerChoice, problem: Problem, seed: int, variant: str, snap: bool) -> PlanResult:
    """The plan; points that are moved to where something was recorded are told."""
    planner = choice.load()
    if snap:
        problem, notices = planner.snapped(problem)
        for notice in notices:
            print(notice)
    return planner.plan(problem, seed=seed, variant=variant)
