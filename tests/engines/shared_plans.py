"""Suites for engines, which other processes import: a planner that cheats, and a node to be lost."""

import os
import time
from pathlib import Path

from fake_planner import FakePlanner

from benchmarks.experiments.protocol import plan_random


def load_fake(choice):
    return FakePlanner(choice.preset)


def plan_or_be_lost(case, planner):
    """Plans; on the node `second` it never gets to it, and until somebody is busy there all others wait."""
    cache = Path(os.environ["XDG_CACHE_HOME"])
    mark = cache.parent / "second-is-busy"
    if cache.name == "second":
        mark.touch()
        time.sleep(120)
    while not mark.exists():
        time.sleep(0.05)
    return plan_random(case, planner)
