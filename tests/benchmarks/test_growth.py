from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.experiments import growth
from benchmarks.experiments.growth import Fit
from benchmarks.mazes import maze
from benchmarks.measuring import REST, PeakMemory
from benchmarks.suite import Request
from benchmarks.trials import Trial
from benchmarks.worlds.grown import JITTER, STEPS_PER_CELL, Corridors
from chronoforest.presets.loading import load_planner

CASES = growth.cases(Request(repeats=1))


@pytest.fixture(scope="module")
def planner():
    return load_planner(growth.PRESET)


def smallest(kind):
    return next(case for case in CASES if case.suite == kind)


@pytest.mark.parametrize("kind", ["stops", "agents", "batch", "recordings", "world"])
def test_the_smallest_of_every_kind_is_measured_part_by_part(kind, planner):
    case = replace(smallest(kind), num_waypoints=min(2, smallest(kind).num_waypoints))
    trial = growth.run_growth(case, planner)
    assert trial.figures.size > 0
    for part in trial.figures.parts.values():
        assert set(part) == {"seconds", "core_seconds", "megabytes"}
        assert part["seconds"] > 0
    assert Trial.from_json(trial.to_json(), growth.SUITE.figures) == trial


def test_a_plan_that_is_watched_tells_shares_that_add_up(planner):
    shares = growth.run_growth(smallest("watched"), planner).figures.shares
    assert set(shares) == {*growth.PARTS, REST}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert all(shares[part] > 0 for part in ("joining", "ways", "shortening", "denoising"))


def test_the_peak_of_memory_is_what_a_block_adds():
    with PeakMemory() as large:
        np.ones(8_000_000).sum()
    assert 50 < large.added < 120


def test_a_fit_finds_the_power_and_speaks_of_other_sizes():
    fit = Fit.to({size: 3.0 * size**1.5 for size in (2, 10, 60)})
    assert fit.exponent == pytest.approx(1.5)
    assert fit.at(1000) == pytest.approx(3.0 * 1000**1.5)
    assert Fit.to({5: 1.0}) is None
    assert Fit.to({5: 1.0, 10: 0.0}) is None


@pytest.mark.parametrize("corridors", [Corridors.grown(6, 3), Corridors.of_maze(maze("giant"))])
def test_recordings_walk_along_corridors_from_cell_to_cell(corridors):
    walks = corridors.recordings(30, 4, np.random.default_rng(0))
    assert walks.shape == (30, 4 * STEPS_PER_CELL + 1, 2)
    stops = walks[:, ::STEPS_PER_CELL]
    gap = np.abs(stops[:, :, None] - corridors.centres).max(axis=-1)
    assert (gap.min(axis=-1) <= JITTER).all()
    cells = gap.argmin(axis=-1)
    links = set(zip(corridors.source.tolist(), corridors.target.tolist(), strict=True))
    assert all((a, b) in links for walk in cells.tolist() for a, b in pairwise(walk))
