"""This machine: one process that keeps what it loaded for each worker, or this one where there is one."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic

from chronoforest.engines import NUM_ATTEMPTS, Answer, Done, Item, Result, Work, carried_out, failed, unmoved
from chronoforest.errors import require_at_least
from chronoforest.processes import deaf_children, end_with

log = logging.getLogger(__name__)

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What numerical libraries read when they are loaded."""


@dataclass(frozen=True)
class LocalEngine:
    """Processes of this machine, each with one thread; a single worker is this process."""

    workers: int = 1

    def __post_init__(self) -> None:
        require_at_least(self, 1, "workers")

    def answers(
        self, work: Work[Item, Result], items: Sequence[Item], files: Iterable[Path] = ()
    ) -> Generator[Answer[Result], None, None]:
        """One answer to each item, as they finish; errors in this process are raised as they are."""
        num_workers = min(self.workers, len(items))
        if num_workers < 2:
            yield from (Answer(index, work(item, unmoved)) for index, item in enumerate(items))
        else:
            yield from _shared(work, items, num_workers)


def _shared(
    work: Work[Item, Result], items: Sequence[Item], num_workers: int
) -> Generator[Answer[Result], None, None]:
    """The answers of several processes; an item whose process ended is done again by a new one."""
    waiting, attempts = deque(range(len(items))), Counter[int]()
    workers = [_Process(work) for _ in range(num_workers)]
    idle = list(workers)
    jobs: dict[Future[Done[Result]], tuple[_Process[Item, Result], int]] = {}
    answers: list[Answer[Result]] = []

    def finish(job: Future[Done[Result]]) -> None:
        worker, index = jobs.pop(job)
        idle.append(worker)
        if not isinstance(job.exception(), BrokenProcessPool):
            answers.append(job.result().answer(index))
            return
        attempts[index] += 1
        reason = worker.revived()
        if attempts[index] == NUM_ATTEMPTS:
            answers.append(failed(index, reason))
        else:
            log.warning("a worker is lost, its item is done again: %s", reason)
            waiting.appendleft(index)

    try:
        while waiting or jobs or answers:
            while waiting and idle:
                worker, index = idle.pop(), waiting.popleft()
                jobs[worker.do(items[index])] = worker, index
            yield from answers  # which are read while the workers go on
            answers.clear()
            for job in wait(jobs, return_when=FIRST_COMPLETED).done:
                finish(job)
    finally:
        for worker in workers:
            worker.end()


class _Process(Generic[Item, Result]):
    """A worker: a pool of one process, so that it is known which item was the end of it."""

    def __init__(self, work: Work[Item, Result]) -> None:
        self._work = work
        self._pool = _pool()
        self._process: BaseProcess | None = None

    def do(self, item: Item) -> Future[Done[Result]]:
        """Let it do an item; the process starts with its first one."""
        try:
            # Only while a process starts: a driver that is deaf would miss the ctrl-C meant for itself.
            with nullcontext() if self._pool._processes else _starting():
                job: Future[Done[Result]] = self._pool.submit(carried_out, self._work, item, unmoved)
            (self._process,) = self._pool._processes.values()
        except BrokenProcessPool as error:  # it died since its last item
            job = Future()
            job.set_exception(error)
        return job

    def revived(self) -> str:
        """Replace the dead process by a new one; how it ended, as a sentence."""
        self.end()
        code = self._process.exitcode if self._process is not None else None
        self._pool = _pool()
        ending = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
        return f"its process ended with {ending}"

    def end(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.terminate()
        self._pool.shutdown(cancel_futures=True)


def _pool() -> ProcessPoolExecutor:
    """A fresh interpreter: forking a process whose torch threads are running can hang."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, initializer=end_with, initargs=(os.getpid(),))


@contextmanager
def _starting() -> Iterator[None]:
    """Processes that are started in the block hear no ctrl-C, and use one thread each."""
    former = {name: os.environ[name] for name in THREADS if name in os.environ}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        with deaf_children():
            yield
    finally:
        for name in THREADS:
            del os.environ[name]
        os.environ.update(former)
