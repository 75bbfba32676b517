"""Run cases on several processes, here or on other machines, and write one JSON line per trial; an
interrupted run continues.

The file of a suite holds one trial per line; what it holds already is never run again.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from chronoforest.bench.case import Case
from chronoforest.bench.suite import Suite
from chronoforest.bench.trials import Origin, Trial
from chronoforest.engines import Engine, LocalEngine, Places
from chronoforest.errors import BadResult, InvalidProblem
from chronoforest.files import DAMAGE, append_line, locked, reading
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
    engine: Engine | None = None,
) -> list[Trial]:
    """The trials of all cases, in their order; those that the folder holds already are not run again.

    engine: where they run, so many processes of this machine unless told; only this one writes.
    """
    engine = engine or LocalEngine(workers)
    path = folder / suite.file
    with locked(path):
        trials = {trial.case.key: trial for trial in read_records(folder, suite)}
        pending = [case for case in cases if case.key not in trials]
        num_kept = len(cases) - len(pending)
        for num_run, trial in enumerate(_run(pending, suite, engine), start=1):
            append_line(path, trial.to_json())
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
        except DAMAGE as error:
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


def _run(cases: Sequence[Case], suite: Suite, engine: Engine) -> Iterator[Trial]:
    """Trials as they finish; a case that ends every process it is given to is a failed one."""
    files = (path for choice in {case.choice for case in cases} for path in choice.files)
    with closing(engine.answers(partial(_trial, suite.load, suite.run), cases, files)) as answers:
        for answer in answers:
            failed = Trial(
                cases[answer.index],
                plan=None,
                refusal=answer.failure,
                origin=Origin(version("chronoforest")),
            )
            yield answer.result or failed


def _trial(load: Load, run: RunCase, case: Case, places: Places) -> Trial:
    loaded, origin = _loaded(load, case.choice.moved(places))
    return replace(attempt(case, loaded, run), origin=origin)


@lru_cache(maxsize=4)
def _loaded(load: Load, choice: PlannerChoice) -> tuple[Any, Origin]:
    """What a process has loaded, on one thread: workers share the cores, plans must not depend on them."""
    import torch

    torch.set_num_threads(1)
    return load(choice), Origin.of(choice)


def _whole_lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    with reading(path, "a file of trials", BadResult):
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode().split("\n")[:-1]
