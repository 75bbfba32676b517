"""All suites by name, in the order in which they are run and reported: the paper's and the protocol's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.experiments import (
    calibration,
    city,
    cost,
    figures,
    growth,
    hamiltonian,
    injection,
    parts,
    protocol,
    states,
    stitch,
    strait,
    sweeps,
    teleport,
    theory,
    thin,
    verification,
)
from benchmarks.suite import Contents, Suite
from chronoforest.errors import InvalidParameter

_SUITES = (
    stitch.SUITE,
    hamiltonian.SUITE,
    cost.SUITE,
    stitch.LENGTHS,
    teleport.SUITE,
    calibration.SUITE,
    theory.SUITE,
    injection.SUITE,
    sweeps.SUITE,
    figures.SUITE,
    parts.SUITE,
    thin.SUITE,
    thin.PARTS,
    strait.SUITE,
    states.SUITE,
    city.SUITE,
    verification.SUITE,
    growth.SUITE,
)

SUITES: dict[str, Suite] = {suite.name: suite for suite in _SUITES}

CONTENTS = (
    Contents(
        "Tables of the benchmark, from these records", protocol.PROTOCOL_SUITES, "python -m benchmarks SUITE"
    ),
    Contents("The paper's tables, from these records", SUITES, "python -m benchmarks run"),
)
"""What a report can be about."""


def contents_of(folder: Path) -> Contents:
    """The suites that more of the records in a folder belong to; the protocol's where as many do."""
    there = {path.name.removesuffix(".gz") for path in folder.glob("*.jsonl*")}
    return max(CONTENTS, key=lambda contents: len({suite.file for suite in contents.suites.values()} & there))


def chosen_suites(only: Sequence[str], suites: Mapping[str, Suite] = SUITES) -> list[Suite]:
    """All suites, or those named, in their own order."""
    for name in only:
        if name not in suites:
            raise InvalidParameter(f"unknown suite {name!r}; available: {', '.join(suites)}")
    return [suite for name, suite in suites.items() if not only or name in only]
