from dataclasses import replace

from fake_planner import FakePlanner

from benchmarks.changes import parse, with_value
from benchmarks.report.charts import Chart
from benchmarks.report.sweeps import sweep_charts
from benchmarks.suites import sweeps
from chronoforest.bench.protocol import plan_random
from chronoforest.bench.suite import Request
from chronoforest.presets.named import get_preset

CASES = sweeps.cases(Request(episodes=1))


def test_every_change_can_be_made():
    preset = get_preset(sweeps.VALIDATION.preset)
    for case in CASES:
        path, value = parse(case.change)
        part, _, rest = path.partition(".")
        if part == "sampler":
            with_value(preset.sampler, rest, value)
        elif part != "calibration":
            with_value(preset.planner, path, value)


def test_the_default_is_among_the_values():
    planner = get_preset(sweeps.VALIDATION.preset).planner
    assert planner.budget.num_pairs in sweeps.SWEEPS["pairs in a round"][1]
    assert planner.search.junction.num_samples in sweeps.SWEEPS["samples per leaf"][1]


def test_values_are_compared_on_the_same_problems():
    assert len({case.seeds for case in CASES}) == 1
    assert {case.seed for case in CASES} == {777}


def test_a_chart_shows_the_values_that_were_run():
    planner = FakePlanner(sweeps.VALIDATION.preset)
    path, values = sweeps.SWEEPS["τ, steps"]
    wanted = [sweeps.change(path, value) for value in values[:2]]
    first = plan_random(next(case for case in CASES if case.change == wanted[0]), planner)
    trials = [first, replace(first, case=replace(first.case, change=wanted[1]))]
    sheet, chart = sweep_charts(trials)
    assert isinstance(chart, Chart)
    assert chart.series[0].x == (10.0, 30.0)
    shown = {row.label: row.entries["expanded"].num_trials for row in sheet.rows}
    assert (shown["τ, steps = 10"], shown["τ, steps = 100"]) == (1, 0)
