"""Run cases on several processes, here or on other machines, and write one JSON line per trial; what a file
holds already is not run again, unless it is known to be of other weights or another preset."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from benchmarks.suite import Suite
from benchmarks.trials import Origin, Trial
from chronoforest.engines import Engine, Places
from chronoforest.engines.local import LocalEngine
from chronoforest.errors import BadResult, ChronoForestError, InvalidProblem, UnknownPreset
from chronoforest.files import DAMAGE, append_line, locked, reading
from chronoforest.models.store import distance_file, model_path
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.peers.registry import find_peer
from chronoforest.presets.roadmaps import STATES

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
    """The trials of all cases, in their order; those that `kept_trials` finds are not run again.

    engine: where they run, so many processes of this machine unless given; only this one writes.
    """
    engine = engine or LocalEngine(workers)
    path = folder / suite.file
    with locked(path):
        trials = kept_trials(cases, read_records(folder, suite))
        pending = [case for case in cases if case.key not in trials]
        num_kept = len(cases) - len(pending)
        for num_run, trial in enumerate(_run(pending, suite, engine), start=1):
            append_line(path, trial.to_json())
            trials[trial.case.key] = trial
            if on_progress is not None:
                on_progress(num_kept + num_run, len(cases))
    return [trials[case.key] for case in cases]


def kept_trials(cases: Sequence[Case], trials: Sequence[Trial]) -> dict[Case, Trial]:
    """The trials of these cases by key, without those that other weights or another preset made."""
    choices = {case.key: case.choice for case in cases}
    fits = cache(Origin.fits)  # a file has many trials of few origins
    return {
        key: trial
        for trial in trials
        if (key := trial.case.key) in choices and fits(trial.origin, choices[key])
    }


def read_trials(path: Path, kinds: Sequence[type] = ()) -> list[Trial]:
    """The trials of a file, plain or compressed (.gz), none when it does not exist; a torn last line is left
    out, and of a case that was run twice the last trial counts."""
    trials, lines = {}, []
    if path.exists():
        with reading(path, "a file of trials", BadResult):
            content = path.read_bytes()
            lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode().split("\n")[:-1]
    for number, line in enumerate(lines, start=1):
        try:
            trial = Trial.from_json(line, kinds)
            trials[trial.case.key] = trial
        except DAMAGE as error:
            raise BadResult(f"{path} line {number} is not a trial: {error!r}") from error
    return list(trials.values())


def read_records(folder: Path, suite: Suite) -> list[Trial]:
    """The trials of a suite, from its compressed file and its plain one, which counts more."""
    paths = (folder / f"{suite.file}.gz", folder / suite.file)
    found = [trial for path in paths for trial in read_trials(path, suite.figures)]
    return list({trial.case.key: trial for trial in found}.values())


def runnable(suite: Suite, cases: Iterable[Case]) -> list[Case]:
    """The cases that nothing stands in the way of; planners that are left out are named with the reason."""
    known = list(cases)
    for choice in dict.fromkeys(case.choice for case in known if obstacle(case.choice)):
        print(f"{suite.name}: trials of {choice.planner} left out: {obstacle(choice)}")
    return [case for case in known if not obstacle(case.choice)]


@cache
def obstacle(choice: PlannerChoice) -> str:
    """Why a planner cannot be run here, "" when it can: weights or recordings that are not there."""
    try:
        weights = model_path(choice.folder, distance_file(choice.distance))
    except UnknownPreset as error:
        return str(error)
    peer = None if choice.planner == CHRONOFOREST else find_peer(choice.planner)
    is_learned = (peer is None or not peer.needs_networks) and model_path(choice.folder, STATES).is_file()
    if not weights.is_file() and not is_learned:
        return f"no {weights.name} for {choice.preset}"
    recordings = choice.data / f"{choice.preset}.npz"
    return f"no {recordings}" if peer is not None and peer.needs_states and not recordings.is_file() else ""


def attempt(case: Case, loaded: Any, run: RunCase) -> Trial:
    """Run a case on what was loaded for it; a refused problem and a crash are failed trials with the
    reason."""
    try:
        return run(case, loaded)
    except InvalidProblem as error:
        return Trial(case, plan=None, refusal=str(error))
    except ChronoForestError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the other trials
        return Trial(case, plan=None, refusal=f"{type(error).__name__}: {error}")


def _run(cases: Sequence[Case], suite: Suite, engine: Engine) -> Iterator[Trial]:
    """Trials as they finish; a case that ends every process it is given to is a failed one."""
    files = (path for choice in {case.choice for case in cases} for path in choice.files)
    with closing(engine.answers(partial(_trial, suite.load, suite.run), cases, files)) as answers:
        for answer in answers:
            failed = Trial(
                cases[answer.index], plan=None, refusal=answer.failure, origin=Origin(version("chronoforest"))
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
