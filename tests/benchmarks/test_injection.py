import numpy as np
import pytest

from benchmarks.experiments import injection
from benchmarks.mazes import maze
from benchmarks.suite import Request
from benchmarks.trials import Trial
from chronoforest.presets.loading import load_planner

CASES = injection.cases(Request(episodes=1))


def test_a_straight_segment_has_no_boundary_error():
    straight = np.stack([np.linspace(0, 8, 9), np.zeros(9)], axis=1)[None]
    found = injection.measure_segments(straight[:, :, ::-1], np.array([0.0, 16.0]), maze("giant"))
    assert found.boundary == 0.0
    assert found.hop == pytest.approx(1.0)
    assert found.walls == 0.0
    assert found.gain == pytest.approx(8.0)


def test_walls_and_torn_boundaries_are_seen():
    torn = np.array([[[0.0, 0.0], [0.0, 3.0], [0.0, 4.0], [0.0, 5.0], [4.0, 4.0]]])
    found = injection.measure_segments(torn, np.array([0.0, 16.0]), maze("giant"))
    assert found.boundary == pytest.approx(1.0)
    assert found.walls == pytest.approx(0.25)
    assert found.gain == 0.0


def test_segments_of_the_shipped_sampler_are_measured(monkeypatch):
    monkeypatch.setattr(injection, "NUM_SEGMENTS", 2)
    planner = load_planner(injection.PRESET, mode="fast")
    trials = [injection.run_injection(case, planner) for case in CASES[:3]]
    assert {trial.case.variant for trial in trials} == set(injection.INJECTIONS.values())
    assert Trial.from_json(trials[0].to_json(), injection.SUITE.figures) == trials[0]
    assert all(trial.figures.hop > 0 for trial in trials)
