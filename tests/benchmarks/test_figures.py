from dataclasses import replace

import pytest
from fake_planner import FakePlanner

from benchmarks.report import figures as shown
from benchmarks.suites import figures, hamiltonian, stitch
from chronoforest.bench.suite import Request
from chronoforest.bench.trials import Trial, WalkFigures

CASES = figures.cases(Request())
WALKS = [case for case in CASES if case.suite == "stitch"]
PLANS = [case for case in CASES if case.suite == "hamiltonian"]


@pytest.fixture(scope="module")
def plans():
    planner = FakePlanner(figures.PRESET)
    return [figures.run_figures(case, planner) for case in PLANS]


@pytest.fixture(scope="module")
def walk():
    """A point walks a task of its own maze; the record is the same as the ant's."""
    case = WALKS[4].chosen(preset="pointmaze-giant-stitch-v0")
    return figures.run_figures(case, FakePlanner(case.preset))


def with_length(trial, length):
    return replace(trial, plan=replace(trial.plan, length=length))


def test_the_trials_are_some_of_the_other_suites_trials():
    assert set(PLANS) < set(hamiltonian.cases(Request()))
    assert set(WALKS) < set(stitch.cases(Request()))
    assert len({case.instance for case in PLANS}) == 10
    assert [case.task for case in WALKS] == [1, 2, 3, 4, 5]


def test_records_are_small_and_come_back(plans, walk):
    for trial in (*plans, walk):
        line = trial.to_json()
        assert len(line) < 40_000
        assert Trial.from_json(line) == trial


def test_a_walk_lies_beside_the_way_over_cells(walk):
    (panels,) = shown.figure_maps([walk])
    (panel,) = panels.panels
    ways = {way.role: way.points for way in panel.ways}
    assert set(ways) == {"planned", "reference", "walked"}
    assert panel.title == "task 5"
    assert "BFS 68, plan" in panel.note
    for way in ways.values():
        assert way[0] == pytest.approx(panel.problem.starts[0], abs=0.01)


def test_a_failed_walk_says_why(walk):
    failed = replace(walk, walk=WalkFigures("stuck", 300, 0, 1.0))
    assert shown.figure_maps([failed])[0].panels[0].note.endswith("walked in 300 steps, stuck")


def test_the_overview_takes_the_search_that_flips_most(plans):
    searches = [trial for trial in plans if "search" in trial.measures]
    counts = [trial.measures["search"]["num_flips"] for trial in searches]
    assert {trial.case.variant for trial in searches} == {"online"}
    panels = next(one for one in shown.figure_maps(plans) if one.name == "figures-rounds")
    first = searches[counts.index(max(counts))]
    assert any(first.case.instance in note for note in panels.notes)
    assert panels.support is not None
    assert len(panels.panels) == 3


def test_the_lowest_median_and_highest_saving_are_shown(plans):
    lengths = {"1-2": 95.0, "1-3": 90.0, "1-4": 70.0, "2-3": 101.0, "4-5": 60.0}
    chosen = [
        with_length(trial, lengths[shown.team(trial)] if trial.case.variant == "online" else 100.0)
        for trial in plans
        if shown.team(trial) in lengths
    ]
    panels = next(one for one in shown.figure_maps(chosen) if one.name == "figures-routes")
    assert panels.headings == (
        "tasks 2-3: lowest saving, −1.0 %",
        "tasks 1-3: median saving, 10.0 %",
        "tasks 4-5: highest saving, 40.0 %",
    )
    titles = [panel.title for panel in panels.panels]
    assert titles[:3] == ["temporal-fixed, 100.0 units"] * 3
    assert titles[6:] == ["online, 101.0 units", "online, 90.0 units", "online, 60.0 units"]


def test_nothing_saved_is_not_less_than_nothing():
    assert [shown.signed(value) for value in (-0.04, 0.04, -1.26)] == ["0.0", "0.0", "−1.3"]


def test_a_pair_that_a_variant_did_not_solve_is_not_compared(plans):
    failed = replace(plans[0], plan=replace(plans[0].plan, is_complete=False))
    assert shown.team(failed) not in shown.solved_pairs([failed, *plans[1:]])
    assert shown.team(plans[0]) in shown.solved_pairs(plans)


def test_without_trials_nothing_is_shown():
    assert shown.figure_maps([]) == []
