"""Progress bars in the terminal for library functions that report through a callback."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chronoforest.models.train import Progress as TrainingProgress


@contextmanager
def bar(title: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block runs; yields the callback that takes the finished count and the total."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    console = Console()
    with Progress(*columns, transient=True, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def training_bar(title: str) -> Iterator[Callable[[TrainingProgress], None]]:
    """Show steps, loss and rate of a training; without a terminal, print a line every half minute."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console()
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    printed_at = time.monotonic()
    with Progress(*columns, TimeRemainingColumn(), transient=True, console=console) as progress:
        task = progress.add_task("", total=None)

        def show(report: TrainingProgress) -> None:
            nonlocal printed_at
            text = f"loss {report.loss:.4g}, {report.rate:.0f} steps/s"
            progress.update(task, completed=report.step, total=report.num_steps, description=text)
            if not console.is_terminal and time.monotonic() - printed_at > 30:
                printed_at = time.monotonic()
                print(f"{title}: step {report.step} of {report.num_steps}, {text}", flush=True)

        yield show
