"""Roadmaps that are kept with weights: read back as they were made, and not where they do not belong."""

from dataclasses import replace

import numpy as np
import pytest

from chronoforest.errors import BadCheckpoint
from chronoforest.models import checkpoint
from chronoforest.planning.preparation import ground_of
from chronoforest.presets import roadmaps
from chronoforest.presets.loading import load_planner
from chronoforest.presets.named import PRESETS
from chronoforest.presets.roadmaps import KIND, keep_roadmap, kept_roadmap, origin
from chronoforest.roadmap.ways import build_roadmap
from chronoforest.types import Problem

MEDIUM, LARGE = "pointmaze-medium-stitch-v0", "pointmaze-large-stitch-v0"


@pytest.fixture(scope="module")
def planner():
    return load_planner(MEDIUM)


def arrays(roadmap):
    places, hops = roadmap.places, roadmap.hops
    return places.position, places.spacing, hops.source, hops.target, hops.steps, hops.is_driven


def assert_same(one, other):
    for first, second in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(first, second)
    assert (one.usual, one.has_lanes) == (other.usual, other.has_lanes)


def test_a_kept_roadmap_is_read_back_as_it_was_made(planner, tmp_path):
    made = build_roadmap(planner.models.support, ground_of(planner.models, planner.params))
    keep_roadmap(tmp_path, planner.models, planner.params, made)
    assert_same(made, kept_roadmap(tmp_path, planner.models, planner.params))


def test_the_roadmap_of_other_models_is_not_used(planner, tmp_path):
    other = load_planner(LARGE)
    keep_roadmap(tmp_path, planner.models, planner.params, planner.prepared("verified").roadmap)
    assert kept_roadmap(tmp_path, other.models, other.params) is None
    assert kept_roadmap(tmp_path / "nowhere", planner.models, planner.params) is None


def test_only_roadmaps_of_lanes_are_made_anew_when_lonely_hops_get_another_price(planner, monkeypatch):
    table = np.zeros((16, *planner.models.density.support.shape), dtype=bool)
    lanes = replace(planner.models, density=replace(planner.models.density, headings=table))
    before = [origin(models, planner.params) for models in (planner.models, lanes)]
    monkeypatch.setattr(roadmaps, "LONELY", 0.7)
    after = [origin(models, planner.params) for models in (planner.models, lanes)]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False]


def test_a_roadmap_without_its_hops_is_refused(planner, tmp_path):
    path = keep_roadmap(tmp_path, planner.models, planner.params, planner.prepared("verified").roadmap)
    tensors, about = checkpoint.read(path, KIND)
    checkpoint.write(path, {name: t for name, t in tensors.items() if name != "steps"}, about)
    with pytest.raises(BadCheckpoint, match="a roadmap"):
        kept_roadmap(tmp_path, planner.models, planner.params)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_ships_with_its_roadmap(name):
    planner = load_planner(name)
    assert kept_roadmap(planner.preset.weights, planner.models, planner.params) is not None


def test_the_roadmap_that_ships_is_what_would_be_made_now(planner):
    """Otherwise roadmaps are made differently since, and `RECIPE` was not raised."""
    kept = kept_roadmap(planner.preset.weights, planner.models, planner.params)
    assert_same(kept, build_roadmap(planner.models.support, ground_of(planner.models, planner.params)))


def test_all_variants_share_the_roadmap(planner):
    assert planner.prepared("verified").roadmap is planner.prepared("online").roadmap


def test_other_parameters_make_a_new_roadmap():
    planner = load_planner(MEDIUM)
    before = planner.prepared("verified").roadmap
    planner.params = load_planner(LARGE).params
    assert planner.prepared("verified").roadmap is not before
    first, last = before.places.position[[0, -1]]
    assert planner.plan(Problem([first], [last])).complete
