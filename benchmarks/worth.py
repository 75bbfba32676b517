"""What a part is worth: plans with it and without it on the same problems, and what that says in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from benchmarks.report.sheets import ratio
from chronoforest.bench.case import Case
from chronoforest.bench.metrics import CAPS, Estimate, is_sound, is_within, median
from chronoforest.bench.trials import PlanFigures, Trial
from chronoforest.planning.variants import VARIANTS

NOTICED = 1.1
"""Times and counts that differ by less are called the same: they vary as much from run to run."""

FEWEST = 5
"""Problems on which it can be said that a part adds nothing."""

STRAYS = {"outside": "outside the support", "against": "against recorded motion"}
ASTRAY = 0.5
"""Per cent of the way: shares that differ by less are the same."""

CLOSER = 0.05
"""Units: plans that come nearer to a wall by less keep the same room."""

LONGER = 1.0005
"""Lengths that differ by less are the same to any body."""


def problem_of(trial: Trial) -> Case:
    """What the trials of all rows on one problem have in common."""
    return replace(trial.case.chosen(planner="").key, variant="")


@dataclass(frozen=True)
class Worth:
    """Trials with a part and without it, matched problem by problem."""

    pairs: tuple[tuple[Trial, Trial], ...]

    @classmethod
    def of(cls, whole: Sequence[Trial], part: Sequence[Trial]) -> Worth:
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
        some = [(value(one), value(other)) for one, other in self.solved]
        if not some or sum(one for one, _ in some) == 0:
            return None
        return ratio([other for _, other in some], [one for one, _ in some])

    @property
    def length(self) -> Estimate | None:
        """Of the plans, without the part over with it."""
        return self.ratios(lambda plan: plan.length)

    @property
    def seconds(self) -> Estimate | None:
        """Of the plans, without the part over with it."""
        return self.ratios(lambda plan: plan.seconds)

    @property
    def room(self) -> tuple[float, float]:
        """Median least distance to a wall of the plans that both rows found, with the part and without it."""
        solved = self.solved
        return median(one.clearance for one, _ in solved), median(other.clearance for _, other in solved)

    def share(self, name: str) -> tuple[float, float]:
        """The mean of a measured share over the plans that both rows found, with the part and without it."""
        both = [
            (one.measures, other.measures) for one, other in self.pairs if _is_good(one) and _is_good(other)
        ]
        known = [(one[name], other[name]) for one, other in both if name in one and name in other]
        return (fmean(one for one, _ in known), fmean(other for _, other in known)) if known else (0.0, 0.0)

    @property
    def expansions(self) -> Estimate | None:
        """Without the part over with it; leaves and pieces cannot be compared."""
        kinds = {VARIANTS[trial.case.variant].uses_roadmap for pair in self.pairs for trial in pair}
        return self.ratios(lambda plan: float(plan.num_expanded)) if len(kinds) == 1 else None


def has_best_order(trial: Trial) -> bool:
    """Whether stops are visited in an order as good as the best, on the map; without either none is."""
    plan = trial.plan
    is_judged = plan is not None and is_sound(plan) and plan.geodesic > 0 and trial.case.num_waypoints > 0
    return is_judged and plan is not None and plan.has_best_order()


def gains(worth: Worth) -> list[str]:
    """What is better with the part, in words; nothing when it adds nothing."""
    return [*_counted(worth), *_longer(worth), *_astray(worth), *_nearer(worth), *_slower(worth)]


def costs(worth: Worth) -> list[str]:
    """What is better without the part, in words."""
    found = [f"{text} with it" for text in _lost(worth)]
    length, seconds = worth.length, worth.seconds
    if length is not None and length.high < 1.0 / LONGER:
        found.append(f"ways are {100 * (1 - length.value):.1f} % shorter without it")
    with_it, without = worth.room
    if without > with_it + CLOSER:
        found.append(f"plans keep {without:.2f} units from walls without it, {with_it:.2f} with it")
    if seconds is not None and seconds.value <= 1.0 / NOTICED and seconds.high < 1.0:
        found.append(f"without it plans take {seconds.value:.2f} of the time")
    return found


def verdict(lacks: str, worth: Worth) -> str:
    """One sentence about a part on some problems."""
    good, bad, count = gains(worth), costs(worth), len(worth.pairs)
    nothing = f"adds nothing on these {count} problems" if worth.is_idle else f"{count} are too few to tell"
    return f"{lacks}: {'; '.join(good) or nothing}{'; but ' if bad else ''}{'; '.join(bad)}."


_JUDGED: dict[str, Callable[[Trial], bool]] = {
    "complete": lambda trial: _is_good(trial),
    "in the best order": has_best_order,
    "arrived": lambda trial: is_within(trial, CAPS[0]),
}


def _counted(worth: Worth) -> list[str]:
    """Counts that fall without the part."""
    both = {name: worth.counts(is_good) for name, is_good in _JUDGED.items()}
    total = len(worth.pairs)
    return [f"{a} of {total} {name}, {b} without it" for name, (a, b) in both.items() if b < a]


def _lost(worth: Worth) -> list[str]:
    """Counts that rise without the part."""
    both = {name: worth.counts(is_good) for name, is_good in _JUDGED.items()}
    total = len(worth.pairs)
    return [f"{b} of {total} {name} without it, {a}" for name, (a, b) in both.items() if b > a]


def _longer(worth: Worth) -> Iterator[str]:
    length = worth.length
    if length is not None and length.low > LONGER:
        percent = [100 * (value - 1) for value in (length.value, length.low, length.high)]
        yield "ways are {:.1f} % longer without it [{:.1f}, {:.1f}]".format(*percent)


def _astray(worth: Worth) -> Iterator[str]:
    for name, where in STRAYS.items():
        with_it, without = (100 * share for share in worth.share(name))
        if without > with_it + ASTRAY:
            yield f"{without:.1f} % of the way lie {where} without it, {with_it:.1f} with it"


def _nearer(worth: Worth) -> Iterator[str]:
    with_it, without = worth.room
    if without < with_it - CLOSER:
        yield f"plans keep {without:.2f} units from walls without it, {with_it:.2f} with it"


def _slower(worth: Worth) -> Iterator[str]:
    """More expansions, and more time."""
    expansions, seconds = worth.expansions, worth.seconds
    if expansions is not None and expansions.value >= NOTICED and expansions.low > 1.0:
        yield f"it takes {expansions.value:.1f} times the expansions without it"
    if seconds is not None and seconds.value >= NOTICED and seconds.low > 1.0:
        yield f"plans take {seconds.value:.1f} times as long without it"


def _is_good(trial: Trial) -> bool:
    return trial.plan is not None and is_sound(trial.plan)
