import numpy as np
import pytest

from benchmarks.experiments import calibration
from benchmarks.suite import Request
from benchmarks.trials import Trial
from chronoforest.presets.loading import load_planner
from chronoforest.types import Calibration

ALPHA = 0.002


@pytest.fixture(scope="module")
def pairs():
    """Steps whose true lengths are known: 0.2 units per step, and a far side that the distance underrates."""
    steps = np.linspace(1.0, 400.0, 2000)
    return steps, 0.2 * (steps + ALPHA * np.maximum(steps - 50.0, 0.0) ** 2)


def stored(alpha):
    return Calibration(alpha, 1.0, (1.0, 1.0), (1.0, 1.0), 50.0, ())


def test_scale_and_alphas_are_found(pairs):
    found = calibration.fit(*pairs, stored(ALPHA))
    assert found.scale == pytest.approx(0.2)
    assert 0 < found.alpha_best < found.alpha_95 < ALPHA
    assert found.covered == 1.0
    assert found.curve[0][1] < 0.2
    assert found.curve[-1] == [calibration.LARGEST_ALPHA, 1.0]


def test_ratios_and_slack_are_those_of_the_truth(pairs):
    found = calibration.fit(*pairs, stored(0.0))
    assert found.local_ratios == pytest.approx([1.0, 1.0])
    case = calibration.cases(Request())[0]
    row = calibration.calibration_fits([Trial(case, None, figures=found)])[0].rows[0]
    local, far = (row.entries[name].ours.value for name in calibration.MEDIANS)
    assert local == pytest.approx(1.0)
    assert 1.1 < far < found.all_ratios[1]
    assert found.all_ratios[1] > 1.3
    bins = {one.to: one for one in found.bins}
    assert bins[50.0].slack == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    assert bins[400.0].slack[0] > 10
    assert sum(one.count for one in found.bins) == 2000


def test_the_shipped_distance_is_measured():
    (case,) = (c for c in calibration.cases(Request()) if c.preset.startswith("point"))
    trial = calibration.run_calibration(case, load_planner(case.preset))
    assert len(trial.figures.pairs) == 3655
    assert trial.figures.alpha_used == trial.figures.stored.alpha
    assert Trial.from_json(trial.to_json(), calibration.SUITE.figures) == trial
