"""Roadmaps that are kept with weights: read back as they were made, and not where they do not belong."""

from itertools import pairwise

import numpy as np
import pytest

from chronoforest.errors import BadCheckpoint
from chronoforest.models import checkpoint
from chronoforest.presets.loading import load_planner
from chronoforest.presets.roadmaps import STATES, keep_roadmap, kept_roadmap
from chronoforest.roadmap.roadmap import build_roadmap
from chronoforest.roadmap.states import Track
from chronoforest.types import Problem

MEDIUM, LARGE = "pointmaze-medium-stitch-v0", "pointmaze-large-stitch-v0"


@pytest.fixture(scope="module")
def planner():
    return load_planner(MEDIUM)


def test_all_variants_share_the_roadmap(planner):
    assert planner.prepared("verified").roadmap is planner.prepared("online").roadmap


def test_other_parameters_make_a_new_roadmap():
    planner = load_planner(MEDIUM)
    before = planner.prepared("verified").roadmap
    planner.params = load_planner(LARGE).params
    assert planner.prepared("verified").roadmap is not before
    first, last = before.position[[0, -1]]
    assert planner.plan(Problem([first], [last])).complete


def round_trips():
    """Recordings round a square block, one way, in steps of a second."""
    corners = np.array([[0, 0], [90, 0], [90, 60], [0, 60], [0, 0], [90, 0]], dtype=float)
    share = np.linspace(0, 1, 31)[:-1, None]
    parts = [start + share * (end - start) for start, end in pairwise(corners)]
    way = np.concatenate(parts)
    rng = np.random.default_rng(0)
    return [Track(way + rng.normal(0, 0.5, way.shape), np.arange(float(len(way))), k) for k in range(12)]


def test_a_roadmap_is_read_back_as_it_was_made(tmp_path):
    made = build_roadmap(round_trips())
    keep_roadmap(tmp_path, made, "block", "0123")
    read = kept_roadmap(tmp_path, "block")
    assert read.space == made.space
    assert read.pace == made.pace
    for name in ("position", "heading", "recorded"):
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name))
    for one, other in zip(vars(read.hops).values(), vars(made.hops).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert read.times.of(np.arange(3)) == made.times.of(np.arange(3))
    assert kept_roadmap(tmp_path / "nowhere", "block") is None


DAMAGES = {
    "no headings": lambda tensors, about: tensors.pop("heading"),
    "fewer counts": lambda tensors, about: tensors.update(count=tensors["count"][:-1]),
    "a hop to nowhere": lambda tensors, about: tensors.update(target=tensors["target"] + 10_000),
    "a hop from before": lambda tensors, about: tensors.update(source=tensors["source"] - 10_000),
    "hops between fractions": lambda tensors, about: tensors.update(source=tensors["source"].double()),
    "costs below 0": lambda tensors, about: tensors.update(cost=-tensors["cost"]),
    "steps not finite": lambda tensors, about: tensors.update(steps=tensors["steps"] * np.nan),
    "no places": lambda tensors, about: tensors.update(
        position=tensors["position"][:0], heading=tensors["heading"][:0]
    ),
    "other preset": lambda tensors, about: about.update(preset="other"),
    "no space": lambda tensors, about: about.update(space={}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_roadmap_is_refused(tmp_path, damage):
    """Also where its hash was made after the damage."""
    path = keep_roadmap(tmp_path, build_roadmap(round_trips()), "block", "0123")
    tensors, about = checkpoint.read(path, STATES)
    DAMAGES[damage](tensors, about)
    checkpoint.write(path, tensors, about)
    with pytest.raises(BadCheckpoint, match=r"states\.safetensors"):
        kept_roadmap(tmp_path, "block")
