"""Ablations: plans with a part and without it on the same problems, and what that says in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from benchmarks.ablations import named
from benchmarks.case import Case
from benchmarks.metrics import CAPS, Estimate, is_sound, is_within, median
from benchmarks.report.tables import ratio
from benchmarks.trials import PlanFigures, Trial, figures_of

NOTICED = 1.1  # times and counts that differ by less are called the same: they vary as much from run to run
FEWEST = 5  # problems on which it can be said that a part adds nothing


@dataclass(frozen=True)
class Strays:
    """Shares of a plan's way that lie outside the support, and that run against recorded motion."""

    outside: float
    against: float


STRAYS = {"outside": "outside the support", "against": "against recorded motion"}
ASTRAY = 0.5  # per cent of the way: shares that differ by less are the same
CLOSER = 0.05  # units: plans that come nearer to a wall by less keep the same room
LONGER = 1.0005  # lengths that differ by less are the same to any body


def problem_of(trial: Trial) -> Case:
    """What the trials of all rows on one problem have in common."""
    return replace(trial.case.chosen(planner="").key, variant="")


@dataclass(frozen=True)
class Ablation:
    """Trials with a part and without it, matched problem by problem."""

    pairs: tuple[tuple[Trial, Trial], ...]

    @classmethod
    def of(cls, whole: Sequence[Trial], part: Sequence[Trial]) -> Ablation:
        """The problems that both rows have a trial of."""
        known = {problem_of(trial): trial for trial in whole}
        both = ((known.get(problem_of(trial)), trial) for trial in part)
        return cls(tuple((one, other) for one, other in both if one is not None))

    @property
    def is_idle(self) -> bool:
        """Whether the part adds nothing, on enough problems to say so."""
        return len(self.pairs) >= FEWEST and not gains(self)

    def counts(self, is_good: Callable[[Trial], bool]) -> tuple[int, int]:
        """How many trials are good, with the part and without it."""
        return sum(is_good(one) for one, _ in self.pairs), sum(is_good(other) for _, other in self.pairs)

    @property
    def solved(self) -> list[tuple[PlanFigures, PlanFigures]]:
        """The plans of problems that both rows solved."""
        plans = [(one.plan, other.plan) for one, other in self.pairs if _is_good(one) and _is_good(other)]
        return [(one, other) for one, other in plans if one is not None and other is not None]

    def ratios(self, value: Callable[[PlanFigures], float]) -> Estimate | None:
        """Without the part over with it, of the plans that both rows found."""
        whole, lacking = (list(map(value, row)) for row in _columns(self.solved))
        return ratio(lacking, whole) if sum(whole) else None

    @property
    def length(self) -> Estimate | None:
        """Of the plans, without the part over with it."""
        return self.ratios(lambda plan: plan.length)

    def share(self, name: str) -> tuple[float, float]:
        """The mean of a measured share over the plans that both rows found, with the part and without it."""
        both = [(one, other) for one, other in self.pairs if _is_good(one) and _is_good(other)]
        rows = [[getattr(one, name) for one in figures_of(row, Strays)] for row in _columns(both)]
        return (fmean(rows[0]), fmean(rows[1])) if all(rows) else (0.0, 0.0)

    @property
    def expansions(self) -> Estimate | None:
        """Without the part over with it; leaves and pieces cannot be compared."""
        kinds = {named(trial.case.variant).uses_roadmap for pair in self.pairs for trial in pair}
        return self.ratios(lambda plan: float(plan.num_expanded)) if len(kinds) == 1 else None


def has_best_order(trial: Trial) -> bool:
    """Whether stops are visited in an order as good as the best, on the map; without either none is."""
    plan = trial.plan
    is_judged = plan is not None and is_sound(plan) and plan.geodesic > 0 and trial.case.num_waypoints > 0
    return is_judged and plan is not None and plan.has_best_order()


def verdict(lacks: str, ablation: Ablation) -> str:
    """One sentence about a part on some problems."""
    good, bad, count = gains(ablation), gains(ablation, -1), len(ablation.pairs)
    nothing = "adds nothing" if ablation.is_idle else "too few to tell"
    cost = f"; worse with it: {', '.join(bad)}" if bad else ""
    return f"{lacks}, {count} problems: {', '.join(good) or nothing}{cost}."


_JUDGED: dict[str, Callable[[Trial], bool]] = {
    "more complete": lambda trial: _is_good(trial),
    "more in the best order": has_best_order,
    "more arrived": lambda trial: is_within(trial, CAPS[0]),
}
"""What is counted, by what more of it is called."""


def gains(ablation: Ablation, sign: int = 1) -> list[str]:
    """What is better with the part (1) or without it (-1)."""
    counts = {name: ablation.counts(is_good) for name, is_good in _JUDGED.items()}
    found = [f"{name}, {a} against {b}" for name, (a, b) in counts.items() if sign * (a - b) > 0]
    ratios = {
        "shorter ways": (ablation.length, LONGER),
        "fewer expansions": (ablation.expansions, NOTICED),
        "less time": (ablation.ratios(lambda plan: plan.seconds), NOTICED),
    }
    for name, (value, least) in ratios.items():
        if value is None:
            continue
        is_more, is_less = value.value >= least and value.low > 1, value.value <= 1 / least and value.high < 1
        if is_more if sign > 0 else is_less:
            found.append(f"{name}, {value.value:.3g} times as much without it")
    room_with, room_without = (median(p.clearance for p in row) for row in _columns(ablation.solved))
    if sign * (room_with - room_without) > CLOSER:
        found.append(f"more room to walls, {room_with:.2f} against {room_without:.2f}")
    for name, where in STRAYS.items():
        with_it, without = (100 * share for share in ablation.share(name))
        if sign * (without - with_it) > ASTRAY:
            found.append(f"less of the way {where}, {with_it:.1f} % against {without:.1f} %")
    return found


def _columns(pairs: Sequence[tuple[Any, Any]]) -> tuple[Sequence[Any], Sequence[Any]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


def _is_good(trial: Trial) -> bool:
    return trial.plan is not None and is_sound(trial.plan)
