"""`chronoforest plan --problem` with a file of many: a plan for each, none planned twice."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chronoforest.cli.terminal import LINE_SECONDS, open_folder, shown
from chronoforest.errors import ChronoForestError
from chronoforest.files import append_line, locked
from chronoforest.types.problem_files import NamedProblem

if TYPE_CHECKING:
    from chronoforest.engines import Answer, EngineChoice, Places
    from chronoforest.peers.choice import PlannerChoice
    from chronoforest.planning.loop import Outcome
    from chronoforest.planning.planner import Planner
    from chronoforest.planning.result import PlanResult
    from chronoforest.presets.loading import PresetPlanner
    from chronoforest.types import Problem

    Sent = list[tuple[int, PlanResult | str]]
    Finished = Generator[tuple[int, Outcome], None, None]

PLANS = "plans.jsonl"
"""The file with a line about every problem."""

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
        world = {"preset": self.choice.preset, "weights": self.choice.fingerprint}
        own = {"variant": self.variant, "seconds": self.seconds, "snap": self.snap}
        return {**world, "settings": self.choice.settings, **own}


def plan_all(problems: Sequence[NamedProblem], manner: Manner, where: EngineChoice, out: Path) -> bool:
    """Plan what is not planned yet, each plan written as it is finished; whether all are complete."""
    with locked(open_folder(out)):
        folder = PlanFolder(out, manner.seed, manner.to_dict())
        left = folder.open(problems)
        if num_kept := len(problems) - len(left):
            print(f"{num_kept} of {len(problems)} plans exist already")
        if left:
            here = where.is_plain
            outcomes = (
                planned(left, manner, manner.choice.load()) if here else _by_workers(left, manner, where)
            )
            began = time.perf_counter()
            with shown("planning", LINE_SECONDS) as show, closing(outcomes):
                for num_done, (number, outcome) in enumerate(outcomes, start=1):
                    folder.keep(left[number], outcome)
                    rate = num_done / (time.perf_counter() - began)
                    show(num_done, len(left), f"{rate:.3g} a second, {folder.summary()}")
            print(f"{len(left)} problems in {time.perf_counter() - began:.1f} s")
        print(f"{folder.summary()}\n  {out / PLANS}  a line about every problem")
    return folder.all_complete


def planned(problems: Sequence[NamedProblem], manner: Manner, planner: Planner) -> Finished:
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
        [problem for _, problem in ready], seeds, seconds=manner.seconds, variant=manner.variant
    )
    for row, outcome in outcomes:
        yield ready[row][0], outcome


def _by_workers(left: Sequence[NamedProblem], manner: Manner, where: EngineChoice) -> Finished:
    """The same from workers, who get some problems at a time; those that ended their workers together come
    one by one in the end, so that only the one at fault fails."""
    engine, lost = where.make(manner.choice.modules), list[int]()

    def answered(groups: Sequence[range]) -> Iterator[tuple[range, Answer[Sent]]]:
        parts = [tuple(left[number] for number in numbers) for numbers in groups]
        with closing(engine.answers(partial(plan_some, manner), parts, manner.choice.files)) as answers:
            for answer in answers:
                yield groups[answer.index], answer

    for numbers, answer in answered(
        [range(k, min(k + AT_ONCE, len(left))) for k in range(0, len(left), AT_ONCE)]
    ):
        if answer.result is None and len(numbers) > 1:
            lost += numbers
        else:
            yield from _outcomes(numbers, answer)
    if lost:
        for numbers, answer in answered([range(number, number + 1) for number in lost]):
            yield from _outcomes(numbers, answer)


def _outcomes(numbers: range, answer: Answer[Sent]) -> Iterator[tuple[int, Outcome]]:
    sent = answer.result
    for row, found in [(0, answer.failure)] if sent is None else sent:
        yield numbers[row], ChronoForestError(found) if isinstance(found, str) else found


def plan_some(manner: Manner, problems: Sequence[NamedProblem], places: Places) -> Sent:
    """What a worker makes of problems: plans, or why there is none; not all errors can be sent."""
    planner = _loaded(manner.choice.moved(places))
    return [
        (number, str(outcome) if isinstance(outcome, ChronoForestError) else outcome)
        for number, outcome in planned(problems, manner, planner)
    ]


@lru_cache(maxsize=1)
def _loaded(choice: PlannerChoice) -> PresetPlanner:
    """What a process has loaded."""
    return choice.load()


@dataclass(frozen=True)
class Entry:
    """A line about a problem; asked: the problem, its seed, how it was planned; length, seconds: of its plan,
    None where there is none; reason: why it has no complete plan, "" where it has one."""

    name: str
    asked: Mapping[str, Any]
    length: float | None = None
    seconds: float | None = None
    reason: str = ""

    @property
    def kind(self) -> str:
        """What became of the problem."""
        if self.length is None:
            return "without a plan"
        return "incomplete" if self.reason else "complete"


class PlanFolder:
    """Plans as NAME.json, and a line about each problem in `plans.jsonl`, of which the last one counts.

    how: what else a plan depends on; another one in the same folder is planned again and replaced.
    """

    def __init__(self, folder: Path, seed: int, how: Mapping[str, Any]) -> None:
        self.folder, self.seed, self.how = folder, seed, how
        self.counts: Counter[str] = Counter(complete=0)

    def open(self, problems: Iterable[NamedProblem]) -> list[NamedProblem]:
        """Those of the problems that are not planned yet, or for which there was no plan."""
        known, left = self._known(), []
        for one in problems:
            entry = known.get(one.name)
            if entry is None or entry.asked != self._asked(one) or not self._holds(one):
                left.append(one)
            else:
                self.counts[entry.kind] += 1
        return left

    def keep(self, one: NamedProblem, outcome: Outcome) -> None:
        """Write a plan, or why there is none."""
        entry = Entry(one.name, self._asked(one), reason=str(outcome))
        if not isinstance(outcome, ChronoForestError):
            outcome.save(self.folder / f"{one.name}.json")
            reason = (
                "" if outcome.complete else ". ".join([f"incomplete, {outcome.missing}", *outcome.shortfalls])
            )
            entry = Entry(one.name, entry.asked, outcome.length, round(outcome.seconds, 3), reason)
        append_line(self.folder / PLANS, json.dumps(asdict(entry), allow_nan=False, ensure_ascii=False))
        self.counts[entry.kind] += 1

    def summary(self) -> str:
        """How many plans there are."""
        return ", ".join(f"{count} {kind}" for kind, count in self.counts.items())

    @property
    def all_complete(self) -> bool:
        """Whether every problem has a complete plan."""
        return self.counts.total() == self.counts["complete"]

    def _asked(self, one: NamedProblem) -> dict[str, Any]:
        return {**one.problem.to_dict(), "seed": one.seed_or(self.seed), **self.how}

    def _holds(self, one: NamedProblem) -> bool:
        """Whether the file of a problem is a whole plan for it."""
        from chronoforest.exports.saved import load_result

        try:
            saved = load_result(self.folder / f"{one.name}.json").problem
        except ChronoForestError:
            return False
        return np.array_equal(saved.anchors, one.problem.anchors)

    def _known(self) -> dict[str, Entry]:
        """The last line about each problem; a line that a kill tore is left out."""
        path, known = self.folder / PLANS, {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            with suppress(ValueError, TypeError):
                entry = Entry(**json.loads(line))
                known[entry.name] = entry
        return known
