"""Run cases on several processes and write one JSON line per trial; an interrupted run continues.

The file of a suite holds one trial per line; what it holds already is never run again.
"""

from __future__ import annotations

import gzip
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from chronoforest.bench.case import Case
from chronoforest.bench.suite import Suite
from chronoforest.bench.trials import Origin, Trial
from chronoforest.errors import BadResult, CannotWrite, ChronoForestError, InvalidParameter, InvalidProblem
from chronoforest.peers.choice import PlannerChoice

OnProgress = Callable[[int, int], None]
Load = Callable[[PlannerChoice], Any]
RunCase = Callable[[Case, Any], Trial]


def run_cases(
    suite: Suite,
    cases: Sequence[Case],
    folder: Path,
    workers: int = 1,
    on_progress: OnProgress | None = None,
) -> list[Trial]:
    """The trials of all cases, in their order; those that the folder holds already are not run again."""
    if workers < 1:
        raise InvalidParameter(f"workers must be at least 1, got {workers}")
    path = folder / suite.file
    _drop_torn_line(path)
    trials = {trial.case.key: trial for trial in read_records(folder, suite)}
    pending = [case for case in cases if case.key not in trials]
    num_kept = len(cases) - len(pending)
    for num_run, trial in enumerate(_run(pending, suite, workers), start=1):
        _append(path, trial)
        trials[trial.case.key] = trial
        if on_progress is not None:
            on_progress(num_kept + num_run, len(cases))
    return [trials[case.key] for case in cases]


def read_trials(path: Path) -> list[Trial]:
    """The trials of a file, plain or compressed (.gz), none when it does not exist.

    A torn last line is left out; of a case that was run twice the last trial counts.
    """
    trials = {}
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            trial = Trial.from_json(line)
            trials[trial.case.key] = trial
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadResult(f"{path} line {number} is not a trial: {error!r}") from error
    return list(trials.values())


def read_records(folder: Path, suite: Suite) -> list[Trial]:
    """The trials of a suite, from its compressed file and its plain one, which counts more."""
    found = [*read_trials(folder / f"{suite.file}.gz"), *read_trials(folder / suite.file)]
    return list({trial.case.key: trial for trial in found}.values())


def attempt(case: Case, loaded: Any, run: RunCase) -> Trial:
    """Run a case on what was loaded for it; a refused problem is a failed trial."""
    try:
        return run(case, loaded)
    except InvalidProblem as error:
        return Trial(case, plan=None, refusal=str(error))


def _run(cases: Sequence[Case], suite: Suite, workers: int) -> Iterator[Trial]:
    """Trials as they finish."""
    if workers == 1 or len(cases) < 2:
        yield from (_trial(case, suite.load, suite.run) for case in cases)
        return
    # A fresh interpreter per worker: forking a process whose torch threads are running can hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(cases)), mp_context=context)
    try:
        waiting = [pool.submit(_trial_or_error, case, suite.load, suite.run) for case in cases]
        for finished in as_completed(waiting):
            trial, error = finished.result()
            if trial is None:
                raise ChronoForestError(error)
            yield trial
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _trial_or_error(case: Case, load: Load, run: RunCase) -> tuple[Trial | None, str]:
    """A worker's answer; errors travel as their sentence, since not all of them can be pickled."""
    try:
        return _trial(case, load, run), ""
    except ChronoForestError as error:
        return None, str(error)


def _trial(case: Case, load: Load, run: RunCase) -> Trial:
    loaded, origin = _loaded(load, case.choice)
    return replace(attempt(case, loaded, run), origin=origin)


@lru_cache(maxsize=4)
def _loaded(load: Load, choice: PlannerChoice) -> tuple[Any, Origin]:
    """What a process has loaded, on one thread: workers share the cores, plans must not depend on them."""
    import torch

    torch.set_num_threads(1)
    return load(choice), Origin.of(choice)


def _append(path: Path, trial: Trial) -> None:
    """One line in one write, on the disk before the next trial is counted."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(trial.to_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from error


def _whole_lines(path: Path) -> list[str]:
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    except FileNotFoundError:
        return []
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BadResult(f"cannot read {path}: {error}") from error
    return text.split("\n")[:-1]


def _drop_torn_line(path: Path) -> None:
    """Cut what a killed run left after the last end of line, so that the next line starts on its own."""
    if path.is_file():
        with path.open("rb+") as file:
            file.truncate(file.read().rfind(b"\n") + 1)
