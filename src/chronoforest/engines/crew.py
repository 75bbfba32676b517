"""Workers that share items: each takes one at a time; what a dead one held is done again by another."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Generic

from chronoforest.engines.protocol import Answer, Done, Item, Result, Worker
from chronoforest.errors import ChronoForestError, WorkerDied

log = logging.getLogger(__name__)

MOST_DEATHS = 3
"""Of workers with the same item, and of workers one after another that die before they take any."""

PATIENCE_SECONDS = 60.0
"""How long nothing may happen before it is told that no worker could be started."""


class Crew(Generic[Item, Result]):
    """Items, and the workers that are busy with them; `hire` makes a worker."""

    def __init__(self, hire: Callable[[], Worker[Item, Result]], items: Sequence[Item]) -> None:
        self._hire = hire
        self._items = items
        self._waiting = deque(range(len(items)))
        self._deaths: Counter[int] = Counter()
        self._workers: list[Worker[Item, Result]] = []
        self._idle: list[Worker[Item, Result]] = []
        # The item of a worker that is starting is None.
        self._jobs: dict[Future[Any], tuple[Worker[Item, Result], int | None]] = {}
        self._num_unborn = 0
        self._last_words = ""

    def answers(self, num_workers: int) -> Generator[Answer[Result], None, None]:
        """One answer to each item, as they finish."""
        num_left = len(self._items)
        try:
            for _ in range(num_workers):
                self._add_worker()
            while num_left:
                for answer in self._next_answers():
                    num_left -= 1
                    yield answer
        finally:
            for worker in self._workers:
                worker.end()

    def _next_answers(self) -> list[Answer[Result]]:
        if not self._jobs:
            raise WorkerDied(f"no worker can be started: {self._last_words}")
        finished = wait(self._jobs, PATIENCE_SECONDS, FIRST_COMPLETED).done
        if not finished and all(index is None for _, index in self._jobs.values()):
            log.warning("no worker could be started yet; the work waits for free cores or GPUs")
        found = (self._finished(job) for job in finished)
        return [answer for answer in found if answer is not None]

    def _finished(self, job: Future[Any]) -> Answer[Result] | None:
        """Read a job's end and give its worker the next item."""
        worker, index = self._jobs.pop(job)
        error = job.exception()
        if error is not None:
            reason = worker.death(error)
            if reason is None:
                raise error
            return self._lost(worker, index, reason)
        done: Done[Result] = job.result()
        for received in done.received:
            log.info("%s", received)
        if done.refusal is not None:
            raise ChronoForestError(done.refusal)
        self._occupy(worker)
        if index is None:
            self._num_unborn = 0
            return None
        return Answer(index, done.result)

    def _lost(self, worker: Worker[Item, Result], index: int | None, reason: str) -> Answer[Result] | None:
        """Replace a dead worker; its item is done again, unless it has been the death of too many."""
        self._last_words = reason
        self._workers.remove(worker)
        worker.end()
        self._num_unborn += index is None
        if self._num_unborn < MOST_DEATHS:
            self._add_worker()
        if index is None:
            return None
        self._deaths[index] += 1
        if self._deaths[index] == MOST_DEATHS:
            return Answer(index, failure=f"it ended its worker {MOST_DEATHS} times; the last time {reason}")
        log.warning("a worker is lost, its item is done again: %s", reason)
        self._waiting.append(index)
        if self._idle:
            self._occupy(self._idle.pop())
        return None

    def _add_worker(self) -> None:
        worker = self._hire()
        self._workers.append(worker)
        self._jobs[worker.start()] = worker, None

    def _occupy(self, worker: Worker[Item, Result]) -> None:
        if not self._waiting:
            self._idle.append(worker)
            return
        index = self._waiting.popleft()
        self._jobs[worker.do(self._items[index])] = worker, index
