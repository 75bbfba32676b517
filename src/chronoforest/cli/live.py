"""The rounds of planning as they happen, in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from chronoforest.types import Problem, RoundStats

NUM_SHOWN = 12
"""Rounds on the screen."""


@contextmanager
def rounds_view(console: Console) -> Iterator[Callable[[RoundStats, Problem], None]]:
    """Show the latest rounds while the block runs; without a terminal, one line per round."""
    from rich.live import Live

    rounds: list[RoundStats] = []
    with Live(console=console, auto_refresh=False) as live:

        def show(stats: RoundStats, problem: Problem) -> None:
            rounds.append(stats)
            if console.is_terminal:
                live.update(rounds_table(rounds[-NUM_SHOWN:], problem), refresh=True)
            else:
                print("  ".join(round_cells(stats, problem)), flush=True)

        yield show


def rounds_table(rounds: Sequence[RoundStats], problem: Problem) -> Table:
    """One row per round."""
    from rich.table import Table

    table = Table("round", "tentative route", "legs met", "nodes", "seconds", title="planning")
    for stats in rounds:
        table.add_row(*round_cells(stats, problem))
    return table


def round_cells(stats: RoundStats, problem: Problem) -> tuple[str, ...]:
    """Round, the agents' routes, legs met, nodes and seconds as text; legs that are met before anything was
    asked are proposed only."""
    routes = " | ".join(" → ".join(order) for order in stats.route.named(problem))
    accepted = {frozenset((pair.source, pair.target)) for pair in stats.accepted}
    legs = stats.route.legs
    num_met = sum(frozenset((leg.source, leg.target)) in accepted for leg in legs)
    is_proposed = num_met == len(legs) and not stats.pairs
    met = f"{num_met}/{len(legs)}{' proposed' if is_proposed else ''}"
    return str(stats.round_index), routes, met, str(stats.num_nodes), f"{stats.seconds:.1f}"
