"""`chronoforest plan --problems`: a plan for every problem of a file."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronoforest.cli.planning import open_folder
from chronoforest.cli.progress import LINE_SECONDS, shown
from chronoforest.errors import ChronoForestError
from chronoforest.files import locked
from chronoforest.planning.plan_folder import FAILURES, PLANS, PlanFolder
from chronoforest.planning.problem_files import NamedProblem

if TYPE_CHECKING:
    from chronoforest.peers.choice import PlannerChoice
    from chronoforest.planning.flights import Outcome
    from chronoforest.planning.planner import Planner


@dataclass(frozen=True)
class Manner:
    """How every problem of a file is planned; seed: of those that have none of their own."""

    choice: PlannerChoice
    variant: str
    seed: int
    seconds: float | None
    snap: bool

    def to_dict(self) -> dict[str, Any]:
        """What of it decides about a plan, as JSON has it."""
        chosen = {name: getattr(self.choice, name) for name in ("preset", "mode", "planner", "distance")}
        weights = None if self.choice.weights is None else str(self.choice.weights)
        own = {"variant": self.variant, "seconds": self.seconds, "snap": self.snap}
        return {**chosen, "weights": weights, **own}


def plan_all(problems: Sequence[NamedProblem], manner: Manner, out: Path) -> bool:
    """Plan what is not planned yet, each plan written as it is finished; whether all are complete."""
    with locked(open_folder(out)):
        folder = PlanFolder(out, manner.seed, manner.to_dict())
        left = folder.open(problems)
        if num_kept := len(problems) - len(left):
            print(f"{num_kept} of {len(problems)} plans are there already")
        if left:
            _plan(left, manner, folder)
        print(f"{folder.summary()}\n  {out / PLANS}  a line about every plan")
        if not folder.all_complete:
            print(f"  {out / FAILURES}  why the others are not complete")
    return folder.all_complete


def _plan(left: Sequence[NamedProblem], manner: Manner, folder: PlanFolder) -> None:
    from rich.console import Console

    with Console().status(f"loading {manner.choice.preset}"):
        planner = manner.choice.load()
    began, num_done = time.perf_counter(), 0
    with shown("planning", LINE_SECONDS) as show:
        for one, outcome in _outcomes(left, manner, planner, folder):
            folder.keep(one, outcome)
            num_done += 1
            rate = num_done / (time.perf_counter() - began)
            show(num_done, len(left), f"{rate:.3g} a second, {folder.summary()}")
    print(f"{num_done} problems in {time.perf_counter() - began:.1f} s")


def _outcomes(
    left: Sequence[NamedProblem], manner: Manner, planner: Planner, folder: PlanFolder
) -> Iterator[tuple[NamedProblem, Outcome]]:
    """Every problem and what came of it, as they finish; points that cannot even be moved to where something
    was recorded come first."""
    ready = []
    for one in left:
        try:
            problem = planner.snapped(one.problem)[0] if manner.snap else one.problem
        except ChronoForestError as error:
            yield one, error
        else:
            ready.append((one, problem))
    seeds = [folder.seed_of(one) for one, _ in ready]
    planned = planner.plan_each(
        [problem for _, problem in ready], seeds, stop=manner.seconds, variant=manner.variant
    )
    for number, outcome in planned:
        yield ready[number][0], outcome
