"""How work ends: signals wait for a good moment, SIGTERM is like ctrl-C, workers end with their parent."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from types import FrameType

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
def unchanged(number: signal.Signals) -> Iterator[None]:
    """Whoever answers a signal before the block does so after it; elsewhere than in the main thread nothing
    changes."""
    former = signal.getsignal(number)
    yield
    if threading.current_thread() is threading.main_thread():
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


@cache
def end_with(parent: int) -> None:
    """Let this process, a worker, end soon after the process that started it; nothing in that one itself."""
    if parent != os.getpid():
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(CHECK_SECONDS)
    os._exit(1)  # at once: whoever could use the rest of the work is gone
