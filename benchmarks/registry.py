"""The paper's suites by name, in the order in which they are run and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.suites import (
    calibration,
    city,
    cost,
    figures,
    growth,
    hamiltonian,
    injection,
    lengths,
    parts,
    stitch,
    strait,
    sweeps,
    teleport,
    theory,
    thin,
    thin_parts,
    verification,
    yardsticks,
)
from chronoforest.bench.suite import Suite
from chronoforest.errors import InvalidParameter

_MODULES = (
    stitch,
    hamiltonian,
    cost,
    lengths,
    teleport,
    calibration,
    theory,
    injection,
    sweeps,
    figures,
    parts,
    thin,
    thin_parts,
    strait,
    city,
    verification,
    growth,
    yardsticks,
)

SUITES: dict[str, Suite] = {module.SUITE.name: module.SUITE for module in _MODULES}


def chosen_suites(only: Sequence[str], suites: Mapping[str, Suite] = SUITES) -> list[Suite]:
    """All suites, or those named, in their own order."""
    for name in only:
        if name not in suites:
            raise InvalidParameter(f"unknown suite {name!r}; available: {', '.join(suites)}")
    return [suite for name, suite in suites.items() if not only or name in only]
