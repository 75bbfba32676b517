"""The rows of the suite of parts on models from few recordings."""

from benchmarks.report.parts import part_tables
from benchmarks.suites import parts, thin, thin_parts
from benchmarks.thin import COUNTS, folder_of
from chronoforest.bench.problems import random_problem
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial

CASES = thin_parts.cases(Request(episodes=2))


def test_every_row_sees_the_same_pairs_on_every_count_and_they_are_those_of_suite_thin():
    first, *others = thin.cases(Request(episodes=2))
    wanted = {case.seeds for case in (first, *others)}
    for count in COUNTS:
        own = [case for case in CASES if case.change == thin.recorded(count)]
        assert {case.seeds for case in own} == wanted
        assert {case.choice.weights for case in own} == {folder_of(count)}
    same = next(case for case in CASES if case.seeds == first.seeds)
    assert (random_problem(same).anchors == random_problem(first).anchors).all()


def test_what_takes_minutes_or_is_not_trained_has_no_row():
    rows = {(case.choice.planner, case.variant) for case in CASES}
    wanted = {
        (part.planner, part.variant)
        for part in parts.PARTS
        if part.variant not in thin_parts.LEFT_OUT and not part.is_about_order
    }
    assert rows == wanted
    assert len({case.key for case in CASES}) == len(CASES)


def test_every_count_has_a_table_of_its_own():
    refused = [Trial(case, plan=None, refusal="outside") for case in CASES]
    summary, *tables = part_tables(refused, name="thin-parts")
    assert summary.name == "thin-parts"
    assert [table.name for table in tables] == [f"thin-parts-{k}" for k in (1, 2, 3, 4)]
    assert [table.title.split("=")[-1] for table in tables] == [str(count) for count in COUNTS]
