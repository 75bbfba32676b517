"""`chronoforest bench`: many trials, resumable, and a table of what came of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import arg

from chronoforest.cli.planning import Options, PlannerOptions

if TYPE_CHECKING:
    from chronoforest.bench.run import LoadPlanner


@dataclass(frozen=True)
class BenchOptions:
    """How many trials, and where they go.

    Args:
        workers: processes; each loads its own planner and uses one thread.
        out: folder for SUITE.jsonl, one line per trial; a run that was stopped continues from there.
        markdown: print the table for a Markdown file.
    """

    workers: int = 1
    out: Path = Path("runs/bench")
    markdown: bool = False


Bench = Annotated[BenchOptions, arg(name="")]


def stitch(options: Options, bench: Bench, episodes: int = 50, replans: bool = True) -> None:
    """The official protocol: five tasks with jitter, success within 1000 and within 2000 steps.

    Args:
        episodes: per task.
        replans: plan anew when something goes wrong on the way; without it the walk ends there.
    """
    _bench("stitch", options, bench, episodes, replans=replans)


def pairs(options: Options, bench: Bench, episodes: int = 500) -> None:
    """Plans between random starts and goals: completeness, walls crossed, lengths.

    Args:
        episodes: pairs in all.
    """
    _bench("pairs", options, bench, episodes)


def multi(options: Options, bench: Bench, episodes: int = 100, agents: int = 2, waypoints: int = 5) -> None:
    """Plans for several agents with shared random waypoints.

    Args:
        episodes: problems in all.
        agents: M.
        waypoints: K.
    """
    _bench("multi", options, bench, episodes, num_agents=agents, num_waypoints=waypoints)


def order(options: Options, bench: Bench, episodes: int = 50) -> None:
    """Plans through three waypoints whose best order the raw learned distance gets wrong.

    Args:
        episodes: waypoint triples in all; the five tasks take turns.
    """
    _bench("order", options, bench, episodes)


def track(
    options: Options,
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
    from chronoforest.bench.run import ShippedWalker
    from chronoforest.presets.named import get_preset

    named = replace(options, tracker=options.tracker or get_preset(options.preset).models.tracker.name)
    load = ShippedWalker(options.weights, named.tracker)
    _bench("track", named, bench, episodes, load, reference=reference, look_ahead=look)


def _bench(
    suite: str,
    options: PlannerOptions,
    bench: BenchOptions,
    episodes: int,
    load: LoadPlanner | None = None,
    **more: Any,
) -> None:
    """Run a suite and print its table; `more`: what else identifies its cases."""
    from rich.console import Console

    from chronoforest.bench.run import ShippedPlanner, read_trials, run_cases
    from chronoforest.bench.suites import Case, make_cases
    from chronoforest.cli.planning import open_folder
    from chronoforest.cli.progress import bar
    from chronoforest.report.tables import bench_table

    options.check()
    preset = options.preset
    if options.tracker is not None:
        more["tracker"] = options.tracker
    if load is None:
        more |= {"planner": options.planner, "distance": options.distance}
    template = Case(suite, preset, 0, 0, options.seed, options.variant, options.mode, **more)
    cases = make_cases(template, episodes)
    path = open_folder(bench.out) / f"{suite}.jsonl"
    num_kept = len({trial.case for trial in read_trials(path)} & set(cases))
    if num_kept:
        print(f"{path}: {num_kept} of {len(cases)} trials were there already, kept")
    with bar(f"{suite} {preset}", "trials") as on_progress:
        load = load or ShippedPlanner(
            options.weights,
            options.device,
            options.tracker,
            options.planner,
            options.data,
            options.distance,
        )
        trials = run_cases(cases, path, load, bench.workers, on_progress)
    title = ", ".join([suite, preset, options.variant, *(f"{key} {value}" for key, value in more.items())])
    table = bench_table(suite, trials, title=title)
    print(table.to_markdown()) if bench.markdown else Console().print(table.to_rich())
    print(f"{path}: {len(trials)} trials")
