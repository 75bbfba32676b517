from dataclasses import replace

import numpy as np
import pytest
from fake_planner import FakePlanner

from benchmarks.report import theory as shown_theory
from benchmarks.suites import hamiltonian, theory
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial

SURE = {"bound": 1.0, "margin": 3.0, "premises_hold": True, "is_exact": True}
OPEN = {"bound": None, "margin": 5.0, "premises_hold": False, "is_exact": False}
FIRST, SECOND, *_ = theory.cases(Request(1, 1))


def trial(case, certificate=SURE, num_false=0, rows=()):
    """rows: depth, gap in steps and residual in units; two units are a step, and h(x) = x + x² / 10."""
    probes = {"alpha": 0.1, "scale": 2.0, "rows": [list(row) for row in rows]} if rows else {}
    counts = {"num_accepted": 4, "num_false": num_false}
    return Trial(case, None, measures={"certificate": certificate, "probes": probes, **counts})


def sheet(trials, name):
    return next(shown for shown in shown_theory.certificate_tables(trials) if shown.name == name)


def figures(shown, label):
    """Values of one row by column."""
    row = next(row for row in shown.rows if row.label.endswith(label))
    return {column: entry.ours.value for column, entry in row.entries.items()}


def test_the_trials_are_the_online_ones_of_the_other_suite():
    request = Request(1, 1)
    assert set(theory.cases(request)) < set(hamiltonian.cases(request))
    assert theory.SUITE.file == hamiltonian.SUITE.file


def test_claims_are_counted():
    fixed = next(case for case in hamiltonian.cases(Request(1, 1)) if case.variant != "online")
    trials = [trial(FIRST, SURE, 0), trial(SECOND, OPEN, 1), trial(fixed, OPEN, 4)]
    (row,) = sheet(trials, "theory").rows
    margin, bound, premises, exact, legs = (row.entries[column] for column in shown_theory.COLUMNS)
    assert margin.ours.value == 4.0
    assert (bound.ours.value, bound.num_trials) == (1.0, 1)
    assert premises.ours.value == exact.ours.value == 0.5
    assert (legs.ours.value, legs.num_trials) == (7 / 8, 8)


def test_margins_have_quantiles_on_the_estimate_and_on_the_map():
    planned = hamiltonian.run_instance(FIRST, FakePlanner(FIRST.preset))
    again = replace(planned, case=replace(FIRST, episode=99))
    other = replace(trial(SECOND), measures=trial(SECOND, {**SURE, "margin": 9.0}).measures)
    shown = sheet([planned, again, other], "theory-margins")
    assert figures(shown, "on the estimate, steps")["median"] == 0.0
    assert figures(shown, "on the estimate, steps")["95 %"] == pytest.approx(8.1)
    entries = next(row for row in shown.rows if row.label.endswith("on the map, units")).entries
    assert entries["median"].num_trials == 1
    assert entries["median"].ours.value == pytest.approx(planned.plan.runner_up - planned.plan.geodesic)


def test_coverage_is_told_by_depth():
    near = [(1, 10.0, 40.0), (1, 10.0, 42.0), (2, 10.0, 20.0), (9, 10.0, None)]
    shown = sheet([trial(FIRST, rows=near), trial(SECOND, rows=[(1, 10.0, 20.0)] * 2)], "theory-depth")
    shares = figures(shown, "h(ĝ) ≥ g*, %")
    assert shares == {
        "depth 1": pytest.approx(0.75),
        "depth 2": 1.0,
        "depth ≥ 6": 0.0,
        "all": pytest.approx(4 / 6),
    }
    assert figures(shown, "candidates")["depth 1"] == 4
    assert "depth ≥ 6" not in figures(shown, "|ĝ − g*| in steps, median")
    assert figures(shown, "h(ĝ) − g* in steps, median")["depth 2"] == pytest.approx(10.0)


def test_intervals_of_coverage_count_instances():
    rows = [(1, 10.0, 20.0)] * 50
    entry = shown_theory.coverage(shown_theory.pool([trial(FIRST, rows=rows), trial(SECOND, rows=rows[:3])]))
    assert entry.num_trials == 2
    alone = shown_theory.coverage(shown_theory.pool([trial(FIRST, rows=rows)]))
    assert (alone.ours.low, alone.ours.high) == (0.0, 1.0)


def test_every_candidate_has_one_column_of_gaps():
    gaps = np.append(np.array(shown_theory.GAPS), 1.5)
    found = shown_theory.pool([trial(FIRST, rows=[(1, gap, 1.0) for gap in gaps])])
    chosen = [choose(found) for name, choose in shown_theory.gap_choices().items() if name != "all"]
    assert np.sum(chosen, axis=0).tolist() == [1] * len(gaps)


def test_the_curve_ends_with_the_deepest():
    trials = [trial(FIRST, rows=[(0, 1.0, 1.0), (7, 1.0, 1.0), (8, 1.0, 9.0)])]
    curve = sheet(trials, "theory-coverage").series[0]
    assert curve.x == (0, shown_theory.LAST_DEPTH)
    assert curve.y == (100.0, 50.0)


def test_plans_without_candidates_show_certificates_only():
    assert [shown.name for shown in shown_theory.certificate_tables([trial(FIRST)])] == [
        "theory",
        "theory-margins",
    ]
