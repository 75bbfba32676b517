"""The paper's suites by name, in the order in which they are run and reported."""

from __future__ import annotations

from benchmarks.suites import (
    calibration,
    cost,
    figures,
    hamiltonian,
    injection,
    lengths,
    stitch,
    sweeps,
    teleport,
    theory,
)
from chronoforest.bench.suite import Suite

_MODULES = (stitch, hamiltonian, cost, lengths, teleport, calibration, theory, injection, sweeps, figures)

SUITES: dict[str, Suite] = {module.SUITE.name: module.SUITE for module in _MODULES}
