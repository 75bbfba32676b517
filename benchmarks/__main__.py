"""`python -m benchmarks`: run the paper's suites, write its tables and figures, train the ant's expert."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.contents import CONTENTS
from benchmarks.forecast import Forecast, forecast, runnable
from benchmarks.registry import chosen_suites
from chronoforest.bench.case import Case
from chronoforest.bench.run import run_cases
from chronoforest.bench.suite import Request, Suite
from chronoforest.cli import Verb, run_verbs
from chronoforest.cli.planning import Where, open_folder
from chronoforest.cli.progress import bar
from chronoforest.cli.report import Folder
from chronoforest.errors import InvalidParameter
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.report.page import write_report

PROGRAM = "python -m benchmarks"


def run(
    where: Where,
    only: tuple[str, ...] = (),
    kinds: tuple[str, ...] = (),
    variants: tuple[str, ...] = (),
    repeats: int | None = None,
    episodes: int | None = None,
    dry_run: bool = False,
    out: Path = Path("runs/paper"),
    device: str = "cpu",
    data: Path = Path("data"),
    preset: str | None = None,
    weights: Path | None = None,
) -> None:
    """Run the suites of the paper; `report` then writes its tables and figures.

    Args:
        only: names of suites; all of them unless told.
        kinds: of trials, where a suite has several, as pairs, multi, order, hamiltonian, stitch of parts.
        variants: of the planner, or other planners such as dataset-graph; all that the suite compares unless
            told.
        repeats: evaluations of the whole, or of each stored problem; the paper's number unless told.
        episodes: of each task, or stored problems of each; the paper's number unless told.
        dry_run: list what would be run and how long it may take, and run nothing.
        out: folder for SUITE.jsonl, one line per trial; a run that was stopped continues from there.
        device: cpu or cuda; use another folder for each.
        data: folder with PRESET.npz, for a planner that needs recorded states.
        preset: suite parts in another world than its own, or city with other models: a named one, or NAME for
            NAME.toml.
        weights: folder of trained models for it; use another `out` for each.
    """
    where.check(device)
    request = Request(repeats, episodes, _template(preset, weights, only))
    known = {suite: suite.cases(request) for suite in chosen_suites(only)}
    everything = [case for cases in known.values() for case in cases]
    _check_names("kinds", kinds, {case.suite for case in everything})
    _check_names("variants", variants, {_row(case) for case in everything})
    wanted = {
        suite: [
            _placed(case, device, data)
            for case in cases
            if (not kinds or case.suite in kinds) and (not variants or _row(case) in variants)
        ]
        for suite, cases in known.items()
    }
    forecasts = {suite: forecast(suite, cases, out) for suite, cases in wanted.items()}
    if dry_run:
        _print_forecasts(forecasts, where.workers or 1)
        return
    open_folder(out, PROGRAM)
    for suite, cases in wanted.items():
        for one in (one for one in forecasts[suite] if one.obstacle):
            left_out = f"{one.num_wanted} trials of {one.setup.choice.planner} left out"
            print(f"{suite.name}: {left_out}: {one.obstacle}")
        with bar(suite.name, "trials") as on_progress:
            engine = where.make(("benchmarks",))
            trials = run_cases(suite, runnable(cases), out, on_progress=on_progress, engine=engine)
        print(f"{out / suite.file}: {len(trials)} trials of suite {suite.name}")


def _template(preset: str | None, weights: Path | None, only: tuple[str, ...]) -> Case | None:
    """Another world than a suite's own, where one is named."""
    if preset is None and weights is None:
        return None
    if only not in (("parts",), ("city",)) or preset is None:
        raise InvalidParameter(
            "another world needs --preset and --only parts, whose problems fit any world, or --only city"
        )
    choice = PlannerChoice(preset, weights=weights)
    choice.check()
    return Case(only[0], choice)


def _row(case: Case) -> str:
    """What a suite compares: variants of ours, and other planners by their names."""
    return case.variant if case.choice.planner == CHRONOFOREST else case.choice.planner


def _check_names(option: str, names: tuple[str, ...], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise InvalidParameter(
                f"--{option} {name}: not in these suites; there are {', '.join(sorted(known))}"
            )


def _placed(case: Case, device: str, data: Path) -> Case:
    """A case on a device; one that names recordings of its own, such as those of few, keeps them."""
    own = case.choice.data
    return case.chosen(device=device, data=data if own == PlannerChoice.data else own)


def report(folder: Folder) -> None:
    """Write the paper's tables and figures from records; runs nothing.

    Args:
        folder: where the records are; the report goes to FOLDER/report.
    """
    page = write_report(folder, CONTENTS)
    print(f"{page}: one page that needs nothing else; report.md, tables and figures beside it")


def _print_forecasts(forecasts: dict[Suite, list[Forecast]], workers: int) -> None:
    """A line per setup and the time of all; suites that share records share the time."""
    by_file: dict[str, float] = {}
    for suite, lines in forecasts.items():
        print(f"{suite.name}: {suite.summary}")
        for one in lines:
            print(f"  {_described(one)}")
        seconds = sum(one.seconds for one in lines)
        by_file[suite.file] = max(seconds, by_file.get(suite.file, 0.0))
    duration = _duration(sum(by_file.values()) / workers)
    print(f"about {duration} in all, {workers} at a time, each on a core of its own")


def _described(one: Forecast) -> str:
    choice = one.setup.choice
    names = (
        choice.preset,
        choice.planner,
        one.setup.variant,
        f"distance {choice.distance}",
        one.setup.change,
    )
    trials = f"{', '.join(filter(None, names))}: {one.num_wanted} trials, {one.num_kept} kept"
    if one.obstacle:
        return f"{trials}; left out: {one.obstacle}"
    return f"{trials}; {one.seconds_each:.1f} s each, {_duration(one.seconds)} left"


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"


VERBS = {
    "run": Verb("benchmarks.__main__:run", "the trials behind the paper's tables and figures"),
    "thin": Verb("benchmarks.thin:thin", "models from few recordings, for the suite of that name"),
    "record": Verb("benchmarks.worlds.command:record", "recordings of the directed worlds"),
    "expert": Verb("benchmarks.expert.command:expert", "train what walks the ant"),
    "figures": Verb("benchmarks.pages:figures", "the numbers on the pages, from saved records"),
    "report": Verb("benchmarks.__main__:report", "those tables and figures, from saved records"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, with the exit codes of `chronoforest`."""
    return run_verbs(PROGRAM, VERBS, argv)


if __name__ == "__main__":
    sys.exit(main())
