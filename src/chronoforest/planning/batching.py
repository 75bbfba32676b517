"""Many plans at once: their questions to the denoiser are asked in one batch, and a plan leaves when it is
over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chronoforest.errors import ChronoForestError
from chronoforest.planning.loop import Search, ask
from chronoforest.planning.result import PlanResult
from chronoforest.roadmap.verify import Questions
from chronoforest.types import Problem

Outcome = PlanResult | ChronoForestError
"""A plan, or the error that `plan` raises for such a problem."""

Finished = tuple[int, Outcome]
"""The number of a problem and its outcome."""

ResultObserver = Callable[[int, Outcome], None]
"""Sees the outcome of every problem."""


@dataclass(frozen=True)
class BatchParams:
    """How many problems are planned at the same time: as many as fill the batches of the denoiser, as long as
    their roadmaps, each with anchors of its own in it, have fewer than `most_hops` hops."""

    most_plans: int = 32
    most_hops: int = 4_000_000


@dataclass(frozen=True, eq=False)
class Task:
    """A problem to plan; number: its place among all of them; begin: makes its search, or raises what refuses
    the problem."""

    number: int
    problem: Problem
    begin: Callable[[], Search]


def in_turns(
    tasks: Iterator[Task], finish: Callable[[Task, Search], PlanResult], params: BatchParams
) -> Iterator[Finished]:
    """The plans of many tasks as they are over, some of which take turns; finish: makes the plan of a search.

    A task begins when there is room for it; then the denoiser is asked for all that wait for it together. The
    time of a search is its own and its share of the batches.
    """
    asking: list[tuple[Task, Search, Questions]] = []
    while True:
        while _has_room(asking, params) and (task := next(tasks, None)) is not None:
            try:
                search = task.begin()
                questions = search.step()
                if questions is None:
                    yield task.number, finish(task, search)
                else:
                    asking.append((task, search, questions))
            except ChronoForestError as error:
                yield task.number, error
        if not asking:
            return
        asked = ask([(search, questions) for _, search, questions in asking])
        answered = [(task, search, more) for (task, search, _), more in zip(asking, asked, strict=True)]
        asking = [(task, search, more) for task, search, more in answered if more is not None]
        yield from ((task.number, finish(task, search)) for task, search, more in answered if more is None)


def _has_room(asking: Sequence[tuple[Task, Search, Questions]], params: BatchParams) -> bool:
    num_hops = sum(search.source.size for _, search, _ in asking)
    return len(asking) < params.most_plans and num_hops < params.most_hops
