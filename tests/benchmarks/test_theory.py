import numpy as np
import pytest

from benchmarks.experiments import hamiltonian, theory
from benchmarks.experiments.hamiltonian import InstanceFigures, ProbeFigures
from benchmarks.suite import Request
from benchmarks.trials import Trial
from chronoforest.types import Certificate

FIRST, SECOND, *_ = theory.cases(Request(1, 1))
SURE = Certificate(1.0, 3.0, True)


def trial(case, rows):
    """rows: depth, gap in steps and residual in units; two units are a step, and h(x) = x + x² / 10."""
    return Trial(case, None, figures=InstanceFigures(SURE, 4, 0, ProbeFigures(0.1, 2.0, list(rows))))


def test_the_trials_are_the_online_ones_of_the_other_suite():
    request = Request(1, 1)
    assert set(theory.cases(request)) < set(hamiltonian.cases(request))
    assert theory.SUITE.file == hamiltonian.SUITE.file


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
