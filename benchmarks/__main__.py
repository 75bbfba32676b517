"""`python -m benchmarks`: run suites, write their tables and figures, make what they need."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.commands import PROGRAM
from chronoforest.cli import Verb, run_verbs

VERBS = {
    "stitch": Verb("benchmarks.commands:stitch", "success on the official tasks"),
    "pairs": Verb("benchmarks.commands:pairs", "plans between random places"),
    "multi": Verb("benchmarks.commands:multi", "plans for several agents and waypoints"),
    "order": Verb("benchmarks.commands:order", "the order of waypoints that are easily misjudged"),
    "track": Verb("benchmarks.commands:track", "trackers on fixed paths of the map"),
    "generate": Verb("benchmarks.commands:generate", "record a dataset by OGBench's protocol"),
    "run": Verb("benchmarks.commands:run", "the trials behind the paper's tables and figures"),
    "thin": Verb("benchmarks.experiments.thin:thin", "models from few recordings, for suite `thin`"),
    "states": Verb("benchmarks.states:states", "planners without training, in a city"),
    "car": Verb("benchmarks.experiments.car:car", "a car in a yard, where motion must be made for the body"),
    "record": Verb("benchmarks.commands:record", "recordings of the directed worlds"),
    "expert": Verb("benchmarks.commands:expert", "train what walks the ant"),
    "figures": Verb("benchmarks.pages:figures", "the numbers on the pages, from saved records"),
    "report": Verb("benchmarks.commands:report", "those tables and figures, from saved records"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, with the exit codes of `chronoforest`."""
    return run_verbs(PROGRAM, VERBS, argv)


if __name__ == "__main__":
    sys.exit(main())
