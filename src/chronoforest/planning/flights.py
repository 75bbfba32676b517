"""Many searches at once: they take turns in one batch of the denoiser, and leave when they are over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from chronoforest.errors import ChronoForestError
from chronoforest.patience import OutOfTime
from chronoforest.planning.limits import within
from chronoforest.planning.plan_search import PlanSearch
from chronoforest.planning.result import PlanResult
from chronoforest.planning.roadmap_search import RoadmapSearch
from chronoforest.roadmap.verify import Questions, Verdict
from chronoforest.types import Problem, StopCriterion

IN_FLIGHT = 32
"""Most problems that are planned at the same time: together they fill the batches of the denoiser."""

MOST_HOPS = 4_000_000
"""Hops of all problems at the same time: every one has a roadmap of its own, with its anchors in it."""


Outcome = PlanResult | ChronoForestError
"""A plan, or the error that `plan` raises for such a problem."""

Finished = tuple[int, Outcome]
"""The number of a task and what came of it."""


ResultObserver = Callable[[int, Outcome], None]
"""Sees what came of every problem."""


@dataclass(frozen=True, eq=False)
class Task:
    """A problem to plan; number: its place among all of them; begin: makes its search."""

    number: int
    problem: Problem
    seed: int
    begin: Callable[[], PlanSearch]
    stop: StopCriterion


@dataclass(eq=False)
class Flight:
    """A task whose search takes part in the rounds; seconds: what it took so far, without the others."""

    task: Task
    search: RoadmapSearch
    seconds: float

    @contextmanager
    def going_on(self) -> Iterator[RoadmapSearch]:
        """The search, whose clock runs in the block only."""
        self.search.started = time.perf_counter() - self.seconds
        yield self.search
        self.seconds = time.perf_counter() - self.search.started


class Flights:
    """Searches of many tasks, `IN_FLIGHT` of them at a time; every round is asked about in one batch.

    tasks: in turn, or what came of those that were refused; finish: what is told of a search that is over.
    A search's time is its own and its share of the batches.
    """

    def __init__(
        self, tasks: Iterator[Task | Finished], finish: Callable[[Task, PlanSearch], PlanResult]
    ) -> None:
        self.tasks, self.finish = tasks, finish
        self.fresh: list[Flight] = []
        self.asking: list[tuple[Flight, Questions]] = []

    def advance(self) -> list[Finished] | None:
        """Begin what there is room for, tell what is over, or else ask about all others in one batch; None
        after the last.

        A task that takes no part in the rounds, because it was refused or is planned with trees, is told
        before the next one begins.
        """
        while self._has_room():
            task = next(self.tasks, None)
            if task is None:
                break
            ended = self._begun(task) if isinstance(task, Task) else task
            if ended is not None:
                return [ended]
        if self.fresh:
            return self._over()
        return self._ask() if self.asking else None

    def _has_room(self) -> bool:
        flying = [*self.fresh, *(flight for flight, _ in self.asking)]
        num_hops = sum(len(flight.search.proposer.roads.joined.hops) for flight in flying)
        return len(flying) < IN_FLIGHT and num_hops < MOST_HOPS

    def _begun(self, task: Task) -> Finished | None:
        """Let a task's search take part; what came of it where it cannot."""
        try:
            search = task.begin()
            if isinstance(search, RoadmapSearch):
                self.fresh.append(Flight(task, search, search.seconds))
                return None
            search.run(task.stop)
            return task.number, self.finish(task, search)
        except ChronoForestError as error:
            return task.number, error

    def _over(self) -> list[Finished]:
        """Let every search that was answered say what it asks next; those that ask nothing are over."""
        fresh, self.fresh, over = self.fresh, [], []
        for flight in fresh:
            with flight.going_on() as search:
                questions = search.questions(flight.task.stop)
            if questions is None:
                over.append(flight)
            else:
                self.asking.append((flight, questions))
        return [self._told(flight) for flight in over]

    def _told(self, flight: Flight) -> Finished:
        with flight.going_on() as search:
            return flight.task.number, self.finish(flight.task, search)

    def _ask(self) -> list[Finished]:
        """Ask all questions together; when time is over for all, what they have so far."""
        asking, self.asking, began = self.asking, [], time.perf_counter()
        verdicts = _verdicts(asking)
        share = (time.perf_counter() - began) / len(asking)
        for flight, _ in asking:
            flight.seconds += share
        if verdicts is None:
            return [self._told(flight) for flight, _ in asking]
        for (flight, _), answers in zip(asking, verdicts, strict=True):
            with flight.going_on() as search:
                search.take(answers)
            self.fresh.append(flight)
        return []


def _verdicts(asking: Sequence[tuple[Flight, Questions]]) -> list[list[Verdict]] | None:
    """What each flight is told; None once the time of all of them is over."""
    last, _ = min(asking, key=lambda one: one[0].seconds)
    try:
        with within(last.task.stop, time.perf_counter() - last.seconds, len(asking)):
            return last.search.prepared.checker.together([questions for _, questions in asking])
    except OutOfTime:
        return None
