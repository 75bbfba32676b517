"""`chronoforest plan`: routes for any starts, goals and waypoints."""

from __future__ import annotations

from pathlib import Path

from chronoforest.cli.planning import Choice, check_variant, open_folder, read_points
from chronoforest.files import locked

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
) -> int:
    """Plan routes for agents through shared waypoints; writes plan.json and plan.png, ends with 3 when a leg
    stayed unmet.

    Args:
        starts: one point "x,y" per agent, separated by spaces (write --starts=-1,0 for a leading minus).
        goals: one point per agent, in the same order.
        waypoints: points that some agent has to visit.
        variant: online, or one of the fixed orders and ablations.
        seed: the same seed gives the same plan.
        out: folder for the plan and its picture.
    """
    from chronoforest.types import Problem

    choice.check()
    check_variant(variant)
    typed = {"starts": starts, "goals": goals, "waypoints": waypoints}
    problem = Problem(**{name: read_points(name, text) for name, text in typed.items()})
    with locked(open_folder(out)) as folder:
        result = choice.load().plan(problem, seed=seed, variant=variant)
        result.save(folder / "plan.json")
        result.plot(folder / "plan.png")
    print(result.summary())
    print(f"  {folder / 'plan.json'}\n  {folder / 'plan.png'}")
    return 0 if result.complete else INCOMPLETE
