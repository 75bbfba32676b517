"""`chronoforest plan --problems`: a plan for every problem of a file."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronoforest.cli.planning import open_folder
from chronoforest.cli.progress import LINE_SECONDS, shown
from chronoforest.errors import ChronoForestError
from chronoforest.files import locked
from chronoforest.planning.plan_folder import FAILURES, PLANS, PlanFolder
from chronoforest.planning.problem_files import NamedProblem

if TYPE_CHECKING:
    from chronoforest.engines import Answer, EngineChoice, Places
    from chronoforest.peers.choice import PlannerChoice
    from chronoforest.planning.flights import Outcome
    from chronoforest.planning.planner import Planner
    from chronoforest.planning.result import PlanResult
    from chronoforest.presets.loading import PresetPlanner
    from chronoforest.types import Problem

    Told = list[tuple[int, PlanResult | str]]

AT_ONCE = 16
"""Problems that a worker gets at a time: enough to fill a batch, few enough to be planned anew."""


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


def plan_all(problems: Sequence[NamedProblem], manner: Manner, where: EngineChoice, out: Path) -> bool:
    """Plan what is not planned yet, each plan written as it is finished; whether all are complete."""
    with locked(open_folder(out)):
        folder = PlanFolder(out, manner.seed, manner.to_dict())
        left = folder.open(problems)
        if num_kept := len(problems) - len(left):
            print(f"{num_kept} of {len(problems)} plans are there already")
        if left:
            _plan(left, manner, where, folder)
        print(f"{folder.summary()}\n  {out / PLANS}  a line about every plan")
        if not folder.all_complete:
            print(f"  {out / FAILURES}  why the others are not complete")
    return folder.all_complete


def _plan(left: Sequence[NamedProblem], manner: Manner, where: EngineChoice, folder: PlanFolder) -> None:
    outcomes = _here(left, manner) if where.is_plain else _on_workers(left, manner, where)
    began, num_done = time.perf_counter(), 0
    with shown("planning", LINE_SECONDS) as show, closing(outcomes):
        for number, outcome in outcomes:
            folder.keep(left[number], outcome)
            num_done += 1
            rate = num_done / (time.perf_counter() - began)
            show(num_done, len(left), f"{rate:.3g} a second, {folder.summary()}")
    print(f"{num_done} problems in {time.perf_counter() - began:.1f} s, loading included")


def _here(problems: Sequence[NamedProblem], manner: Manner) -> Generator[tuple[int, Outcome], None, None]:
    """The number of every problem and what came of it, as they finish."""
    yield from planned(problems, manner, manner.choice.load())


def _on_workers(
    left: Sequence[NamedProblem], manner: Manner, where: EngineChoice
) -> Generator[tuple[int, Outcome], None, None]:
    """The same from workers, who get some problems at a time; those that ended their workers together come
    one by one in the end, so that only the one at fault fails."""
    groups = [range(low, min(low + AT_ONCE, len(left))) for low in range(0, len(left), AT_ONCE)]
    lost: list[int] = []
    for numbers, answer in _answered(left, groups, manner, where):
        if answer.result is None and len(numbers) > 1:
            lost += numbers
        else:
            yield from _outcomes(numbers, answer)
    for numbers, answer in _answered(left, [range(number, number + 1) for number in lost], manner, where):
        yield from _outcomes(numbers, answer)


def _answered(
    left: Sequence[NamedProblem], groups: Sequence[range], manner: Manner, where: EngineChoice
) -> Generator[tuple[range, Answer[Told]], None, None]:
    """The numbers of every group of problems and what a worker made of them."""
    if not groups:
        return
    parts = [tuple(left[number] for number in numbers) for numbers in groups]
    engine = where.make(manner.choice.modules)
    with closing(engine.answers(partial(plan_some, manner), parts, manner.choice.files)) as answers:
        for answer in answers:
            yield groups[answer.index], answer


def _outcomes(numbers: range, answer: Answer[Told]) -> Iterator[tuple[int, Outcome]]:
    if answer.result is None:
        yield from ((number, ChronoForestError(answer.failure)) for number in numbers)
    else:
        yield from ((numbers[k], _outcome(told)) for k, told in answer.result)


def plan_some(manner: Manner, problems: Sequence[NamedProblem], places: Places) -> Told:
    """What a worker makes of problems: plans, or why there is none; not all errors can be sent."""
    planner = _loaded(manner.choice.moved(places))
    return [
        (number, str(outcome) if isinstance(outcome, ChronoForestError) else outcome)
        for number, outcome in planned(problems, manner, planner)
    ]


def _outcome(told: PlanResult | str) -> Outcome:
    return ChronoForestError(told) if isinstance(told, str) else told


@lru_cache(maxsize=1)
def _loaded(choice: PlannerChoice) -> PresetPlanner:
    """What a process has loaded."""
    return choice.load()


def planned(
    problems: Sequence[NamedProblem], manner: Manner, planner: Planner
) -> Iterator[tuple[int, Outcome]]:
    """The number of every problem and what came of it, as they finish; points that cannot even be moved to
    where something was recorded come first."""
    ready: list[tuple[int, Problem]] = []
    for number, one in enumerate(problems):
        try:
            ready.append((number, planner.snapped(one.problem)[0] if manner.snap else one.problem))
        except ChronoForestError as error:
            yield number, error
    seeds = [problems[number].seed_or(manner.seed) for number, _ in ready]
    outcomes = planner.plan_each(
        [problem for _, problem in ready], seeds, stop=manner.seconds, variant=manner.variant
    )
    for row, outcome in outcomes:
        yield ready[row][0], outcome
