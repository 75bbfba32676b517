from chronoforest.bench.paper import hamiltonian, theory
from chronoforest.bench.paper.suite import Effort
from chronoforest.bench.trials import Trial

SURE = {"bound": 1.0, "margin": 3.0, "premises_hold": True, "is_exact": True}
OPEN = {"bound": None, "margin": 5.0, "premises_hold": False, "is_exact": False}


def trial(case, certificate, num_false):
    return Trial(case, None, measures={"certificate": certificate, "num_accepted": 4, "num_false": num_false})


def test_the_trials_are_the_online_ones_of_the_other_suite():
    effort = Effort(1, 1)
    assert set(theory.cases(effort)) < set(hamiltonian.cases(effort))
    assert theory.SUITE.file == hamiltonian.SUITE.file


def test_claims_are_counted():
    first, second, *_ = theory.cases(Effort(1, 1))
    fixed = next(case for case in hamiltonian.cases(Effort(1, 1)) if case.variant != "online")
    trials = [trial(first, SURE, 0), trial(second, OPEN, 1), trial(fixed, OPEN, 4)]
    (sheet,) = theory.exhibits(trials)
    (row,) = sheet.rows
    margin, bound, premises, exact, legs = (row.entries[column] for column in theory.COLUMNS)
    assert margin.ours.value == 4.0
    assert (bound.ours.value, bound.num_trials) == (1.0, 1)
    assert premises.ours.value == exact.ours.value == 0.5
    assert (legs.ours.value, legs.num_trials) == (7 / 8, 8)
