"""What all plans of a variant share."""

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity

from chronoforest.planning.preparation import prepare
from chronoforest.planning.variants import VARIANTS, PlannerParams


@pytest.mark.parametrize(("gap", "num_times"), [(0.0, 1), (0.1, 1), (0.5, 2)])
def test_ways_are_shortened_twice_where_recordings_lie_farther_apart_than_ways_keep_room(gap, num_times):
    seen = []

    def shortened(paths, density, distance, params):
        seen.append(paths)
        return [path[::2] for path in paths]

    models = FakeModels(density=SquareDensity(BLOCK), gap=gap)
    prepared = prepare(models, PlannerParams(shortened=shortened), VARIANTS["verified"])
    (way,) = prepared.shortened([np.zeros((9, 2))])
    assert len(seen) == num_times
    assert len(way) == {1: 5, 2: 3}[num_times]
