"""What the paper's theory asks for, measured: coverage by depth, slack, route margins, eq. 31, accepted legs.

The trials are the online plans of suite `hamiltonian`; coverage and slack over all pairs of free cells are
with suite `calibration`.
"""

from __future__ import annotations

from benchmarks.suites import hamiltonian
from chronoforest.bench.case import Case
from chronoforest.bench.suite import Request, Suite


def cases(request: Request) -> list[Case]:
    """The online plans of suite `hamiltonian`."""
    return [case for case in hamiltonian.cases(request) if case.variant == "online"]


SUITE = Suite(
    "theory",
    "coverage by depth, margins, eq. 31 and accepted legs",
    cases,
    hamiltonian.run_instance,
    seconds=12.0,
    records="hamiltonian",
)
