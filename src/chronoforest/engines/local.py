"""This machine: one process that keeps what it loaded for each worker, or this one where there is one."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic

from chronoforest.engines.crew import Crew
from chronoforest.engines.protocol import Answer, Done, Item, Result, Work, carried_out, unmoved
from chronoforest.errors import require_at_least
from chronoforest.processes import deaf_children, end_with

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
            yield from Crew(partial(_Process, work), items).answers(num_workers)


class _Process(Generic[Item, Result]):
    """A worker: a pool of one process, so that it is known which item was the end of it."""

    def __init__(self, work: Work[Item, Result]) -> None:
        self._work = work
        # A fresh interpreter: forking a process whose torch threads are running can hang.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, context, initializer=end_with, initargs=(os.getpid(),))
        self._process: BaseProcess | None = None

    def start(self) -> Future[Done[None]]:
        """Done when it has been imported."""
        with deaf_children(), _one_thread():
            started = self._pool.submit(Done[None])
        (self._process,) = self._pool._processes.values()
        return started

    def do(self, item: Item) -> Future[Done[Result]]:
        """Let it do an item."""
        task: Callable[..., Done[Result]] = carried_out
        try:
            return self._pool.submit(task, self._work, item, unmoved)
        except BrokenProcessPool as error:  # it died idle
            broken: Future[Done[Result]] = Future()
            broken.set_exception(error)
            return broken

    def death(self, error: BaseException) -> str | None:
        """How the process ended, where it did."""
        if not isinstance(error, BrokenProcessPool) or self._process is None:
            return None
        self._pool.shutdown(wait=True)
        return f"its process ended with {_described(self._process.exitcode)}"

    def end(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _described(code: Any) -> str:
    return signal.Signals(-code).name if isinstance(code, int) and code < 0 else f"exit code {code}"


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that are started in the block use one thread each: workers share the cores."""
    former = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
