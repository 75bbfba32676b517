"""What the paper's theory asks for, measured on the online plans of suite `hamiltonian`: coverage by depth,
slack, route margins, eq. 31, accepted legs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.case import Case
from benchmarks.experiments import hamiltonian
from benchmarks.experiments.hamiltonian import EffortFigures, InstanceFigures
from benchmarks.instances import find
from benchmarks.metrics import Estimate
from benchmarks.references import geodesic_matrix
from benchmarks.report.pictures import Chart, Series
from benchmarks.report.tables import Entry, Row, Sheet, by, ratio
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import Trial, figures_of
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates of some plans, [n] each.

    instance: a number per stored problem; depth: of the new node; gap: ĝ; upper: h(ĝ); truth: the true
    residual, infinite where an end lies in a wall; all three in steps.
    """

    instance: IntArray
    depth: IntArray
    gap: FloatArray
    upper: FloatArray
    truth: FloatArray

    def __len__(self) -> int:
        return len(self.gap)

    def where(self, keep: BoolArray) -> Pool:
        """The rows where `keep` [n] holds."""
        return Pool(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))


def pool(trials: Iterable[Trial]) -> Pool:
    """The recorded candidates of some plans together, with each plan's own α and units of a step."""
    numbers: dict[str, int] = {}
    parts = [np.zeros((5, 0))]
    for trial in trials:
        found = trial.figures.probes if isinstance(trial.figures, InstanceFigures) else None
        if found is not None and found.rows:
            number = numbers.setdefault(trial.case.instance, len(numbers))
            depth, gap, left = np.array(found.rows, dtype=np.float64).T
            upper = gap + found.alpha * gap**2
            parts.append(np.stack([np.full(len(gap), number), depth, gap, upper, left / found.scale]))
    instance, depth, gap, upper, truth = np.concatenate(parts, axis=1)
    return Pool(instance.astype(np.int64), depth.astype(np.int64), gap, upper, truth)


def cases(request: Request) -> list[Case]:
    """The online plans of suite `hamiltonian`."""
    return [case for case in hamiltonian.cases(request) if case.variant == "online"]


SOURCE = "appendix, proposed"

COLUMNS = (
    "route margin, steps",
    "bound of Theorem 1, steps",
    "premises hold, %",
    "eq. 31 holds, %",
    "accepted legs clear of walls, %",
)

QUANTILES = {"5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95}
ERRORS = {"median": 0.5, "90 %": 0.9, "95 %": 0.95}
SLACKS = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}
LAST_DEPTH = 6
GAPS = (0.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 1000.0)  # edges of the bins of ĝ, in steps


def certificate_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """Certificates, quantiles of margins, and candidates by depth and by gap; by distance and agents."""
    online = [trial for trial in trials if trial.case.variant == "online" and trial.figures]
    groups = by(online, lambda trial: f"M = {trial.case.num_agents}, distance {trial.case.choice.distance}")
    pools = {label: pool(some) for label, some in groups.items()}
    known = {label: found for label, found in pools.items() if len(found)}
    notes = (
        "Best under the geodesic with clearance 1.0; legs in either direction.",
        "The paper splits a round's pairs by a random draw; here one of four is for pairs off the route, in "
        "turn, and what either does not use the other takes.",
        "Intervals take searched pairs as independent, which those of one plan are not.",
    )
    title = "What online plans accepted and searched"
    quantities = Sheet.of("theory-quantities", title, SOURCE, groups, QUANTITIES, notes)
    certificates = [_certificate_sheet(groups), _margin_sheet(groups), quantities]
    return [*certificates, *(_probe_exhibits(known) if known else ())]


def _certificate_sheet(groups: Mapping[str, Sequence[Trial]]) -> Sheet:
    rows = tuple(Row(label, _entries(some)) for label, some in groups.items())
    notes = (
        "The margin is the second-best minus the best joint route on the estimated closure (eq. 26); the "
        "mean is over plans where it is finite, as is that of the bound.",
        "Premises: every possible link has a witness within τ (eq. 15) and the route minimises the estimate.",
        "A leg is accepted wrongly when its path crosses a wall of the map.",
    )
    return Sheet("theory", "Certificates of online plans", SOURCE, COLUMNS, rows, notes)


