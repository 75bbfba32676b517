"""What the paper's theory asks for, measured: route margins, eq. 31 and accepted legs.

The trials are the online plans of suite `hamiltonian`; coverage and slack, the two other measurements that
the paper proposes, are with suite `calibration`.
"""

from __future__ import annotations

from collections.abc import Sequence

from chronoforest.bench.paper import hamiltonian
from chronoforest.bench.paper.exhibits import Entry, Exhibit, Row, Sheet, by
from chronoforest.bench.paper.suite import Effort, Suite
from chronoforest.bench.suites import Case
from chronoforest.bench.trials import Trial

COLUMNS = (
    "route margin, steps",
    "bound of Theorem 1, steps",
    "premises hold, %",
    "eq. 31 holds, %",
    "accepted legs clear of walls, %",
)


def cases(effort: Effort) -> list[Case]:
    """The online plans of suite `hamiltonian`."""
    return [case for case in hamiltonian.cases(effort) if case.variant == "online"]


def exhibits(trials: Sequence[Trial]) -> list[Exhibit]:
    """A row per distance and number of agents."""
    online = [trial for trial in trials if trial.case.variant == "online" and trial.measures]
    groups = by(online, lambda trial: f"M = {trial.case.num_agents}, distance {trial.case.distance}")
    rows = tuple(Row(label, _entries(some)) for label, some in groups.items())
    notes = (
        "The margin is the second-best minus the best joint route on the estimated closure (eq. 26); the "
        "mean is over plans where it is finite, as is that of the bound.",
        "Premises: every possible link has a witness within τ (eq. 15) and the route minimises the estimate.",
        "A leg is accepted wrongly when its path crosses a wall of the map.",
    )
    return [Sheet("theory", "Certificates of online plans", "appendix, proposed", COLUMNS, rows, notes)]


def _entries(trials: Sequence[Trial]) -> dict[str, Entry]:
    claims = [trial.measures["certificate"] for trial in trials]
    accepted = sum(trial.measures["num_accepted"] for trial in trials)
    wrong = sum(trial.measures["num_false"] for trial in trials)
    figures = (
        Entry.of_mean(one["margin"] for one in claims if one["margin"] is not None),
        Entry.of_mean(one["bound"] for one in claims if one["bound"] is not None),
        Entry.of_share(one["premises_hold"] for one in claims),
        Entry.of_share(one["is_exact"] for one in claims),
        Entry.of_share([False] * wrong + [True] * (accepted - wrong)),
    )
    return dict(zip(COLUMNS, figures, strict=True))


SUITE = Suite(
    "theory",
    "route margins, eq. 31 and accepted legs",
    cases,
    exhibits,
    seconds=12.0,
    run=hamiltonian.run_instance,
    records="hamiltonian",
)
