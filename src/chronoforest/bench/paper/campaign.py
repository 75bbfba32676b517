"""Runs suites: finds out what is missing, forecasts how long it takes, and fills one file of trials each.

The file of a suite holds one trial per line; what it holds already is never run again, so that a run that was
killed goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from chronoforest.bench.paper.changes import ChangedPlanner
from chronoforest.bench.paper.suite import Effort, Suite
from chronoforest.bench.run import LoadPlanner, OnProgress, ShippedPlanner, read_trials, run_cases
from chronoforest.bench.suites import Case
from chronoforest.bench.trials import Trial
from chronoforest.models.store import distance_file, model_path
from chronoforest.peers.registry import PEERS
from chronoforest.presets.named import get_preset


@dataclass(frozen=True)
class Setting:
    """What all trials share: where the networks run and where recordings lie."""

    device: str = "cpu"
    data: Path = Path("data")


@dataclass(frozen=True)
class Contest:
    """What the trials of one row have in common."""

    preset: str
    planner: str
    variant: str
    distance: str
    change: str

    @classmethod
    def of(cls, case: Case) -> Contest:
        """The contest of a case."""
        return cls(case.preset, case.planner, case.variant, case.distance, case.change)


@dataclass(frozen=True)
class Forecast:
    """The trials of a contest: wanted, kept already, seconds for each that is left; why they are left out."""

    contest: Contest
    num_wanted: int
    num_kept: int
    seconds_each: float
    obstacle: str = ""

    @property
    def seconds(self) -> float:
        """What is left to run, on one core."""
        return 0.0 if self.obstacle else (self.num_wanted - self.num_kept) * self.seconds_each


def forecast(suite: Suite, effort: Effort, folder: Path, setting: Setting) -> list[Forecast]:
    """What a run would do, from the records' own seconds where there are any."""
    trials = {trial.case: trial for trial in read_records(folder, suite)}
    return [
        Forecast(
            contest,
            len(cases),
            sum(case in trials for case in cases),
            _seconds_each(contest, trials.values(), suite.seconds),
            obstacle(contest, setting.data),
        )
        for contest, cases in _contests(suite.cases(effort)).items()
    ]


def run_suite(
    suite: Suite,
    effort: Effort,
    folder: Path,
    setting: Setting,
    workers: int = 1,
    on_progress: OnProgress | None = None,
) -> list[Trial]:
    """Run what the suite's file does not hold yet; contests that cannot be run here are left out."""
    wanted = [case for case in suite.cases(effort) if not obstacle(Contest.of(case), setting.data)]
    by_loader: dict[LoadPlanner, list[Case]] = {}
    for case in wanted:
        by_loader.setdefault(_loader(case, setting), []).append(case)
    trials: list[Trial] = []
    for load, cases in by_loader.items():
        report = _shifted(on_progress, len(trials), len(wanted))
        trials += run_cases(cases, folder / suite.file, load, workers, report, suite.run)
    return trials


def read_records(folder: Path, suite: Suite) -> list[Trial]:
    """The trials of a suite, from its plain file and its compressed one; the plain one counts more."""
    plain = read_trials(folder / suite.file)
    packed = read_trials(folder / f"{suite.file}.gz")
    known = {trial.case for trial in plain}
    return [*(trial for trial in packed if trial.case not in known), *plain]


@cache
def obstacle(contest: Contest, data: Path) -> str:
    """Why a contest cannot be run here, "" when it can: weights or recordings that are not there."""
    weights = model_path(get_preset(contest.preset).weights, distance_file(contest.distance))
    if not weights.is_file():
        return f"no {weights.name} for {contest.preset}"
    recordings = data / f"{contest.preset}.npz"
    if contest.planner in PEERS and PEERS[contest.planner].needs_states and not recordings.is_file():
        return f"no {recordings}"
    return ""


def _contests(cases: Iterable[Case]) -> dict[Contest, list[Case]]:
    contests: dict[Contest, list[Case]] = {}
    for case in cases:
        contests.setdefault(Contest.of(case), []).append(case)
    return contests


def _loader(case: Case, setting: Setting) -> LoadPlanner:
    shipped = ShippedPlanner(
        device=setting.device,
        tracker=case.tracker or None,
        planner=case.planner,
        data=setting.data,
        distance=case.distance,
    )
    return ChangedPlanner(shipped, case.change) if case.change else shipped


def _seconds_each(contest: Contest, trials: Iterable[Trial], default: float) -> float:
    """Mean of the same contest's records, of all records where it has none, or the suite's own guess."""
    known = list(trials)
    same = [trial for trial in known if Contest.of(trial.case) == contest]
    return fmean(map(trial_seconds, same or known)) if known else default


def trial_seconds(trial: Trial) -> float:
    """Planning and walking, as recorded."""
    planning = trial.plan.seconds if trial.plan is not None else 0.0
    return planning + (trial.walk.seconds if trial.walk is not None else 0.0)


def _shifted(on_progress: OnProgress | None, num_before: int, total: int) -> OnProgress | None:
    if on_progress is None:
        return None
    return lambda done, _: on_progress(num_before + done, total)