def _entries(trials: Sequence[Trial]) -> dict[str, Entry]:
    found = figures_of(trials, InstanceFigures)
    wrong, accepted = sum(one.num_false for one in found), sum(one.num_accepted for one in found)
    figures = (
        Entry.of_mean(_known(trials, "margin")),
        Entry.of_mean(_known(trials, "bound")),
        Entry.of_share(one.certificate.premises_hold for one in found),
        Entry.of_share(one.certificate.is_separated for one in found),
        Entry.of_share(k >= wrong for k in range(accepted)),
    )
    return dict(zip(COLUMNS, figures, strict=True))


def _known(trials: Sequence[Trial], name: str) -> list[float]:
    """A figure of the certificates, where it is finite."""
    return _finite(np.array([getattr(one.certificate, name) for one in figures_of(trials, InstanceFigures)]))


def right_legs(trial: Trial) -> list[bool]:
    """Of every adjacency of a plan, whether the best route on the map has it (E_acc ⊆ Adj(π*)); all of an
    order that ties with the best are right."""
    plan, case = trial.plan, trial.case
    if plan is None or not plan.is_complete:
        return []
    problem = find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    true = geodesic_matrix(case.maze, problem.anchors)
    best = AutoSolver()(true, problem, None).named(problem)
    wanted = {frozenset(leg) for order in best for leg in pairwise(order)}
    legs = [frozenset(leg) for order in plan.order for leg in pairwise(order)]
    return [plan.has_best_order() or leg in wanted for leg in legs]


def _paid(trials: Sequence[Trial]) -> list[EffortFigures]:
    return [one.effort for one in figures_of(trials, InstanceFigures) if one.effort is not None]


def _part(part: int, whole: int) -> Entry:
    return Entry.of_share(k < part for k in range(whole))


QUANTITIES: dict[str, Callable[[Sequence[Trial]], Entry]] = {
    "accepted legs of the best route, %": lambda some: Entry.of_share(
        is_right for trial in some for is_right in right_legs(trial)
    ),
    "plans with these alone, %": lambda some: Entry.of_share(
        all(legs) for trial in some if (legs := right_legs(trial))
    ),
    "pairs searched off the route, %": lambda some: _part(
        sum(one.num_off for one in _paid(some)), sum(one.num_on + one.num_off for one in _paid(some))
    ),
    "pairs searched at all, %": lambda some: _part(
        sum(one.num_searched for one in _paid(some)), sum(one.num_pairs for one in _paid(some))
    ),
    "Σ W of the legs, steps": lambda some: Entry.of_mean(one.width for one in _paid(some)),
}
"""Accepted-edge precision, and what eq. 36, 31c and 40 are about; the last three where records tell."""


def _margin_sheet(groups: Mapping[str, Sequence[Trial]]) -> Sheet:
    rows = []
    for label, some in groups.items():
        plans = {trial.case.instance: trial.plan for trial in some if trial.plan is not None}.values()
        true = [plan.runner_up - plan.geodesic for plan in plans if plan.runner_up is not None]
        rows += [
            Row(f"{label}: margin on the estimate, steps", _quantiles(_known(some, "margin"))),
            Row(f"{label}: bound of Theorem 1, steps", _quantiles(_known(some, "bound"))),
            Row(f"{label}: margin on the map, units", _quantiles(true)),
        ]
    notes = (
        "Over plans; the margin on the map over instances: second-best minus best joint route under the "
        "geodesic with clearance 1.0.",
    )
    title = "Route margins of online plans, quantiles"
    return Sheet("theory-margins", title, SOURCE, tuple(QUANTILES), tuple(rows), notes)


def _quantiles(values: Sequence[float], shares: Mapping[str, float] = QUANTILES) -> dict[str, Entry]:
    if len(values) == 0:
        return {}
    found = zip(shares, np.quantile(values, list(shares.values())), strict=True)
    return {name: Entry.of_value(float(value), len(values), digits=1) for name, value in found}


