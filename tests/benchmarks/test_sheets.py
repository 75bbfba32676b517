import numpy as np
import pytest

from benchmarks.report.sheets import Entry, ratio


def test_no_values_give_no_figure_but_keep_the_published_one():
    for entry in (Entry.of_mean([], "1.2"), Entry.of_share([], "1.2"), Entry.of_ratio([], [], "1.2")):
        assert entry.ours is None
        assert (entry.num_trials, entry.published) == (0, "1.2")


def test_a_share_and_a_mean_count_their_trials():
    share = Entry.of_share([True, False, True, True])
    assert (share.ours.value, share.num_trials, share.is_share) == (0.75, 4, True)
    assert Entry.of_mean([1.0, 3.0]).ours.value == 2.0


def test_matching_makes_the_interval_of_a_ratio_narrow():
    """Lengths differ much from problem to problem, but their ratio hardly does."""
    rng = np.random.default_rng(0)
    below = rng.uniform(50, 300, 40)
    above = below * rng.normal(1.02, 0.005, 40)
    found = ratio(list(above), list(below))
    assert found.value == pytest.approx(above.mean() / below.mean())
    assert found.low < 1.02 < found.high
    assert found.high - found.low < 0.01
