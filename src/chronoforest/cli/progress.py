"""Progress bars in the terminal for library functions that report through a callback."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chronoforest.models.train import Progress as TrainingProgress

LINE_SECONDS = 30.0
"""Without a terminal, a training tells its state so often, in a line."""


@contextmanager
def bar(title: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block runs; yields the callback that takes the finished count and the total."""
    with shown(title) as show:
        yield lambda done, total: show(done, total, unit)


@contextmanager
def training_bar(title: str) -> Iterator[Callable[[str, TrainingProgress], None]]:
    """Show steps, loss and rate of trainings, each by its name; without a terminal, a line now and then."""
    with shown(title, LINE_SECONDS) as show:
        yield lambda name, now: show(now.step, now.num_steps, f"{name}, {_state(now)}")


def _state(now: TrainingProgress) -> str:
    held_out = "" if now.held_out is None else f" (held out {now.held_out:.4g})"
    return f"loss {now.loss:.4g}{held_out}, {now.rate:.0f} steps/s"


@contextmanager
def shown(title: str, line_seconds: float | None = None) -> Iterator[Callable[[int, int, str], None]]:
    """A bar in a terminal; elsewhere a line every `line_seconds`, none without them."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console()
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    printed_at = time.monotonic()
    with Progress(
        *columns, TimeRemainingColumn(), transient=True, console=console, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=None)

        def show(done: int, total: int, text: str) -> None:
            nonlocal printed_at
            progress.update(task, completed=done, total=total, description=text)
            is_due = line_seconds is not None and time.monotonic() - printed_at >= line_seconds
            if is_due and not console.is_terminal:
                printed_at = time.monotonic()
                print(f"{title}: step {done} of {total}, {text}", flush=True)

        yield show