def _probe_exhibits(pools: Mapping[str, Pool]) -> Iterator[Exhibit]:
    notes = (
        "A candidate is a new node with the counterpart node that makes the cheapest bridge when its round "
        "ends. Its true residual is the way between the two states on the map, straight or the geodesic "
        "with clearance 1.0, in steps by the local scale; it is infinite where one of them lies in a wall.",
        "Shares have intervals over instances, because the candidates of a plan depend on each other; n is "
        "the number of instances. Quantiles are over all candidates with a finite residual.",
    )
    series = []
    for label, found in pools.items():
        depth, is_covered = np.minimum(found.depth, LAST_DEPTH), found.upper >= found.truth
        known = np.unique(depth)
        shares = (float(100.0 * np.mean(is_covered[depth == one])) for one in known)
        series.append(Series(label, tuple(known.tolist()), tuple(shares)))
    title = "Candidates of online plans"
    depths, gaps = ({label: cut(found) for label, found in pools.items()} for cut in (depths_of, gaps_of))
    yield _probe_sheet("theory-depth", f"{title} by depth of the node", depths, notes)
    yield _probe_sheet("theory-gaps", f"{title} by predicted residual ĝ", gaps, notes)
    yield Chart(
        "theory-coverage",
        "Candidates whose residual h covers",
        SOURCE,
        "depth of the node in its tree",
        "share, %",
        tuple(series),
    )


def depths_of(found: Pool) -> dict[str, Pool]:
    """Columns by depth; the last one but all holds all deeper nodes."""
    parts = {f"depth {depth}": found.where(found.depth == depth) for depth in range(LAST_DEPTH)}
    return {**parts, f"depth ≥ {LAST_DEPTH}": found.where(found.depth >= LAST_DEPTH), "all": found}


def gaps_of(found: Pool) -> dict[str, Pool]:
    """Columns by ĝ, each from where the one before ends; a gap of 0 belongs to the first."""
    edges = pairwise((-np.inf, *GAPS[1:]))
    parts = {f"ĝ ≤ {high:g}": found.where((found.gap > low) & (found.gap <= high)) for low, high in edges}
    return {**parts, "all": found}


def _probe_sheet(
    name: str, title: str, parts: Mapping[str, dict[str, Pool]], notes: tuple[str, ...]
) -> Sheet:
    rows = tuple(row for label, columns in parts.items() for row in _probe_rows(label, columns))
    return Sheet(name, title, SOURCE, tuple(next(iter(parts.values()))), rows, notes)


def _probe_rows(label: str, parts: Mapping[str, Pool]) -> Iterator[Row]:
    """The share that h covers, quantiles of |ĝ − g*| and of h − g*, and the number of candidates."""
    present = {column: part for column, part in parts.items() if len(part)}
    yield Row(f"{label}: h(ĝ) ≥ g*, %", {column: coverage(part) for column, part in present.items()})
    errors = {column: np.abs(part.gap - part.truth) for column, part in present.items()}
    slacks = {column: part.upper - part.truth for column, part in present.items()}
    for symbol, values, shares in (("|ĝ − g*|", errors, ERRORS), ("h(ĝ) − g*", slacks, SLACKS)):
        found = {column: _quantiles(_finite(some), shares) for column, some in values.items()}
        for quantile in shares:
            entries = {column: figures[quantile] for column, figures in found.items() if figures}
            yield Row(f"{label}: {symbol} in steps, {quantile}", entries)
    counts = {column: Entry.of_value(len(part), 0, digits=0) for column, part in present.items()}
    yield Row(f"{label}: candidates", counts)


def coverage(found: Pool) -> Entry:
    """Per cent of the candidates whose residual h covers, with the interval of their instances."""
    is_covered = np.bincount(found.instance, weights=found.upper >= found.truth)
    counts = np.bincount(found.instance)
    seen = counts > 0
    share = ratio(is_covered[seen].tolist(), counts[seen].tolist())
    inside = Estimate(share.value, max(0.0, share.low), min(1.0, share.high))
    return Entry(inside, int(seen.sum()), is_share=True)


def _finite(values: FloatArray) -> list[float]:
    return [float(value) for value in values[np.isfinite(values)]]


SUITE = Suite(
    "theory",
    "coverage by depth, margins, eq. 31 and accepted legs",
    cases,
    hamiltonian.run_instance,
    certificate_tables,
    records="hamiltonian",
    figures=(InstanceFigures,),
)
