"""Run cases on several processes and write one JSON line per trial; an interrupted run continues."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronoforest.bench.suites import Case, Mode
from chronoforest.bench.trials import Trial, Walker, run_case
from chronoforest.errors import BadResult, ChronoForestError, InvalidParameter
from chronoforest.files import DAMAGE, append_line, locked, reading
from chronoforest.processes import spread

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

LoadPlanner = Callable[[str, Mode], "PresetPlanner | Walker"]
"""Preset and mode → what a suite needs; hashable and picklable, because every process loads its own."""

RunCase = Callable[[Case, Any], Trial]
"""Runs one case on what was loaded for it; a function of a module, because other processes import it."""

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class ShippedPlanner:
    """Loads planners, or peers by name, with the weights of the package or of another folder."""

    weights: Path | None = None
    device: str = "cpu"
    tracker: str | None = None
    planner: str = "chronoforest"
    data: Path = Path("data")
    distance: str = "own"

    def __call__(self, preset: str, mode: Mode) -> PresetPlanner:
        """The planner of a preset."""
        from chronoforest.peers.registry import load

        return load(
            self.planner,
            preset,
            self.data,
            device=self.device,
            weights=self.weights,
            mode=mode,
            tracker=self.tracker,
            distance=self.distance,
        )


@dataclass(frozen=True)
class ShippedWalker:
    """Loads trackers alone: following a fixed path needs no other model."""

    weights: Path | None = None
    tracker: str | None = None

    def __call__(self, preset: str, mode: Mode) -> Walker:
        """The tracker of a preset and how it is used."""
        from chronoforest.models.store import load_tracker
        from chronoforest.presets.named import get_preset

        chosen = get_preset(preset)
        tracker = load_tracker(self.weights or chosen.weights, chosen.tracker_file(self.tracker), preset)
        return Walker(tracker, chosen.execution)


def run_cases(
    cases: Sequence[Case],
    path: Path,
    load: LoadPlanner,
    workers: int = 1,
    on_progress: OnProgress | None = None,
    run: RunCase = run_case,
) -> list[Trial]:
    """The trials of all cases, in their order; those that the file holds already are not run again."""
    if workers < 1:
        raise InvalidParameter(f"workers must be at least 1, got {workers}")
    with locked(path):
        trials = {trial.case: trial for trial in read_trials(path)}
        pending = [case for case in cases if case not in trials]
        num_kept = len(cases) - len(pending)
        for num_run, trial in enumerate(_run(pending, load, workers, run), start=1):
            append_line(path, trial.to_json())
            trials[trial.case] = trial
            if on_progress is not None:
                on_progress(num_kept + num_run, len(cases))
    return [trials[case] for case in cases]


def read_trials(path: Path) -> list[Trial]:
    """The trials of a file, plain or compressed (.gz), none when it does not exist; a torn last line is left
    out."""
    trials = []
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            trials.append(Trial.from_json(line))
        except DAMAGE as error:
            raise BadResult(f"{path} line {number} is not a trial: {error!r}") from error
    return trials


def _run(cases: Sequence[Case], load: LoadPlanner, workers: int, run: RunCase) -> Iterator[Trial]:
    """Trials as they finish."""
    if workers == 1 or len(cases) < 2:
        yield from (_trial(case, load, run) for case in cases)
        return
    calls = [(case, load, run) for case in cases]
    with closing(spread(_trial_or_error, calls, min(workers, len(cases)))) as answers:
        for trial, error in answers:
            if trial is None:
                raise ChronoForestError(error)
            yield trial


def _trial_or_error(case: Case, load: LoadPlanner, run: RunCase) -> tuple[Trial | None, str]:
    """A worker's answer; errors travel as their sentence, since not all of them can be pickled."""
    try:
        return _trial(case, load, run), ""
    except ChronoForestError as error:
        return None, str(error)


def _trial(case: Case, load: LoadPlanner, run: RunCase) -> Trial:
    return run(case, _planner(load, case.preset, case.mode))


@cache
def _planner(load: LoadPlanner, preset: str, mode: Mode) -> PresetPlanner | Walker:
    """One planner per process, on one thread: workers share the cores, and plans must not depend on them."""
    import torch

    torch.set_num_threads(1)
    return load(preset, mode)


def _whole_lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    with reading(path, "a file of trials", BadResult):
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode().split("\n")[:-1]
