from dataclasses import replace

import numpy as np
import pytest
from fakes import SPEED, FakeModels, make_planner

from benchmarks.ablations import named
from benchmarks.experiments import hamiltonian as probes
from benchmarks.experiments.hamiltonian import Growth
from benchmarks.mazes import maze
from benchmarks.references import geodesic_matrix
from chronoforest.types import Pair, Problem

GIANT = maze("giant")
PROBLEM = Problem([[1.0, 1.0]], [[19.0, 19.0]], [[1.0, 19.0]])


@pytest.fixture(scope="module")
def growth():
    """Of trees that use the straight clock as it is, not sums of the roadmap's hops."""
    watched = Growth()
    make_planner().plan(PROBLEM, memory=watched, on_round=watched.on_round, variant=named("learned-distance"))
    return watched


def test_a_search_is_watched_from_its_roots_to_its_end(growth):
    assert growth.sizes[0] == [1, 1, 1]
    assert growth.sizes[-1] == [tree.num_nodes for tree in growth.forest.trees]
    assert (np.diff(growth.sizes, axis=0) >= 0).all()


def test_every_node_is_scored_once_against_every_other_tree(growth):
    measured = probes.measure_probes(growth, FakeModels(), GIANT)
    assert len(measured.rows) == 2 * sum(growth.sizes[-1])
    assert [depth for depth, *_ in measured.rows].count(0) == 6
    assert measured.alpha == FakeModels().calibration.alpha


def test_a_straight_clock_is_exact_where_no_wall_is_in_between(growth):
    rows = probes.measure_probes(growth, FakeModels(), GIANT).rows
    ratios = [left / gap for _, gap, left in rows if np.isfinite(left) and gap > 30.0]
    assert min(ratios) == pytest.approx(SPEED, rel=0.05)


def test_pairs_off_the_route_and_pairs_never_searched_are_counted():
    result = make_planner().plan(PROBLEM, variant="online")
    first = result.rounds[0]
    legs, off = first.route.legs, Pair(0, 2) if Pair(0, 2) not in first.route.legs else Pair(0, 1)
    back = Pair(legs[0].target, legs[0].source)
    planted = replace(result, rounds=(replace(first, pairs=(back, off)), replace(first, pairs=(off,))))
    found = probes.EffortFigures.of(planted)
    assert (found.num_on, found.num_off, found.num_searched, found.num_pairs) == (1, 2, 2, 3)
    assert found.width == pytest.approx(sum(leg.width for route in result.routes for leg in route.legs))


def test_residuals_are_straight_around_walls_or_unknown():
    source = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    target = np.array([[0.3, 1.9], [8.0, 0.0], [4.0, 0.0]])
    beside, around, inside = probes.residuals(GIANT, source, target)
    assert beside == pytest.approx(np.hypot(0.3, 1.9))
    assert around == pytest.approx(geodesic_matrix(GIANT, [source[1], target[1]])[0, 1])
    assert around > 8.0
    assert np.isinf(inside)
