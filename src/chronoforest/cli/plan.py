"""`chronoforest plan`: routes for any starts, goals and waypoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chronoforest.cli.planning import Choice, open_folder, read_points
from chronoforest.errors import InvalidProblem
from chronoforest.files import locked
from chronoforest.names import DEFAULT_VARIANT, check_variant

if TYPE_CHECKING:
    from chronoforest.planning.result import PlanResult
    from chronoforest.types import Problem

INCOMPLETE = 3
"""How `chronoforest plan` ends when its files are written and some leg stayed unmet."""


def plan(
    choice: Choice,
    starts: str = "",
    goals: str = "",
    waypoints: str = "",
    problem: Path | None = None,
    variant: str = DEFAULT_VARIANT,
    seed: int = 0,
    seconds: float | None = None,
    out: Path = Path("runs/plan"),
) -> int:
    """Plan routes for agents through shared waypoints; writes plan.json and plan.png, ends with 3 when a leg
    stayed unmet.

    Args:
        starts: one point "x,y" per agent, separated by spaces (write --starts=-1,0 for a leading minus), or a
            CSV file with columns x and y.
        goals: one point per agent, in the same order.
        waypoints: points that some agent has to visit.
        problem: a JSON file with starts, goals and waypoints, instead of the three options.
        variant: online, or one of the fixed orders and ablations.
        seed: the same seed gives the same plan.
        seconds: take the best plan that is found within so many seconds; as long as it takes unless told.
        out: folder for the plan and its picture.
    """
    choice.check()
    check_variant(variant)
    _check_numbers(seed, seconds)
    asked = _problem(problem, {"starts": starts, "goals": goals, "waypoints": waypoints})
    from rich.console import Console

    from chronoforest.cli.live import rounds_view

    console = Console()
    with locked(open_folder(out)) as folder:
        with console.status(f"loading {choice.preset}"):
            planner = choice.load()
        with rounds_view(console) as on_round:
            result = planner.plan(asked, seed=seed, variant=variant, stop=seconds, on_round=on_round)
        print(result.summary())
        _write(result, folder)
    return 0 if result.complete else INCOMPLETE


def _check_numbers(seed: int, seconds: float | None) -> None:
    from chronoforest.typed import check_seconds, check_whole

    check_whole("seed", seed)
    if seconds is not None:
        check_seconds("--seconds", seconds)


def _problem(file: Path | None, typed: dict[str, str]) -> Problem:
    """The problem of a file, or the one that was typed."""
    from chronoforest.planning.problem_files import load_problem
    from chronoforest.types import Problem

    if file is None and not typed["starts"]:
        raise InvalidProblem('nobody said where to go; use --starts "0,0" --goals "52,36", or --problem FILE')
    if file is None:
        return Problem(**{name: read_points(name, text) for name, text in typed.items()})
    if told := [f"--{name}" for name, text in typed.items() if text]:
        raise InvalidProblem(f"--problem {file} says where to go; leave out {', '.join(told)}")
    return load_problem(file)


def _write(result: PlanResult, folder: Path) -> None:
    """Save the plan and its picture, and tell where they are."""
    result.save(folder / "plan.json")
    result.plot(folder / "plan.png")
    print(f"  {folder / 'plan.json'}  the plan\n  {folder / 'plan.png'}  its picture")
