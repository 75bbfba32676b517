from dataclasses import replace

import numpy as np
import pytest
from fake_planner import FakePlanner

from benchmarks import thin as learning
from benchmarks.__main__ import _placed
from benchmarks.report.thin import COLUMNS, thin_table
from benchmarks.suites import thin
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial
from chronoforest.data.episodes import Episodes, flat_arrays, load, write_arrays
from chronoforest.errors import BadDataset
from chronoforest.presets.named import get_preset
from chronoforest.types import JointRoute, RoundStats

CASES = thin.cases(Request(episodes=2))


def test_every_planner_sees_the_same_problems_on_every_count():
    problems = {(case.change, case.choice.planner, case.variant): set() for case in CASES}
    for case in CASES:
        problems[case.change, case.choice.planner, case.variant].add(case.seeds)
    assert len(problems) == 20
    assert len({frozenset(some) for some in problems.values()}) == 1


def test_trials_of_different_counts_are_different_trials():
    assert len({case.key for case in CASES}) == len(CASES)


def test_recordings_lie_beside_the_weights_wherever_the_others_are(tmp_path):
    placed = _placed(CASES[0], "cpu", tmp_path)
    assert placed.choice.data == placed.choice.weights == learning.folder_of(40)


def test_what_is_learned_is_what_the_preset_learns_but_shorter():
    wanted, own = get_preset(learning.PRESET).models, learning._params()
    assert own.distance_training.num_steps == 40_000
    assert own.denoiser_training.num_steps == 12_000
    assert replace(
        own, distance_training=wanted.distance_training, denoiser_training=wanted.denoiser_training
    ) == replace(wanted, world=own.world)


def recordings(path, count):
    rows = np.arange(count * 3 * 2, dtype=np.float32).reshape(count, 3, 2)
    write_arrays(path / f"{learning.PRESET}.npz", flat_arrays(Episodes(rows, np.zeros_like(rows))))
    return rows


def test_the_first_recordings_are_kept(tmp_path):
    rows = recordings(tmp_path, 5)
    folder = learning.keep_first(3, tmp_path, tmp_path / "out")
    np.testing.assert_array_equal(load(folder / f"{learning.PRESET}.npz").xy, rows[:3])


def test_more_recordings_than_there_are_cannot_be_kept(tmp_path):
    recordings(tmp_path, 5)
    with pytest.raises(BadDataset, match="has 5 recordings, asked for the first 40"):
        learning.keep_first(40, tmp_path, tmp_path / "out")


def test_the_first_plan_is_there_with_the_first_round_that_has_every_leg():
    route = JointRoute(((0, 1),))
    rounds = tuple(
        RoundStats(k, route, 1.0, (), route.legs if k > 1 else (), 0, 0, float(k)) for k in range(4)
    )
    assert thin._first(rounds) == 2.0
    assert thin._first(rounds[:2]) is None


def test_the_table_tells_causes_apart():
    """Of two problems of a planner one is refused, and the other is complete or not connected."""
    planner = FakePlanner(learning.PRESET)
    trials = []
    for case in CASES:
        if case.change != thin.recorded(40):
            continue
        if case.episode == 0:
            trials.append(Trial(case, plan=None, refusal="outside"))
            continue
        trial = replace(thin.plan_thin(replace(case, variant="online"), planner), case=case)
        if case.variant == "roadmap-only":
            trial = replace(trial, plan=replace(trial.plan, is_complete=False))
        trials.append(trial)
    (sheet,) = thin_table(trials)
    rows = {row.label: row.entries for row in sheet.rows}
    counts = {
        label: tuple(int(rows[f"40: {label}"][column].ours.value) for column in COLUMNS[:3])
        for label in ("verified", "roadmap-only")
    }
    assert counts == {"verified": (1, 1, 0), "roadmap-only": (0, 1, 1)}
    assert rows["100: verified"]["complete"].num_trials == 0
    assert rows["40: verified"]["÷ geodesic, where all are complete"].ours is None
    assert "40: dataset-graph" in sheet.to_markdown()
