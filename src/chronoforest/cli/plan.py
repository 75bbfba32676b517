"""`chronoforest plan`: routes for any starts, goals and waypoints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronoforest.cli.plans import Manner, plan_all
from chronoforest.cli.terminal import open_folder, print_round
from chronoforest.engines import EngineChoice
from chronoforest.errors import CannotWrite, InvalidParameter, InvalidProblem
from chronoforest.files import locked
from chronoforest.names import DEFAULT_VARIANT, PLAN_FILES, RUNS, check_variant
from chronoforest.peers.choice import PlannerChoice
from chronoforest.types.problem_files import NamedProblem, load_problems, typed_problem

if TYPE_CHECKING:
    from chronoforest.types import Problem

INCOMPLETE = 3
"""How `chronoforest plan` ends when its files are written and some leg stayed unmet."""


def plan(
    preset: str,
    starts: str = "",
    goals: str = "",
    waypoints: str = "",
    problem: Path | None = None,
    order: str = "",
    snap: bool = False,
    depart: str = "",
    seed: int = 0,
    seconds: float | None = None,
    variant: str = DEFAULT_VARIANT,
    workers: str = "1",
    out: Path | None = None,
    overwrite: bool = False,
    verbose: bool = False,
) -> int:
    """Plan routes for agents through shared waypoints, print the timetable and write plan.json and plan.png;
    the exit code is 3 when the plan is incomplete.

    Args:
        preset: a world that ships, such as point-giant, or one of your own (`chronoforest learn`).
        starts: a point "x,y" for each agent in the coordinates of the recordings, longitude first: "0,0 0,36"
            or "(0, 0) (0, 36)"; or a CSV file with these columns and, if you like, names.
        goals: a point for each agent, in the same order; without goals, every agent returns to its start.
        waypoints: points that some agent has to visit.
        problem: a .json file with starts, goals and waypoints, instead of these three options; or a .json,
            .jsonl or .csv file of many problems, each of which gets a plan NAME.json. After an interruption
            the same command continues.
        order: the stops of each agent in a given order: "S1 W2 W1 G1; S2 G2"; or which agent must visit a
            waypoint, and whether first or last: "W1 first; W2 agent 2; W3 agent 1 last".
        snap: move a point where nothing was recorded to the nearest place where something was.
        depart: date and time, such as "2026-11-16 08:00", for arrivals by the clock.
        seed: the same seed gives the same plan.
        seconds: return the best plan found within this time.
        variant: verified, online for the paper's method, paper for its settings, or roadmap-only.
        workers: for many problems, processes on this machine, or ray, or the address of a Ray cluster.
        out: folder for the plan and its picture, or one file: .geojson, .gpx, .csv or .json; a new folder
            runs/plan, runs/plan-2 and so on unless given.
        overwrite: replace a plan that exists.
        verbose: also show the rounds of the search, and what it counted.
    """
    choice = PlannerChoice(preset)
    choice.check()
    check_variant(variant)
    _check_values(seed, seconds, depart)
    where = _engine(workers)
    asked = _asked(problem, {"starts": starts, "goals": goals, "waypoints": waypoints})
    if isinstance(asked, list):
        target = _folder_for_many(out, {"--order": order, "--depart": depart})
        manner = Manner(choice, variant, seed, seconds, snap)
        return 0 if plan_all(asked, manner, where, target) else INCOMPLETE
    if not where.is_plain:
        raise InvalidParameter("one problem is planned in this process; --workers is for a file of many")
    target = _free(out, overwrite)
    options: dict[str, Any] = {"seed": seed, "seconds": seconds, "variant": variant, "snap": snap}
    options |= {"depart": depart, "order": _orders(order), "on_round": print_round if verbose else None}
    with nullcontext() if _is_file(target) else locked(open_folder(target)):
        planner = choice.load()
        if target.suffix.lower() == ".gpx":
            from chronoforest.exports.plans import check_degrees

            check_degrees(planner.frame)
        result = planner.plan(asked, **options)
        print(f"{result.summary()}\n{result.effort}" if verbose else result.summary())
        file = target if _is_file(target) else target / "plan.json"
        result.save(file)
        print(f"  {file}  the plan")
        if file is not target:
            result.plot(target / "plan.png")
            print(f"  {target / 'plan.png'}  its picture")
    return 0 if result.complete else INCOMPLETE


def _check_values(seed: int, seconds: float | None, depart: str) -> None:
    from chronoforest.planning.timetable import departure
    from chronoforest.typed import check_seconds, check_whole

    check_whole("seed", seed)
    departure(depart)
    if seconds is not None:
        check_seconds("--seconds", seconds)


def _engine(workers: str) -> EngineChoice:
    """Processes of this machine by their number, a Ray cluster otherwise."""
    if workers.lstrip("-").isdigit():
        where = EngineChoice(None if workers == "1" else int(workers))
    elif workers == "auto" or workers.partition(":")[0] == "ray" or ":" in workers:
        where = EngineChoice(engine="ray", address=None if workers == "ray" else workers)
    else:
        raise InvalidParameter(f"workers must be a number, ray, or a cluster's address, got {workers!r}")
    where.check()
    return where


def _asked(file: Path | None, typed: Mapping[str, str]) -> Problem | list[NamedProblem]:
    """What is in a file, one problem or many, or the problem that was typed."""
    if file is None:
        return typed_problem(**typed)
    if given := [f"--{name}" for name, text in typed.items() if text]:
        raise InvalidProblem(f"--problem {file} says where to go; leave out {', '.join(given)}")
    return load_problems(file)


def _folder_for_many(out: Path | None, single: Mapping[str, str]) -> Path:
    if given := [name for name, text in single.items() if text]:
        raise InvalidProblem(f"{', '.join(given)} is for one problem, not for a file of many")
    if out is not None and _is_file(out):
        raise InvalidProblem(f"every problem gets a plan, so --out must be a folder, got {out}")
    return out or RUNS / "plans"


def _free(out: Path | None, overwrite: bool) -> Path:
    """Where a plan goes without replacing another, unless that is wanted."""
    if out is None:
        names = chain(["plan"], (f"plan-{number}" for number in count(2)))
        return next(RUNS / name for name in names if overwrite or not (RUNS / name / "plan.json").exists())
    file = out if _is_file(out) else out / "plan.json"
    if file.exists() and not overwrite:
        raise CannotWrite(f"{file} exists already; --overwrite replaces it")
    return out


def _is_file(out: Path) -> bool:
    """Whether `--out` is one file and no folder; refuses the ending of another kind of file."""
    is_file = out.suffix.lower() in PLAN_FILES
    if out.suffix[1:].isalpha() and not is_file and not out.is_dir():
        known = ", ".join(PLAN_FILES)
        raise InvalidParameter(
            f"--out {out}: a plan is written as {known}, or into a folder with its picture"
        )
    return is_file


def _orders(text: str) -> list[list[str]] | str | None:
    """Each agent's stops by their names, "S1 W1 G1; S2 G2", or rules as they are."""
    agents = re.split(r"[;|]", text) if text else []
    if agents and all(re.search(r"\s(first|last|agent\s+\d+)\s*$", part) for part in agents):
        return text
    return [[name for name in re.split(r"[\s,→]+", agent) if name] for agent in agents] or None
