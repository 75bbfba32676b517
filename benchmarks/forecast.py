"""Before a run: what can be run here, what is kept already, and how long the rest may take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from chronoforest.bench.case import Case
from chronoforest.bench.run import read_records
from chronoforest.bench.suite import Suite
from chronoforest.bench.trials import Trial
from chronoforest.errors import UnknownPreset
from chronoforest.models.store import distance_file, model_path
from chronoforest.peers.choice import CHRONOFOREST, PlannerChoice
from chronoforest.peers.registry import find_peer


@dataclass(frozen=True)
class PlannerSetup:
    """What the trials of one line have in common."""

    choice: PlannerChoice
    variant: str
    change: str

    @classmethod
    def of(cls, case: Case) -> PlannerSetup:
        """The setup of a case."""
        return cls(case.choice.anywhere, case.variant, case.change)


@dataclass(frozen=True)
class Forecast:
    """The trials of a setup: wanted, kept already, seconds for each that is left; why they are left out."""

    setup: PlannerSetup
    num_wanted: int
    num_kept: int
    seconds_each: float
    obstacle: str = ""

    @property
    def seconds(self) -> float:
        """What is left to run, on one core."""
        return 0.0 if self.obstacle else (self.num_wanted - self.num_kept) * self.seconds_each


def forecast(suite: Suite, cases: Sequence[Case], folder: Path) -> list[Forecast]:
    """What a run of these cases would do, from the records' own seconds where there are any."""
    trials = {trial.case.key: trial for trial in read_records(folder, suite)}
    setups: dict[PlannerSetup, list[Case]] = {}
    for case in cases:
        setups.setdefault(PlannerSetup.of(case), []).append(case)
    return [
        Forecast(
            setup,
            len(own),
            sum(case.key in trials for case in own),
            _seconds_each(setup, trials.values(), suite.seconds),
            obstacle(own[0].choice),
        )
        for setup, own in setups.items()
    ]


def runnable(cases: Iterable[Case]) -> list[Case]:
    """The cases that nothing stands in the way of."""
    return [case for case in cases if not obstacle(case.choice)]


@cache
def obstacle(choice: PlannerChoice) -> str:
    """Why a planner cannot be run here, "" when it can: weights or recordings that are not there."""
    try:
        folder = choice.folder
    except UnknownPreset:
        return (
            f"no {choice.preset}.toml here; `chronoforest preset new {choice.preset} --data FILE` writes one"
        )
    weights = model_path(folder, distance_file(choice.distance))
    if not weights.is_file():
        return f"no {weights.name} for {choice.preset}"
    recordings = choice.data / f"{choice.preset}.npz"
    needs_states = choice.planner != CHRONOFOREST and find_peer(choice.planner).needs_states
    return f"no {recordings}" if needs_states and not recordings.is_file() else ""


def _seconds_each(setup: PlannerSetup, trials: Iterable[Trial], default: float) -> float:
    """Mean of the same setup's records, of all records where it has none, or the suite's own guess."""
    known = list(trials)
    same = [trial for trial in known if PlannerSetup.of(trial.case) == setup]
    return fmean(map(trial_seconds, same or known)) if known else default


def trial_seconds(trial: Trial) -> float:
    """Planning and walking, as recorded."""
    planning = trial.plan.seconds if trial.plan is not None else 0.0
    return planning + (trial.walk.seconds if trial.walk is not None else 0.0)
