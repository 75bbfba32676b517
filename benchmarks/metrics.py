"""Figures over many trials, each with the interval that the number of trials allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.trials import PlanFigures, Trial

CAPS = (1000, 2000)
"""Steps: the official cap, which is the headline, and the longer one of diffusion planners' papers."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A share or a mean with the ends of its 95 % interval; NaN without trials."""

    value: float
    low: float
    high: float


def wilson(num_successes: int, num_trials: int) -> Estimate:
    """A share with Wilson's score interval, which stays within 0…1 and is honest at both ends."""
    if num_trials == 0:
        return Estimate(np.nan, np.nan, np.nan)
    ends = stats.binomtest(num_successes, num_trials).proportion_ci(CONFIDENCE, method="wilson")
    return Estimate(num_successes / num_trials, float(ends.low), float(ends.high))


def mean(values: Iterable[float]) -> Estimate:
    """A mean with Student's interval; a single value has an infinite one."""
    data = np.array(list(values), dtype=np.float64)
    if len(data) == 0:
        return Estimate(np.nan, np.nan, np.nan)
    centre = float(data.mean())
    if len(data) == 1:
        return Estimate(centre, -np.inf, np.inf)
    error = data.std(ddof=1) / np.sqrt(len(data))
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, len(data) - 1) * error)
    return Estimate(centre, centre - half, centre + half)


def rate(num_events: int, exposure: float) -> Estimate:
    """Events per unit of exposure with the exact interval of a Poisson count."""
    if exposure == 0:
        return Estimate(np.nan, np.nan, np.nan)
    tail = 0.5 - CONFIDENCE / 2
    low = stats.chi2.ppf(tail, 2 * num_events) / 2 if num_events else 0.0
    high = stats.chi2.isf(tail, 2 * num_events + 2) / 2
    return Estimate(num_events / exposure, float(low) / exposure, float(high) / exposure)


def median(values: Iterable[float]) -> float:
    """The middle value, NaN without any."""
    data = list(values)
    return float(np.median(data)) if data else float("nan")


def share(trials: Sequence[Trial], is_good: Callable[[Trial], bool]) -> Estimate:
    """How many of the trials are good."""
    return wilson(sum(map(is_good, trials)), len(trials))


def is_within(trial: Trial, cap: int) -> bool:
    """Whether the walk reached the goal in so many steps, as the environment reports it."""
    return trial.walk is not None and trial.walk.success_within(cap)


def success(trials: Sequence[Trial], cap: int = CAPS[0]) -> Estimate:
    """Walks that reached the goal within the cap."""
    return share(trials, lambda trial: is_within(trial, cap))


def pace(trials: Sequence[Trial]) -> Estimate:
    """Units along the fixed path for each step, over the walks of suite `track`."""
    walks = [trial.walk for trial in trials if trial.walk is not None and trial.walk.units is not None]
    return mean(walk.units / walk.steps for walk in walks if walk.units is not None and walk.steps)


def falls(trials: Sequence[Trial]) -> Estimate:
    """Times that a body turned over in 1000 steps."""
    walks = [trial.walk for trial in trials if trial.walk is not None]
    return rate(sum(walk.num_falls for walk in walks), sum(walk.steps for walk in walks) / 1000)


def replanned(trials: Sequence[Trial]) -> Estimate:
    """Walks that planned anew on the way, successful or not."""
    return share(trials, lambda trial: trial.walk is not None and trial.walk.num_replans > 0)


def steps_per_unit(trials: Sequence[Trial]) -> Estimate:
    """Steps for each unit of the plan, over the walks that arrived; a plan that led nowhere has none."""
    arrived = [(t.walk, t.plan) for t in trials if t.walk and t.plan and t.walk.cause == "none"]
    return mean(walk.steps / plan.length for walk, plan in arrived if plan.length > 0)


def completeness(trials: Sequence[Trial]) -> Estimate:
    """Plans with every leg met and no wall crossed."""
    return share(trials, lambda trial: trial.plan is not None and is_sound(trial.plan))


def best_order(trials: Sequence[Trial], slack: float = 0.0) -> Estimate:
    """Sound plans whose order is at most that share longer than the best one under the geodesic."""
    return share(trials, lambda t: t.plan is not None and is_sound(t.plan) and t.plan.has_best_order(slack))


def is_sound(plan: PlanFigures) -> bool:
    """Complete and clear of walls."""
    return plan.is_complete and not plan.crosses_wall


def num_wall_crossings(trials: Sequence[Trial]) -> int:
    """Plans that call themselves complete and lead through a wall."""
    return sum(plan.crosses_wall for plan in complete_plans(trials))


def complete_plans(trials: Sequence[Trial]) -> list[PlanFigures]:
    """The plans that lengths are compared on."""
    return [trial.plan for trial in trials if trial.plan is not None and trial.plan.is_complete]


def failures(trials: Sequence[Trial], cap: int = CAPS[0]) -> Counter[str]:
    """Failed walks by cause; a success after the cap is out of steps, a refused problem has no plan."""
    causes = []
    for trial in trials:
        if trial.walk is not None:
            is_late = trial.walk.cause == "none" and trial.walk.steps > cap
            causes.append("out of steps" if is_late else trial.walk.cause)
        elif trial.plan is None or not trial.plan.is_complete:
            causes.append("no plan")
    return Counter(cause for cause in causes if cause != "none")
