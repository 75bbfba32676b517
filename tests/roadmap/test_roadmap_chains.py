import numpy as np
from road_cases import gate_road, ring_road, square_road
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import floyd_warshall

from chronoforest.roadmap.chains import Chains


def chains_and_all(road):
    """The chains of a roadmap, and the same found all at once."""
    hops, count = road.hops, len(road.places)
    table = floyd_warshall(csr_matrix((hops.steps, (hops.source, hops.target)), shape=(count, count)))
    return Chains(hops, count), table


def test_rows_are_right_whenever_they_are_asked_for():
    chains, table = chains_and_all(square_road()[0])
    rng = np.random.default_rng(0)
    for _ in range(3):
        some = rng.integers(0, len(table), (4, 5))
        np.testing.assert_allclose(chains.leaving(some)[some], table[some], rtol=1e-5)


def test_a_row_is_found_once(monkeypatch):
    chains, _ = chains_and_all(square_road()[0])
    rows = np.arange(7)
    first = chains.leaving(rows)[rows].copy()
    monkeypatch.setattr("chronoforest.roadmap.chains.dijkstra", None)
    np.testing.assert_array_equal(chains.leaving(rows[::-1])[rows], first)


def test_close_places_are_joined_by_a_short_chain_in_one_direction_at_least():
    chains, table = chains_and_all(ring_road()[0])
    for steps in (20.0, 200.0):
        np.testing.assert_array_equal(chains.close(steps), np.minimum(table, table.T) <= steps)


def test_no_chain_is_longer_than_the_longest():
    for road in (square_road()[0], gate_road(width=0)[0], ring_road()[0]):
        chains, table = chains_and_all(road)
        longest = table[np.isfinite(table)].max()
        assert longest <= 1.001 * chains.longest <= 2.1 * longest


def test_without_places_there_are_no_chains():
    none = np.zeros(0, dtype=np.int64)
    chains = Chains(type(square_road()[0].hops)(none, none, np.zeros(0)), 0)
    assert chains.longest == 0.0
    assert chains.leaving(none).shape == (0, 0)
