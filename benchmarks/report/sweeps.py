"""One parameter at a time: a table of everything and a chart for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.report.charts import Chart, Series
from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.suites.sweeps import SWEEPS, change
from chronoforest.bench.metrics import complete_plans, is_sound
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

COLUMNS = ("sound plans, %", "÷ geodesic optimum", "its order ÷ best order", "expanded", "planning s")


def sweep_charts(trials: Sequence[Trial]) -> list[Exhibit]:
    """A table of everything and a chart for each parameter."""
    rows = [row for name in SWEEPS for row in _rows(name, trials)]
    notes = ("Validation problems: random, three waypoints, seed 777. Every change is from the preset.",)
    sheet = Sheet("sweeps", "One parameter at a time", "", COLUMNS, tuple(rows), notes)
    charts = (_chart(name, trials) for name in SWEEPS)
    return [sheet, *(chart for chart in charts if chart.series[0].x)]


def _rows(name: str, trials: Sequence[Trial]) -> Iterator[Row]:
    path, values = SWEEPS[name]
    for value in values:
        own = [trial for trial in trials if trial.case.change == change(path, value)]
        plans = complete_plans(own)
        figures = (
            Entry.of_share(trial.plan is not None and is_sound(trial.plan) for trial in own),
            Entry.of_mean((plan.length / plan.geodesic for plan in plans), digits=3),
            Entry.of_mean((plan.order_length / plan.geodesic for plan in plans), digits=3),
            Entry.of_mean((plan.num_expanded for plan in plans), digits=1),
            Entry.of_mean((plan.seconds for plan in plans), digits=2),
        )
        yield Row(f"{name} = {value:g}", dict(zip(COLUMNS, figures, strict=True)))


def _chart(name: str, trials: Sequence[Trial]) -> Chart:
    """Length against the geodesic optimum, and how much of it is the order's fault, over the values."""
    path, values = SWEEPS[name]
    rows = list(zip(values, _rows(name, trials), strict=True))
    series = []
    for column in COLUMNS[1:3]:
        known = [(value, row.entries[column].ours) for value, row in rows]
        points = [(float(value), ours.value) for value, ours in known if ours is not None]
        series.append(Series(column, tuple(x for x, _ in points), tuple(y for _, y in points)))
    slug = path.replace(".", "-")
    return Chart(f"sweep-{slug}", f"Length over {name}", "", name, "÷ geodesic optimum", tuple(series))
