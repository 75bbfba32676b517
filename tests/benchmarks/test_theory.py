from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments import cost, hamiltonian, theory
from benchmarks.experiments.hamiltonian import InstanceFigures, ProbeFigures
from benchmarks.instances import find
from benchmarks.references import geodesic_matrix
from benchmarks.suite import Request
from benchmarks.trials import PlanFigures, Trial
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import Certificate

FIRST, SECOND, *_ = theory.cases(Request(1, 1))
SURE = Certificate(1.0, 3.0, True)


def trial(case, rows):
    """rows: depth, gap in steps and residual in units; two units are a step, and h(x) = x + x² / 10."""
    return Trial(case, None, figures=InstanceFigures(SURE, 4, 0, ProbeFigures(0.1, 2.0, list(rows))))


def test_a_planted_wrong_order_is_seen_in_its_legs_and_a_tie_is_right():
    case = next(case for case in hamiltonian.cases(Request(1, 1)) if case.num_agents == 1)
    maze, problem = case.maze, find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    true = geodesic_matrix(maze, problem.anchors)
    best = AutoSolver()(true, problem, None)
    ((start, first, *others, goal),) = best.named(problem)
    for order, right in (((start, first, *others, goal), 4), ((start, others[1], first, others[0], goal), 1)):
        length = best.cost(true) * (1.0 if right == 4 else 1.2)
        figures = (True, False, 1.0, 1.0, 1.0, best.cost(true), length, None, 1.0, 1, 1, 1.0, (order,))
        assert sum(theory.right_legs(Trial(case, PlanFigures(*figures)))) == right
    tied = Trial(case, PlanFigures(*figures[:6], best.cost(true), *figures[7:]))
    assert all(theory.right_legs(tied))


def test_a_planted_detour_and_more_seconds_are_seen_in_the_loss():
    figures = (True, False, 1.0, 1.0, 1.0, 90.0, 90.0, None, 1.0, 1)
    online, exhaustive = (
        Trial(
            replace(FIRST, variant=variant),
            PlanFigures(*figures[:6], length, *figures[7:], 4, seconds, ()),
            figures=InstanceFigures(Certificate(50.0, 1.0, True), 4, 0),
        )
        for variant, length, seconds in (("online", 95.0, 4.0), ("exhaustive", 90.0, 10.0))
    )
    (row,) = cost.loss_sheet([online, exhaustive]).rows
    found = {name: entry.ours.value for name, entry in row.entries.items()}
    assert (found["seconds saved"], found["J* longer, units"]) == (6.0, 5.0)
    assert [found[f"eq. 44 at λ = {rate}, %"] for rate in ("1", "10")] == [1.0, 1.0]
    assert [found[f"eq. 43 at λ = {rate}, %"] for rate in ("1", "10")] == [0.0, 1.0]


def test_intervals_of_coverage_count_instances():
    rows = [(1, 10.0, 20.0)] * 50
    entry = theory.coverage(theory.pool([trial(FIRST, rows=rows), trial(SECOND, rows=rows[:3])]))
    assert entry.num_trials == 2
    alone = theory.coverage(theory.pool([trial(FIRST, rows=rows)]))
    assert (alone.ours.low, alone.ours.high) == (0.0, 1.0)


def test_every_candidate_has_one_column_of_gaps():
    gaps = np.append(np.array(theory.GAPS), 1.5)
    found = theory.pool([trial(FIRST, rows=[(1, gap, 1.0) for gap in gaps])])
    *parts, whole = theory.gaps_of(found).values()
    assert sorted(gap for part in parts for gap in part.gap) == sorted(whole.gap) == sorted(gaps)


def test_coverage_is_told_by_depth():
    near = [(1, 10.0, 40.0), (1, 10.0, 42.0), (2, 10.0, 20.0), (9, 10.0, np.inf)]
    exhibits = theory.certificate_tables([trial(FIRST, near), trial(SECOND, [(1, 10.0, 20.0)] * 2)])
    (sheet,) = (shown for shown in exhibits if shown.name == "theory-depth")
    shares = next(row.entries for row in sheet.rows if row.label.endswith("h(ĝ) ≥ g*, %"))
    assert {name: entry.ours.value for name, entry in shares.items()} == {
        "depth 1": pytest.approx(0.75),
        "depth 2": 1.0,
        "depth ≥ 6": 0.0,
        "all": pytest.approx(4 / 6),
    }
