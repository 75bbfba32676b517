"""Drives in a made-up town: streets every 100 m, both ways, a row a second."""

import numpy as np
import pandas as pd

from chronoforest.presets.learning import learn


def drives(num=60, blocks=8, seed=0):
    """A DataFrame of trips as people have them."""
    rng, rows, t = np.random.default_rng(seed), [], 0
    for trip in range(num):
        here = rng.integers(0, 6, 2)
        for _ in range(blocks):
            step = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])[rng.integers(4)]
            there = np.clip(here + step, 0, 5)
            for share in np.arange(10) / 10:
                rows.append((trip, t, *(100 * (here + share * (there - here)) + rng.normal(0, 1, 2))))
                t += 1
            here = there
    return pd.DataFrame(rows, columns=["trip", "time", "x", "y"])


def learned_town(folder, monkeypatch):
    """A planner of the town, learned in a folder that becomes the current one."""
    monkeypatch.chdir(folder)
    return learn(drives(), "town")
