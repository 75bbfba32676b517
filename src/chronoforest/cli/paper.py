"""`chronoforest bench paper`: the trials behind the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chronoforest.bench.paper.campaign import Forecast
    from chronoforest.bench.paper.suite import Suite


def paper(
    only: tuple[str, ...] = (),
    repeats: int | None = None,
    episodes: int | None = None,
    workers: int = 1,
    dry_run: bool = False,
    out: Path = Path("runs/paper"),
    device: str = "cpu",
    data: Path = Path("data"),
) -> None:
    """Run the suites of the paper; `chronoforest report` then writes its tables and figures.

    Args:
        only: names of suites; all of them unless told.
        repeats: evaluations of the whole, or of each stored problem; the paper's number unless told.
        episodes: of each task, or stored problems of each; the paper's number unless told.
        workers: processes; each loads its own planner and uses one thread.
        dry_run: list what would be run and how long it may take, and run nothing.
        out: folder for SUITE.jsonl, one line per trial; a run that was stopped continues from there.
        device: cpu or cuda; use another folder for each.
        data: folder with PRESET.npz, for a planner that needs recorded states.
    """
    from chronoforest.bench.paper.campaign import Setting, forecast, run_suite
    from chronoforest.bench.paper.registry import chosen_suites
    from chronoforest.bench.paper.suite import Effort
    from chronoforest.cli.planning import open_folder
    from chronoforest.cli.progress import bar

    suites, effort, setting = chosen_suites(only), Effort(repeats, episodes), Setting(device, data)
    plans = [(suite, forecast(suite, effort, out, setting)) for suite in suites]
    if dry_run:
        _print_forecasts(plans, workers)
        return
    open_folder(out)
    for suite, forecasts in plans:
        for one in (one for one in forecasts if one.obstacle):
            print(f"{suite.name}: {one.num_wanted} trials of {one.contest.planner} left out: {one.obstacle}")
        with bar(suite.name, "trials") as on_progress:
            trials = run_suite(suite, effort, out, setting, workers, on_progress)
        print(f"{out / suite.file}: {len(trials)} trials of suite {suite.name}")


def _print_forecasts(plans: Sequence[tuple[Suite, Sequence[Forecast]]], workers: int) -> None:
    """A line per contest and the time of all; suites that share records share the time."""
    by_file: dict[str, float] = {}
    for suite, forecasts in plans:
        print(f"{suite.name}: {suite.summary}")
        for one in forecasts:
            print(f"  {_described(one)}")
        seconds = sum(one.seconds for one in forecasts)
        by_file[suite.file] = max(seconds, by_file.get(suite.file, 0.0))
    duration = _duration(sum(by_file.values()) / workers)
    print(f"about {duration} in all, {workers} at a time, each on a core of its own")


def _described(one: Forecast) -> str:
    contest = one.contest
    names = (contest.preset, contest.planner, contest.variant, f"distance {contest.distance}", contest.change)
    trials = f"{', '.join(filter(None, names))}: {one.num_wanted} trials, {one.num_kept} kept"
    if one.obstacle:
        return f"{trials}; left out: {one.obstacle}"
    return f"{trials}; {one.seconds_each:.1f} s each, {_duration(one.seconds)} left"


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"
