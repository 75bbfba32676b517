"""What verbs have in common: folders of runs, and progress in the terminal."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from chronoforest.engines import EngineChoice
from chronoforest.files import DAMAGE, write_text
from chronoforest.peers.choice import PlannerChoice

if TYPE_CHECKING:
    from chronoforest.models.train import Progress as TrainingProgress
    from chronoforest.types import Problem, RoundStats


Choice = Annotated[PlannerChoice, arg(name="")]
Where = Annotated[EngineChoice, arg(name="")]


def open_folder(out: Path, program: str = "chronoforest") -> Path:
    """Make a run folder that remembers its commands and version, before any long work."""
    path, known = out / "config.json", list[str]()
    with suppress(*DAMAGE):
        known = [str(command) for command in json.loads(path.read_text())["commands"]]
    commands = dict.fromkeys([*known, f"{program} {shlex.join(sys.argv[1:])}"])
    config = {"commands": list(commands), "version": version("chronoforest")}
    write_text(path, json.dumps(config, indent=2) + "\n")
    return out


LINE_SECONDS = 30.0
"""Between lines about the state of a training, where there is no terminal."""


@contextmanager
def bar(title: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block runs; yields the callback that takes the finished count and the total."""
    with shown(title) as show:
        yield lambda done, total: show(done, total, unit)


@contextmanager
def training_bar(title: str) -> Iterator[Callable[[str, TrainingProgress], None]]:
    """Show steps, loss and rate of trainings, each by its name; without a terminal, a line now and then."""
    with shown(title, LINE_SECONDS) as show:

        def tell(name: str, now: TrainingProgress) -> None:
            held_out = "" if now.held_out is None else f" (held out {now.held_out:.4g})"
            text = f"{name}, loss {now.loss:.4g}{held_out}, {now.rate:.0f} steps/s"
            show(now.step, now.num_steps, text)

        yield tell


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


def print_round(stats: RoundStats, problem: Problem) -> None:
    """A line about a round: the agents' routes, how many legs are met, and what it counted."""
    routes = " | ".join(" → ".join(order) for order in stats.route.named(problem))
    accepted = {frozenset((pair.source, pair.target)) for pair in stats.accepted}
    num_met = sum(frozenset((leg.source, leg.target)) in accepted for leg in stats.route.legs)
    met = f"{num_met} of {len(stats.route.legs)} legs met"
    counts = f"{stats.num_nodes} nodes, {stats.num_expanded} expansions, {stats.seconds:.1f} s"
    print(f"round {stats.round_index + 1}: {routes}, {met}, {counts}", flush=True)
