from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.memory import PeakMemory
from benchmarks.report.growth import WORST, Fit, growth_tables
from benchmarks.stopwatch import REST
from benchmarks.suites import growth
from benchmarks.worlds.grown import JITTER, STEPS_PER_CELL, Corridors, GrownModels, Straight, fitted
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Origin, Trial
from chronoforest.envs.mazes import maze
from chronoforest.presets.loading import load_planner

CASES = growth.cases(Request(repeats=1))


@pytest.fixture(scope="module")
def planner():
    return load_planner(growth.PRESET)


def smallest(kind):
    return next(case for case in CASES if case.suite == kind)


def test_every_size_is_run_on_one_core_and_plans_also_on_two():
    counts = Counter((case.suite, case.change) for case in growth.cases(Request(repeats=3)))
    assert counts["stops", "cores=1"] == counts["stops", "cores=2"] == 3 * len(growth.STOPS)
    assert counts["agents", "cores=2"] == 3 * len(growth.AGENTS)
    assert counts["batch", "cores=1"] == len(growth.BATCHES)
    assert counts["recordings", "cores=2"] == counts["world", "cores=2"] == 0
    assert len({case.key for case in CASES}) == len(CASES)


@pytest.mark.parametrize("kind", ["stops", "agents", "batch", "recordings", "world"])
def test_the_smallest_of_every_kind_is_measured_part_by_part(kind, planner):
    case = replace(smallest(kind), num_waypoints=min(2, smallest(kind).num_waypoints))
    trial = growth.run_growth(case, planner)
    assert trial.measures["size"] > 0
    for part in trial.measures["parts"].values():
        assert set(part) == {"seconds", "core_seconds", "megabytes"}
        assert part["seconds"] > 0
    assert Trial.from_json(trial.to_json()) == trial


def test_a_plan_that_is_watched_tells_shares_that_add_up(planner):
    shares = growth.run_growth(smallest("watched"), planner).measures["shares"]
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


def made(case, size, seconds, **more):
    parts = {"planning": {"seconds": seconds, "core_seconds": seconds, "megabytes": 10.0 * size}}
    return Trial(case, None, measures={"size": size, "parts": parts, **more}, origin=Origin(device="cpu"))


def test_tables_have_every_size_and_the_exponents_of_every_series():
    about = {"solver_share": 0.1, "order_ratio": 1.01, "is_complete": True}
    stops = [case for case in CASES if case.suite == "stops"]
    trials = [made(case, case.num_waypoints, 0.1 * case.num_waypoints, **about) for case in stops]
    worlds = [case for case in CASES if case.suite == "world"]
    trials += [made(case, int(case.instance) ** 2, 0.001 * int(case.instance) ** 2) for case in worlds]
    exhibits = {exhibit.name: exhibit for exhibit in growth_tables(trials)}
    rows = {row.label: row.entries for row in exhibits["growth-stops"].rows}
    assert rows["planning, 2 cores, 200 waypoints"]["s"].ours.value == pytest.approx(20.0)
    assert rows["planning, 1 core, 5 waypoints"]["solver, %"].ours.value == pytest.approx(10.0)
    assert rows["planning, 1 core, 5 waypoints"][WORST].ours.value == pytest.approx(1.01)
    exponents = {row.label: row.entries for row in exhibits["growth-exponents"].rows}
    assert exponents["stops: planning, 1 core"]["s"].ours.value == pytest.approx(1.0)
    larger = exhibits["growth-larger"].rows[0].entries
    assert larger["s of a core"].ours.value == pytest.approx(86.0)
    assert len(exhibits["growth-stops-chart"].series) == 2
    assert exhibits["growth-stops-chart"].figure().axes[0].get_xscale() == "log"


def test_rows_say_that_a_gpu_was_used():
    case = smallest("stops")
    about = {"solver_share": 0.1, "order_ratio": 1.0, "is_complete": True}
    trial = replace(made(case, 1, 1.0, **about), origin=Origin(device="cuda:0"))
    (row,) = growth_tables([trial])[0].rows
    assert row.label == "planning, 1 core and a GPU, 1 waypoints"


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


def test_a_grown_world_is_one_and_the_same_seed_grows_it_again():
    world, again = Corridors.grown(9, 1), Corridors.grown(9, 1)
    np.testing.assert_array_equal(world.source, again.source)
    reached, open_cells = {0}, [0]
    while open_cells:
        here = open_cells.pop()
        news = set(world.target[world.source == here].tolist()) - reached
        reached |= news
        open_cells += news
    assert len(reached) == len(world) == 81


def test_time_in_a_grown_world_is_that_of_a_straight_line():
    distance = Straight(0.5)
    places = distance.encode(np.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(distance.pairwise(places, places), [[0.0, 10.0], [10.0, 0.0]])
    world = Corridors.grown(4, 0)
    models = GrownModels(fitted(world.recordings(300, 5, np.random.default_rng(0))), None)
    assert models.density.margin(world.centres).min() > 0
    assert models.distance.step_length == models.density.step_length
    assert models.support.mask.any()
