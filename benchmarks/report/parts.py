"""What each part is worth: a table per set of problems, and plainly where a part adds nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.report.sheets import Entry, Row, Sheet, by
from benchmarks.suites.parts import PARTS, Part
from benchmarks.worth import STRAYS, Worth, has_best_order, problem_of, verdict
from chronoforest.bench.case import Case
from chronoforest.bench.metrics import CAPS, is_sound, is_within, median
from chronoforest.bench.trials import PlanFigures, Trial
from chronoforest.report.contents import Exhibit

COMPLETE, LENGTH, FIRST, FINAL = "complete, %", "÷ reference", "first plan s", "final plan s"
NODES, EXPANSIONS, ROOM = "nodes", "expansions", "clearance"
ORDER, ARRIVED = "best order, %", "arrived, %"

MOST_STRAYS = 0.02
"""Share of a way outside the support or against recorded motion; a plan that strays more is no reference."""

NOTES = (
    "Sound plans only, but for the shares: complete and through no wall. Seconds are medians.",
    "The reference is the shortest way at any angle with clearance 1.0, in the best order; where there is no "
    "map, the shortest plan of any row that keeps to what was recorded.",
    "Nodes are those of the trees, or pieces realised; expansions are leaves promoted, or pieces asked. "
    "Clearance is the median of the least distance to a wall.",
    "A part adds something if plans without it are less often complete, in the best order or walked to the "
    "end, longer, nearer to walls, farther outside the support or against recorded motion, or take more "
    "expansions or time; lengths, expansions and times by more than chance explains.",
)


@dataclass(frozen=True)
class _Set:
    """The trials of one set of problems by row, and the reference length of each problem."""

    title: str
    rows: Mapping[str, Sequence[Trial]]
    references: Mapping[Case, float]

    @classmethod
    def of(cls, title: str, trials: Sequence[Trial]) -> _Set:
        """Rows in the order of PARTS; those without a trial are left out."""
        rows = {part.label: [trial for trial in trials if part.is_of(trial)] for part in PARTS}
        return cls(title, {label: own for label, own in rows.items() if own}, _references(trials))

    def worth(self, part: Part) -> Worth:
        """Of what a row lacks."""
        return Worth.of(self.rows.get(part.whole, ()), self.rows.get(part.label, ()))


def part_tables(trials: Sequence[Trial], name: str = "parts") -> list[Exhibit]:
    """In short first, then a table per set of problems; name: of the first, with numbers of the others."""
    sets = [_Set.of(title, some) for title, some in by(trials, lambda trial: _title(trial.case)).items()]
    tables = [_table(f"{name}-{number}", one) for number, one in enumerate(sets, start=1)]
    return [_summary(name, sets), *tables] if sets else []


def _title(case: Case) -> str:
    """What a set of problems is called."""
    names = {
        "pairs": "random pairs",
        "order": "misjudged orders",
        "hamiltonian": f"stored instances with the distance {case.choice.distance}, M = {case.num_agents}",
        "stitch": "official tasks, walked",
    }
    several = f"random problems, M = {case.num_agents}, K = {case.num_waypoints}"
    learned = f", {case.change}" if case.change else ""
    return f"{case.preset}: {names.get(case.suite, several)}{learned}"


def _summary(name: str, sets: Sequence[_Set]) -> Sheet:
    """How much longer ways get without each part, and where a part adds nothing at all."""
    lacking = [part for part in PARTS if part.lacks]
    rows = [Row(part.lacks, {one.title: _length_entry(one.worth(part)) for one in sets}) for part in lacking]
    notes = [_idle(part, sets) for part in lacking]
    return Sheet(
        name,
        "Length without a part ÷ length with it",
        "",
        tuple(one.title for one in sets),
        tuple(rows),
        ("Plans that both rows found, problem by problem.", *filter(None, notes)),
    )


def _length_entry(worth: Worth) -> Entry:
    return Entry(worth.length, len(worth.pairs), digits=3)


def _idle(part: Part, sets: Sequence[_Set]) -> str:
    """The sets on which a part adds nothing, "" where it always adds something or was not run."""
    known = {one.title: one.worth(part) for one in sets}
    run = {title: worth for title, worth in known.items() if worth.pairs}
    idle = [title for title, worth in run.items() if worth.is_idle]
    if not idle:
        return ""
    where = "anywhere" if len(idle) == len(run) else f"on {'; '.join(idle)}"
    count = sum(len(run[title].pairs) for title in idle)
    return f"Adds nothing {where}, {count} problems: {part.lacks} ({part.whole})."


def _table(name: str, one: _Set) -> Sheet:
    rows = tuple(Row(label, _entries(own, one.references)) for label, own in one.rows.items())
    columns = tuple(dict.fromkeys(column for row in rows for column in row.entries))
    lacking = [part for part in PARTS if part.lacks and part.label in one.rows]
    told = [verdict(part.lacks, one.worth(part)) for part in lacking]
    return Sheet(name, one.title, "", columns, rows, (*NOTES, *told))


def _entries(trials: Sequence[Trial], references: Mapping[Case, float]) -> dict[str, Entry]:
    sound = [(trial, trial.plan) for trial in trials if trial.plan is not None and is_sound(trial.plan)]
    plans = [plan for _, plan in sound]
    entries = {
        COMPLETE: Entry.of_share(trial.plan is not None and is_sound(trial.plan) for trial in trials),
        LENGTH: Entry.of_mean((p.length / references[problem_of(t)] for t, p in sound), digits=3),
        FIRST: _median_entry(plans, lambda plan: plan.first_seconds),
        FINAL: _median_entry(plans, lambda plan: plan.seconds),
        NODES: _mean_entry(plans, lambda plan: plan.num_nodes),
        EXPANSIONS: _mean_entry(plans, lambda plan: plan.num_expanded),
    }
    if any(plan.geodesic > 0 for plan in plans):
        entries[ROOM] = _median_entry(plans, lambda plan: plan.clearance)
    if any(trial.case.num_waypoints for trial in trials) and any(plan.geodesic > 0 for plan in plans):
        entries[ORDER] = Entry.of_share(map(has_best_order, trials))
    for name, where in STRAYS.items():
        known = [100 * trial.measures[name] for trial, _ in sound if name in trial.measures]
        if known:
            entries[f"{where}, %"] = Entry.of_mean(known)
    if any(trial.walk is not None for trial in trials):
        entries[ARRIVED] = Entry.of_share(is_within(trial, CAPS[0]) for trial in trials)
    return entries


def _median_entry(plans: Sequence[PlanFigures], value: Callable[[PlanFigures], float | None]) -> Entry:
    known = [found for found in map(value, plans) if found is not None]
    return Entry.of_value(median(known), len(known), digits=2) if known else Entry(None)


def _mean_entry(plans: Sequence[PlanFigures], value: Callable[[PlanFigures], float | None]) -> Entry:
    return Entry.of_mean(found for found in map(value, plans) if found is not None)


def _references(trials: Sequence[Trial]) -> dict[Case, float]:
    """The length that every plan of a problem is compared with."""
    plans: dict[Case, list[tuple[PlanFigures, float]]] = {}
    for trial in trials:
        if trial.plan is not None and is_sound(trial.plan):
            strays = sum(trial.measures.get(name, 0.0) for name in STRAYS)
            plans.setdefault(problem_of(trial), []).append((trial.plan, strays))
    return {problem: _reference(found) for problem, found in plans.items()}


def _reference(plans: Sequence[tuple[PlanFigures, float]]) -> float:
    """Of one problem, from its plans and the shares of their ways that stray."""
    geodesic = plans[0][0].geodesic
    if geodesic > 0:
        return geodesic
    kept = [plan.length for plan, strays in plans if strays <= MOST_STRAYS]
    return min(kept or [plan.length for plan, _ in plans])
