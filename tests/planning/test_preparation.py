"""What the plans of a variant share."""

from dataclasses import replace

import numpy as np
import pytest
from fakes import BLOCK, SPEED, DriftingDistance, FakeModels, SquareDensity, WindDistance, make_planner

from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import VARIANTS, PlannerParams, Variant, prepare


def test_a_variants_models_are_prepared_once_and_again_when_models_or_parameters_change():
    planner = make_planner()
    first = planner.prepared("online")
    assert planner.prepared("online") is first
    assert planner.prepared(Variant(sums_hops=False)) is not first
    planner.params = replace(planner.params, anchor_tolerance=0.1)
    assert planner.prepared("online") is not first
    planner.models = FakeModels(distance=WindDistance())
    assert planner.prepared("online").learned is planner.models.distance


def test_what_ways_come_out_at_is_told_for_the_distance_that_trees_use():
    """In an open square ways are straight; a distance that drifts looks longer than they are."""
    planner = Planner(FakeModels(distance=DriftingDistance(drift=2.0)), PlannerParams())
    assert planner.prepared("online").stretch == pytest.approx(1.0, abs=0.08)
    assert planner.prepared(Variant(sums_hops=False)).stretch == pytest.approx(0.5, abs=0.08)


def test_the_longest_hop_is_what_is_covered_between_two_frames():
    planner = make_planner()
    assert planner.prepared("online").models.largest_hop == SPEED * planner.models.sampler.stride


@pytest.mark.parametrize(("gap", "num_times"), [(0.0, 1), (0.1, 1), (0.5, 2)])
def test_ways_are_shortened_twice_where_recordings_lie_farther_apart_than_ways_keep_room(
    monkeypatch, gap, num_times
):
    seen = []

    def shortened(paths, density, distance, params):
        seen.append(paths)
        return [path[::2] for path in paths]

    monkeypatch.setattr("chronoforest.planning.variants.shorten_all", shortened)
    models = FakeModels(density=SquareDensity(BLOCK), gap=gap)
    prepared = prepare(models, PlannerParams(), VARIANTS["verified"])
    (way,) = prepared.shortened([np.zeros((9, 2))])
    assert len(seen) == num_times
    assert len(way) == {1: 5, 2: 3}[num_times]
