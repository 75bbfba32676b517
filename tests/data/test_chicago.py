"""Bus trips in Chicago, recordings that nobody here made, where they lie beside the repository."""

from pathlib import Path

import numpy as np
import pytest

from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.data.reach import survey

TRIPS = Path(__file__).parents[2].parent / "shared" / "data" / "chicago" / "trips.csv.gz"

pytestmark = pytest.mark.skipif(not TRIPS.is_file(), reason=f"no {TRIPS.name} beside the repository")


@pytest.fixture(scope="module")
def imported():
    return import_files([TRIPS], Columns(), ImportParams())


def test_trips_stay_whole_and_in_utm_metres(imported):
    episodes = imported.episodes
    assert (episodes.frame.kind, episodes.frame.step_seconds) == ("plain", 3.0)
    assert 100 <= episodes.num_steps <= 201
    assert len(np.unique(episodes.recording)) > 880
    low, high = (f(episodes.xy.reshape(-1, 2).astype(float), axis=0) for f in (np.min, np.max))
    np.testing.assert_allclose(episodes.frame.to_user(low), [442980.66, 4634649.97], atol=100)
    np.testing.assert_allclose(episodes.frame.to_user(high), [446904.05, 4637047.64], atol=100)


def test_nearly_all_places_can_reach_each_other(imported):
    reach = survey(imported.episodes, 47.0, is_reversible=False)
    assert reach.verdict == "good"
    assert 0.9 < reach.part_sizes[0] / len(reach.places) < 1.0
