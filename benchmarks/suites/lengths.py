"""Table 4: plan lengths against the shortest way over cells, per task; the trials are those of `stitch`."""

from __future__ import annotations

from benchmarks.suites import stitch
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import walk_official
from chronoforest.bench.suite import Request, Suite

OURS = stitch.CONTENDERS[0]


def cases(request: Request) -> list[Case]:
    """Our own walks of suite `stitch`."""
    return [case for split in stitch.SPLITS for case in stitch.walks(stitch.preset(split), OURS, request)]


SUITE = Suite(
    "lengths",
    "plan length against BFS and the geodesic",
    cases,
    walk_official,
    seconds=20.0,
    records="stitch",
)
