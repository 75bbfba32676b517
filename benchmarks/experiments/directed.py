"""What the trials in worlds with one-way lanes share: how they are planned, measured and shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from benchmarks.ablations import named
from benchmarks.case import Case
from benchmarks.report.tables import Entry, Row, Sheet
from benchmarks.suite import CONTENDERS, Contender
from benchmarks.trials import Trial
from chronoforest.planning.result import PlanResult
from chronoforest.presets.loading import PresetPlanner
from chronoforest.types import Problem


@dataclass(frozen=True, kw_only=True)
class WayFigures:
    """A plan against recorded ways.

    shortest: units of the shortest recorded way; num_recorded: legs, None in records that do not tell;
    first_work, work: processor seconds to the first plan and in all, which on a machine that others use too
    say more of one thread than the clock does.
    """

    is_complete: bool
    length: float
    shortest: float
    first_seconds: float
    seconds: float
    first_work: float
    work: float
    num_verified: int
    num_legs: int
    num_recorded: int | None = None


Figures = TypeVar("Figures", bound=WayFigures)
Columns = Mapping[str, Callable[[Sequence[Figures]], Entry]]  # of complete plans, by name


def timed_plan(case: Case, planner: PresetPlanner, problem: Problem) -> tuple[PlanResult, dict[str, Any]]:
    """The plan of a case, and the figures that need no world."""
    started, spent = time.process_time(), []
    result = planner.plan(
        problem,
        seed=case.seeds[1],
        variant=named(case.variant),
        on_round=lambda *_: spent.append(time.process_time() - started),
    )
    work = time.process_time() - started
    legs = [leg for route in result.routes for leg in route.legs]
    return result, {
        "is_complete": result.complete,
        "length": result.length,
        "first_seconds": result.rounds[0].seconds if result.rounds else result.seconds,
        "seconds": result.seconds,
        "first_work": spent[0] if spent else work,
        "work": work,
        "num_verified": sum(leg.evidence == "verified" for leg in legs),
        "num_legs": len(legs),
        "num_recorded": sum(leg.evidence == "recorded" for leg in legs),
    }


def ways_sheet(
    name: str,
    title: str,
    trials: Sequence[Trial],
    kind: type[Figures],
    columns: Columns[Figures],
    notes: tuple[str, ...],
    contenders: Sequence[Contender] = CONTENDERS,
) -> Sheet:
    """A row for every contender: the share of complete plans, columns over these, and seconds."""
    rows = []
    everything: Columns[Figures] = {**columns, **_EVIDENCE, **_SECONDS}
    for contender in contenders:
        own = [trial for trial in trials if contender.is_of(trial)]
        known = [trial.figures for trial in own if isinstance(trial.figures, kind)]
        complete = [found for found in known if found.is_complete]
        share = Entry.of_share(k < len(complete) for k in range(len(own)))
        entries = {label: column(complete) for label, column in everything.items()}
        rows.append(Row(contender.label, {"complete, %": share, **entries}))
    return Sheet(name, title, "", ("complete, %", *everything), tuple(rows), notes)


def total(found: Sequence[WayFigures], name: str) -> Entry:
    """The sum of a count over complete plans."""
    if not found:
        return Entry(None)
    return Entry.of_value(float(sum(getattr(one, name) for one in found)), len(found), digits=0)


def over(found: Sequence[WayFigures], name: str) -> Entry:
    """Length over a shortest way, where there is one; older records do not have all of them."""
    both = ((one.length, getattr(one, name)) for one in found)
    return Entry.of_mean((own / way for own, way in both if way is not None and np.isfinite(way)), digits=3)


def mean_of(found: Sequence[WayFigures], name: str) -> Entry:
    """The mean of a figure."""
    return Entry.of_mean((getattr(one, name) for one in found), digits=2)


def share_of_legs(counts: Sequence[tuple[int | None, int]]) -> Entry:
    """The share of legs that are counted of so many in each plan; None in records that do not tell."""
    return Entry.of_share(k < count for count, total in counts if count is not None for k in range(total))


_EVIDENCE: Columns[Any] = {
    "legs verified, %": lambda found: share_of_legs([(one.num_verified, one.num_legs) for one in found]),
    "legs recorded, %": lambda found: share_of_legs([(one.num_recorded, one.num_legs) for one in found]),
}

_SECONDS: Columns[Any] = {
    "first plan, processor s": lambda found: mean_of(found, "first_work"),
    "final plan, processor s": lambda found: mean_of(found, "work"),
    "first plan, s": lambda found: mean_of(found, "first_seconds"),
    "final plan, s": lambda found: mean_of(found, "seconds"),
}
