"""How cost grows: tables and charts, fitted exponents, and a world a thousand times as large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.report.charts import Chart, Series
from benchmarks.report.sheets import Entry, Row, Sheet
from benchmarks.stopwatch import REST
from benchmarks.suites.growth import CORES, PARTS, cores
from chronoforest.bench.metrics import median
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit

TITLES: Mapping[str, tuple[str, str]] = {
    "stops": ("More stops, four agents", "waypoints"),
    "agents": ("More agents, twenty waypoints", "agents"),
    "batch": ("More problems at once, one goal each", "problems"),
    "recordings": ("More recordings of one world", "recordings"),
    "world": ("Larger worlds", "cells of the world"),
}

LEAST_FITTED: Mapping[str, int] = {"stops": 5, "world": 256}
"""The least size that a fit takes in, where the series begins below it: among the smallest, what every
size costs hides how cost grows. 1 elsewhere."""

GIANT = 86
"""Cells of the giant maze that can be reached."""

LARGER = 1000
"""How many times larger the world of the last table is than the giant maze."""

WORST = "order ÷ one solved for ten times as long, worst"
"""By the map; of trials on one core, since the others find the same."""

COSTS = ("seconds", "core_seconds", "megabytes")
COLUMNS = ("s", "s of a core", "MB more")


@dataclass(frozen=True)
class Fit:
    """cost ≈ factor · size^exponent, by least squares on the logarithms of the medians at every size."""

    exponent: float
    factor: float
    num_sizes: int

    @classmethod
    def to(cls, costs: Mapping[int, float]) -> Fit | None:
        """None for fewer than two sizes with a cost above 0."""
        known = {size: cost for size, cost in costs.items() if cost > 0}
        if len(known) < 2:
            return None
        slope, level = np.polyfit(np.log(list(known)), np.log(list(known.values())), 1)
        return cls(float(slope), float(np.exp(level)), len(known))

    def at(self, size: float) -> float:
        """The cost that the fit expects."""
        return self.factor * size**self.exponent


@dataclass(frozen=True)
class Line:
    """One part of a kind on so many cores: what it costs at every size."""

    kind: str
    part: str
    where: str
    trials: Mapping[int, tuple[Trial, ...]]

    @property
    def label(self) -> str:
        """As rows name it."""
        return f"{self.part}, {self.where}"

    def costs(self, name: str) -> dict[int, float]:
        """Medians by size."""
        return {
            size: median([trial.measures["parts"][self.part][name] for trial in trials])
            for size, trials in self.trials.items()
        }

    def fit(self, name: str) -> Fit | None:
        """Over the sizes that are fitted."""
        least = LEAST_FITTED.get(self.kind, 1)
        return Fit.to({size: cost for size, cost in self.costs(name).items() if size >= least})


def growth_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """A table and a chart for every kind, the exponents, the shares of the time, and the larger world."""
    kinds = {kind: [trial for trial in trials if trial.case.suite == kind] for kind in TITLES}
    found = {kind: list(_lines(kind, own)) for kind, own in kinds.items() if own}
    watched = [trial for trial in trials if trial.case.suite == "watched"]
    exhibits: list[Exhibit] = []
    for kind, lines in found.items():
        exhibits += [_sheet(kind, lines), _chart(kind, lines)]
    everything = [line for lines in found.values() for line in lines]
    return [*exhibits, _exponents(everything), _shares(watched), _larger(found.get("world", []))]


def _lines(kind: str, trials: Sequence[Trial]) -> Iterator[Line]:
    for count in CORES:
        own = [trial for trial in trials if trial.case.change == cores(count)]
        sizes = sorted({trial.measures["size"] for trial in own})
        by_size = {size: tuple(t for t in own if t.measures["size"] == size) for size in sizes}
        device = own[0].origin.device if own else ""
        where = f"{count} core{'s' * (count > 1)}{' and a GPU' * device.startswith('cuda')}"
        for part in own[0].measures["parts"] if own else ():
            yield Line(kind, part, where, by_size)


def _sheet(kind: str, lines: Sequence[Line]) -> Sheet:
    """A row for every size of every line."""
    title, unit = TITLES[kind]
    rows = [
        Row(f"{line.label}, {size} {unit}", _entries(line, size)) for line in lines for size in line.trials
    ]
    columns = tuple(dict.fromkeys(name for row in rows for name in row.entries))
    notes = ("Medians; memory is what the part adds to what the process held, at its peak.",)
    return Sheet(f"growth-{kind}", title, "", columns, tuple(rows), notes)


def _entries(line: Line, size: int) -> dict[str, Entry]:
    trials = line.trials[size]
    values = zip(COLUMNS, (line.costs(name)[size] for name in COSTS), strict=True)
    entries = {column: Entry.of_value(value, len(trials), digits=2) for column, value in values}
    measures = [trial.measures for trial in trials]
    if "solver_share" in measures[0]:
        entries["solver, %"] = Entry.of_value(
            100 * median([one["solver_share"] for one in measures]), len(trials), digits=1
        )
        ratios = [one["order_ratio"] for one in measures if one["order_ratio"] is not None]
        entries[WORST] = Entry.of_value(max(ratios), len(ratios)) if ratios else Entry(None)
        entries["complete"] = Entry.of_share(one["is_complete"] for one in measures)
    if "num_complete" in measures[0]:
        entries["problems per s"] = Entry.of_value(size / line.costs("seconds")[size], len(trials), digits=2)
        entries["complete"] = Entry.of_value(
            float(median([one["num_complete"] for one in measures])), len(trials), digits=0
        )
    return entries


def _chart(kind: str, lines: Sequence[Line]) -> Chart:
    title, unit = TITLES[kind]
    series = tuple(
        Series(line.label, tuple(map(float, line.trials)), tuple(line.costs("core_seconds").values()))
        for line in lines
    )
    return Chart(
        f"growth-{kind}-chart", title, "", unit, "s of a core", series, is_log=True, notes=("Medians.",)
    )


def _exponents(lines: Sequence[Line]) -> Sheet:
    """A row for every line."""
    rows = [
        Row(f"{line.kind}: {line.label}", {column: _exponent(line.fit(name)) for column, name in _NAMED})
        for line in lines
    ]
    notes = (
        "Cost grows as the size to the power of this, fitted on logarithms of medians.",
        "Fits begin at 5 stops and at 256 cells.",
    )
    return Sheet("growth-exponents", "How fast cost grows", "", COLUMNS, tuple(rows), notes)


_NAMED = tuple(zip(COLUMNS, COSTS, strict=True))


def _exponent(fit: Fit | None) -> Entry:
    return Entry(None) if fit is None else Entry.of_value(fit.exponent, fit.num_sizes, digits=2)


def _shares(watched: Sequence[Trial]) -> Sheet:
    names = (*PARTS, REST)
    rows = [
        Row(
            f"{trial.measures['size']} waypoints",
            {name: Entry.of_value(100 * trial.measures["shares"][name], 1, digits=1) for name in names},
        )
        for trial in sorted(watched, key=lambda trial: trial.measures["size"])
    ]
    notes = ("Watching slows Python down, so parts outside the networks are overstated a little.",)
    title = "Where the time of a plan goes, % of it"
    return Sheet("growth-shares", title, "", names, tuple(rows), notes)


def _larger(lines: Sequence[Line]) -> Sheet:
    """What the fits say of a world far beyond what was run."""
    rows = [
        Row(
            line.part,
            {column: _at(line.fit(name), LARGER * GIANT) for column, name in _NAMED if name != "seconds"},
        )
        for line in lines
    ]
    notes = (f"On paper: the fits over grown worlds at {LARGER} × the {GIANT} cells of the giant maze.",)
    columns = COLUMNS[1:]
    return Sheet("growth-larger", "A world a thousand times as large", "", columns, tuple(rows), notes)


def _at(fit: Fit | None, size: float) -> Entry:
    return Entry(None) if fit is None else Entry.of_value(fit.at(size), fit.num_sizes, digits=0)
