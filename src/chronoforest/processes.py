"""How work ends: signals wait for a good moment, SIGTERM is like ctrl-C, workers end with their parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from types import FrameType
from typing import Any, TypeVar

from chronoforest.errors import WorkerDied

Result = TypeVar("Result")
Handler = Callable[[int, FrameType | None], None] | signal.Handlers

CHECK_SECONDS = 0.5
"""How often a worker looks whether its parent is still there."""


def interrupt(*_: object) -> None:
    """What ctrl-C does, for other signals."""
    raise KeyboardInterrupt


@contextmanager
def handled(handler: Handler, *numbers: signal.Signals) -> Iterator[None]:
    """Let `handler` answer signals within the block; only the main thread may, elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, former in previous.items():
            signal.signal(number, former or signal.SIG_DFL)


@contextmanager
def held_signals() -> Iterator[Callable[[], None]]:
    """Hold ctrl-C and SIGTERM back until the yielded function is called, so that what is saved is never half
    a step.

    It raises KeyboardInterrupt when one came, and so does the end of the block.
    """
    pressed: list[int] = []

    def let_through() -> None:
        if pressed:
            raise KeyboardInterrupt

    with handled(lambda number, _: pressed.append(number), signal.SIGINT, signal.SIGTERM):
        yield let_through
    let_through()


def deaf_children() -> AbstractContextManager[None]:
    """Processes that are started in the block never hear ctrl-C, which reaches the whole group: their owner
    decides. (What is ignored stays so in a new program; a blocked signal would not, multiprocessing unblocks
    it.)"""
    return handled(signal.SIG_IGN, signal.SIGINT)


def spread(
    work: Callable[..., Result], calls: Iterable[Sequence[Any]], num_workers: int
) -> Generator[Result, None, None]:
    """What `work` returns for the arguments of each call, as they finish, from processes of their own.

    They end at once when this generator is left early, and soon after this process when it is killed.
    """
    # A fresh interpreter per worker: forking a process whose torch threads are running can hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(num_workers, context, initializer=end_with, initargs=(os.getpid(),))
    try:
        with deaf_children():
            waiting = [pool.submit(work, *arguments) for arguments in calls]
        for finished in as_completed(waiting):
            yield finished.result()
    except BrokenProcessPool as error:
        raise WorkerDied(
            "a process that shares the work ended unexpectedly; the same command continues"
        ) from error
    finally:
        for process in list(pool._processes.values()):
            process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


@cache
def end_with(parent: int) -> None:
    """Let this process, a worker, end soon after the process that started it; nothing in that one itself."""
    if parent != os.getpid():
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(CHECK_SECONDS)
    os._exit(1)  # at once: whoever could use the rest of the work is gone
