from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from fake_planner import StraightDistance
from protocol_runs import make_cases

from benchmarks.case import Case
from benchmarks.experiments.protocol import PROTOCOL_SUITES
from benchmarks.mazes import cell_of, maze
from benchmarks.problems import mismatched_triples, open_cells, random_problem
from benchmarks.references import geodesic_matrix
from benchmarks.suite import Request
from chronoforest.envs.maps import cell_centre
from chronoforest.errors import InvalidParameter
from chronoforest.peers.choice import PlannerChoice

GIANT = "pointmaze-giant-stitch-v0"


def case(suite, **values):
    return Case(suite, PlannerChoice(GIANT), **values)


def test_order_spreads_its_triples_over_the_tasks():
    cases = make_cases(case("order"), 7)
    assert [(c.task, c.episode) for c in cases] == [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (1, 1), (2, 1)]
    assert all(c.num_waypoints == 3 for c in cases)


def test_seeds_differ_between_cases_but_not_between_variants():
    cases = make_cases(case("stitch"), 10)
    assert len({c.seeds for c in cases}) == len(cases)
    assert case("stitch", variant="single").seeds == case("stitch").seeds
    assert (
        case("track", reference="centres", look_ahead=3.0).chosen(tracker="bc").seeds == case("stitch").seeds
    )
    assert case("stitch", seed=1).seeds != case("stitch").seeds


@pytest.mark.parametrize(("num_agents", "num_waypoints"), [(1, 0), (2, 5)])
def test_random_anchors_lie_in_free_cells_of_their_own(num_agents, num_waypoints):
    for episode in range(20):
        problem = random_problem(
            case("multi", episode=episode, num_agents=num_agents, num_waypoints=num_waypoints)
        )
        assert (problem.num_agents, problem.num_waypoints) == (num_agents, num_waypoints)
        assert maze("giant").is_free(problem.anchors).all()
        assert len(np.unique(cell_of(problem.anchors), axis=0)) == problem.num_anchors
        assert maze("giant").wall_clearance(problem.anchors).min() >= 1.0


def test_open_cells_leave_out_portals_and_the_sealed_trap():
    assert len(open_cells(maze("giant"))) == len(maze("giant").free_cells)
    cells = {tuple(cell) for cell in open_cells(maze("teleport"))}
    assert not cells & {(4, 6), (5, 1), (1, 7)}


def test_mismatched_triples_are_those_that_raw_distance_misorders_less_the_nearest_ties():
    """Brute force over a dozen places."""
    giant = maze("giant")
    start, goal = cell_centre(np.array(giant.tasks[0]))
    places = cell_centre(giant.free_cells[5:85:7])
    found = {tuple(row) for row in mismatched_triples(giant, start, goal, places, StraightDistance())}
    anchors = np.concatenate([[start], places, [goal]])
    raw = np.linalg.norm(anchors[:, None] - anchors, axis=-1)
    true = geodesic_matrix(giant, anchors)

    def length(matrix, order):
        stops = [0, *(k + 1 for k in order), len(anchors) - 1]
        return sum(matrix[a, b] for a, b in pairwise(stops))

    gaps = {}
    for triple in combinations(range(len(places)), 3):
        orders = list(permutations(triple))
        guessed = min(orders, key=lambda order: length(raw, order))
        best, second = sorted(length(true, order) for order in orders)[:2]
        if length(true, guessed) > best + 1e-6:
            gaps[triple] = (second - best) / best
    edge = np.quantile(list(gaps.values()), 0.25)
    assert found == {triple for triple, gap in gaps.items() if gap >= edge - 1e-12}
    assert 0 < len(found) < len(gaps)


def test_bad_requests_carry_what_was_asked():
    with pytest.raises(InvalidParameter, match="suite stitch must be told which planner to run"):
        PROTOCOL_SUITES["stitch"].cases(Request())
    with pytest.raises(InvalidParameter, match=r"unknown reference 'straight'; available: centres, geodesic"):
        make_cases(case("track", reference="straight"), 1)
    with pytest.raises(InvalidParameter, match="episodes must be at least 1, got 0"):
        make_cases(case("stitch"), 0)
    with pytest.raises(InvalidParameter, match="got 1 agents and 90 waypoints"):
        make_cases(case("multi", num_waypoints=90), 1)
