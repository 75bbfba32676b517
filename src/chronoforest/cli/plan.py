"""`chronoforest plan`: routes for any starts, goals and waypoints."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronoforest.cli.planning import Choice, Where, open_folder, read_points
from chronoforest.cli.plans import Manner, plan_all
from chronoforest.errors import InvalidParameter, InvalidProblem
from chronoforest.files import locked
from chronoforest.names import DEFAULT_VARIANT, PLAN_FILES, check_variant

if TYPE_CHECKING:
    from chronoforest.engines import EngineChoice
    from chronoforest.peers.choice import PlannerChoice
    from chronoforest.planning.result import PlanResult
    from chronoforest.types import Problem

INCOMPLETE = 3
"""How `chronoforest plan` ends when its files are written and some leg stayed unmet."""


def plan(
    choice: Choice,
    where: Where,
    starts: str = "",
    goals: str = "",
    waypoints: str = "",
    problem: Path | None = None,
    problems: Path | None = None,
    variant: str = DEFAULT_VARIANT,
    seed: int = 0,
    seconds: float | None = None,
    out: Path = Path("runs/plan"),
    snap: bool = False,
) -> int:
    """Plan routes for agents through shared waypoints; writes plan.json and plan.png, ends with 3 when a leg
    stayed unmet. With --problems, plan every problem of a file; the same command continues after a kill.

    Args:
        starts: one point "x,y" per agent in the coordinates of the recordings, longitude first, separated by
            spaces (write --starts=-1,0 for a leading minus), or a CSV file with columns x and y.
        goals: one point per agent, in the same order.
        waypoints: points that some agent has to visit.
        problem: a JSON file with starts, goals and waypoints, instead of the three options.
        problems: a file of many problems, .json, .jsonl or .csv: each gets a plan NAME.json in the folder.
        variant: verified, or online for the paper's method, or one of the ablations.
        seed: the same seed gives the same plan.
        seconds: take the best plan that is found within so many seconds; as long as it takes unless told.
        out: folder for the plan and its picture, or one file: .geojson, .gpx, .csv or .json.
        snap: move a point where nothing was recorded to the nearest place where something was.
    """
    choice.check()
    check_variant(variant)
    _check_numbers(seed, seconds)
    typed = {"starts": starts, "goals": goals, "waypoints": waypoints}
    if problems is not None:
        _refuse_more(problems, {**typed, "problem": str(problem or "")}, out)
        where.check(choice.device)
        return _plan_all(problems, Manner(choice, variant, seed, seconds, snap), where, out)
    if not where.is_plain:
        raise InvalidParameter("one problem is planned in this process; only --problems takes workers")
    asked = _problem(problem, typed)
    with nullcontext() if _is_file(out) else locked(open_folder(out)):
        result = _planned(choice, asked, snap, out, seed=seed, variant=variant, stop=seconds)
        print(result.summary())
        _write(result, out)
    return 0 if result.complete else INCOMPLETE


def _is_file(out: Path) -> bool:
    """Whether `--out` is one file and no folder; refuses the ending of another kind of file."""
    is_file = out.suffix.lower() in PLAN_FILES
    if out.suffix[1:].isalpha() and not is_file and not out.is_dir():
        known = ", ".join(PLAN_FILES)
        raise InvalidParameter(
            f"--out {out}: a plan is written as {known}, or into a folder with its picture"
        )
    return is_file


def _refuse_more(problems: Path, told: dict[str, str], out: Path) -> None:
    """Refuse other words about where to go, and a single file for many plans."""
    if more := [f"--{name}" for name, text in told.items() if text]:
        raise InvalidProblem(f"--problems {problems} says where to go; leave out {', '.join(more)}")
    if _is_file(out):
        raise InvalidProblem(f"--problems writes a plan for each, so --out must be a folder, got {out}")


def _plan_all(file: Path, manner: Manner, where: EngineChoice, out: Path) -> int:
    from chronoforest.planning.problem_files import load_problems

    return 0 if plan_all(load_problems(file), manner, where, out) else INCOMPLETE


def _planned(choice: PlannerChoice, problem: Problem, snap: bool, out: Path, **options: Any) -> PlanResult:
    """The plan, its rounds shown as they happen; points that are moved to where something was recorded are
    told."""
    from rich.console import Console

    from chronoforest.cli.live import rounds_view
    from chronoforest.planning.exports import check_degrees

    console = Console()
    with console.status(f"loading {choice.preset}"):
        planner = choice.load()
    if out.suffix.lower() == ".gpx":
        check_degrees(planner.frame)
    if snap:
        problem, notices = planner.snapped(problem)
        for notice in notices:
            print(notice)
    try:
        with rounds_view(console) as on_round:
            return planner.plan(problem, on_round=on_round, **options)
    except InvalidProblem as error:
        if planner.snapped(problem)[1]:
            raise InvalidProblem(f"{error}; --snap moves it there") from error
        raise


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


def _write(result: PlanResult, out: Path) -> None:
    """Save the plan as one file, or with its picture in a folder, and tell where they are."""
    if _is_file(out):
        result.save(out)
        print(f"  {out}  the plan")
        return
    result.save(out / "plan.json")
    result.plot(out / "plan.png")
    print(f"  {out / 'plan.json'}  the plan\n  {out / 'plan.png'}  its picture")
