"""`chronoforest bench`: many trials, resumable, and a table of what came of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import arg

from chronoforest.cli.planning import Choice, Where, open_folder
from chronoforest.engines.choice import EngineChoice
from chronoforest.errors import InvalidParameter
from chronoforest.modules import require
from chronoforest.names import DEFAULT_VARIANT, check_reference, check_variant
from chronoforest.peers.choice import PlannerChoice


@dataclass(frozen=True)
class BenchOptions:
    """Which trials, and where they go.

    Args:
        variant: verified, or online for the paper's method, or one of the ablations.
        seed: of all trials; the same seed gives the same plans.
        out: folder for SUITE.jsonl, one line per trial; a run that was stopped continues from there.
        markdown: print the table for a Markdown file.
    """

    variant: str = DEFAULT_VARIANT
    seed: int = 0
    out: Path = Path("runs/bench")
    markdown: bool = False

    def check(self, episodes: int) -> None:
        """Refuse what cannot be run, before anything is imported that takes time."""
        from chronoforest.typed import check_whole

        check_variant(self.variant)
        check_whole("seed", self.seed)
        if episodes < 1:
            raise InvalidParameter(f"episodes must be at least 1, got {episodes}")


Bench = Annotated[BenchOptions, arg(name="")]


def stitch(choice: Choice, where: Where, bench: Bench, episodes: int = 50, replans: bool = True) -> None:
    """The official protocol: five tasks with jitter, success within 1000 and within 2000 steps.

    Args:
        episodes: per task.
        replans: plan anew when something goes wrong on the way; without it the walk ends there.
    """
    require("sim")
    _bench("stitch", choice, where, bench, episodes, replans=replans)


def pairs(choice: Choice, where: Where, bench: Bench, episodes: int = 500) -> None:
    """Plans between random starts and goals: completeness, walls crossed, lengths.

    Args:
        episodes: pairs in all.
    """
    _bench("pairs", choice, where, bench, episodes)


def multi(
    choice: Choice, where: Where, bench: Bench, episodes: int = 100, agents: int = 2, waypoints: int = 5
) -> None:
    """Plans for several agents with shared random waypoints.

    Args:
        episodes: problems in all.
        agents: M.
        waypoints: K.
    """
    _bench("multi", choice, where, bench, episodes, num_agents=agents, num_waypoints=waypoints)


def order(choice: Choice, where: Where, bench: Bench, episodes: int = 50) -> None:
    """Plans through three waypoints whose best order the raw learned distance gets wrong.

    Args:
        episodes: waypoint triples in all; the five tasks take turns.
    """
    _bench("order", choice, where, bench, episodes)


def track(
    choice: Choice,
    where: Where,
    bench: Bench,
    episodes: int = 12,
    reference: str = "centres",
    look: float | None = None,
) -> None:
    """Fixed paths of the map, followed without planning: what a tracker can do, within 1000 steps.

    Args:
        episodes: per task.
        reference: centres of the cells, or geodesic-1.5, geodesic-1.25 or geodesic-1.0 by its clearance.
        look: units that the subgoal leads the nearest point of the path by; the preset's unless told.
    """
    require("sim")
    choice.check()
    check_reference(reference)
    from chronoforest.presets.named import get_preset

    named = replace(choice, tracker=choice.tracker or get_preset(choice.preset).models.tracker.name)
    _bench("track", named, where, bench, episodes, reference=reference, look_ahead=look)


def _bench(
    name: str, choice: PlannerChoice, where: EngineChoice, bench: BenchOptions, episodes: int, **more: Any
) -> None:
    """Run a suite and print its table; `more`: what else its cases share."""
    choice.check()
    bench.check(episodes)
    where.check(choice.device)
    from rich.console import Console

    from chronoforest.bench.case import Case
    from chronoforest.bench.protocol import PROTOCOL_SUITES
    from chronoforest.bench.run import read_records, run_cases
    from chronoforest.bench.suite import Request
    from chronoforest.cli.progress import bar
    from chronoforest.report.tables import bench_table, setup_title

    suite = PROTOCOL_SUITES[name]
    template = Case(name, choice, seed=bench.seed, variant=bench.variant, **more)
    cases = suite.cases(Request(episodes=episodes, template=template))
    folder = open_folder(bench.out)
    path = folder / suite.file
    num_kept = len({trial.case.key for trial in read_records(folder, suite)} & {case.key for case in cases})
    if num_kept:
        print(f"{path}: {num_kept} of {len(cases)} trials were there already, kept")
    with bar(f"{name} {choice.preset}", "trials") as on_progress:
        engine = where.make(choice.modules)
        trials = run_cases(suite, cases, folder, on_progress=on_progress, engine=engine)
    table = bench_table(name, trials, setup_title(cases[0]))
    print(table.to_pipes()) if bench.markdown else Console().print(table.to_rich())
    print(f"{path}: {len(trials)} trials")
