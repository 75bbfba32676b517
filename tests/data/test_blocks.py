"""Blocks that steps touch, however many are looked at at once."""

import numpy as np
import pytest

from chronoforest.data.blocks import visited


def steps(num_steps=200, seed=3):
    rng = np.random.default_rng(seed)
    start = rng.uniform(-50, 50, (num_steps, 2))
    return start, start + rng.normal(0, 8, (num_steps, 2)), rng.integers(0, 9, num_steps)


def test_a_step_touches_the_blocks_on_its_way_and_leads_from_each_to_the_next():
    found = visited(np.array([[0.5, 0.5]]), np.array([[3.5, 0.5]]), np.array([7]), 1.0)
    assert found.cells.tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]]
    assert {(a, b) for a, b in found.links.T.tolist() if a != b} == {(0, 1), (1, 2), (2, 3)}
    assert found.passes.tolist() == [[0, 1, 2, 3], [7, 7, 7, 7]]


@pytest.mark.parametrize("size", [1, 100, 1000])
def test_parts_of_the_steps_give_what_all_of_them_give(size, monkeypatch):
    whole = visited(*steps(), 5.0)
    monkeypatch.setattr("chronoforest.data.blocks.MOST_POINTS", size)
    parts = visited(*steps(), 5.0)
    for name in ("blocks", "cells", "counts", "passes", "links"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_allclose(parts.sums, whole.sums)


def test_sums_and_counts_are_of_the_points_in_a_block():
    found = visited(*steps(), 5.0)
    middle = found.sums / found.counts[:, None]
    assert (np.floor(middle / 5.0).astype(int) - np.floor(middle / 5.0).astype(int).min(axis=0) >= 0).all()
    assert len(np.unique(np.floor(middle / 5.0), axis=0)) == len(found.blocks)
