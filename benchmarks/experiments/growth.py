"""How cost grows: seconds and memory against stops, agents, problems, recordings and the size of the world;
to be run with one worker."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas  # type: ignore[import-untyped]

from benchmarks.ablations import named
from benchmarks.case import Case
from benchmarks.measuring import REST, PeakMemory, Stopwatch
from benchmarks.metrics import median
from benchmarks.problems import supported_problem
from benchmarks.references import geodesic_matrix
from benchmarks.report.pictures import Chart, Series
from benchmarks.report.tables import Entry, Row, Sheet, by
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import Trial, figures_of
from benchmarks.worlds.grown import Corridors, GrownModels, fitted
from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.models.density import fit_density
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.planner import Planner
from chronoforest.planning.result import PlanResult
from chronoforest.planning.variants import PlannerParams, Prepared, ground_of
from chronoforest.presets.loading import PresetPlanner
from chronoforest.roadmap.support import roadmap_of_support
from chronoforest.roadmap.verify import Checker
from chronoforest.roadmap.ways import Joined, Ways
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import Problem, Support

PRESET = "pointmaze-giant-stitch-v0"
STOPS = (1, 5, 10, 20, 50, 100, 200)
AGENTS = (1, 2, 4, 8, 16)
BATCHES = (1, 4, 16, 64, 256, 1024)
RECORDINGS = (100, 500, 2500, 10_000, 50_000)
SIDES = (8, 16, 32, 64)  # cells along a side of a grown world

CORES = (1, 2)
FLEET, FEW_STOPS = 4, 20
"""Agents of the problems with ever more stops, and stops of those with ever more agents."""

ROOM = 1.0  # units that random places keep to the edge of the support
LONG = 10  # how many times longer the solver works for the order that others are compared with

CELLS_WALKED, WALKS_PER_CELL = 5, 10
"""Cells of a recording whose number grows; recordings for a cell of a grown world, of ten cells each."""

PARTS: dict[str, tuple[Callable[..., Any], ...]] = {
    "joining": (Joined.of,),
    "ways": (Ways.of,),
    "solving": (AutoSolver.__call__,),
    "shortening": (Prepared.shortened,),
    "denoising": (Checker.together,),
}
"""What the time of a plan is split over."""

SHARES = (*PARTS, REST)


@dataclass(frozen=True)
class GrowthFigures:
    """One size of one kind. parts: seconds, core_seconds and megabytes by name; shares: of the time of
    a watched plan; order_ratio: the order's length over that of one solved for longer; the rest as their
    names say, None where the kind has none."""

    size: int
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    is_complete: bool | None = None
    num_complete: int | None = None
    num_expanded: int | None = None
    solver_share: float | None = None
    first_seconds: float | None = None
    order_ratio: float | None = None
    num_rows: int | None = None
    num_places: int | None = None
    num_hops: int | None = None


def cases(request: Request) -> list[Case]:
    """Ever more of one thing, on one core and on two; what gains nothing by a second core runs on one."""
    both = [Case("", PlannerChoice(PRESET), variant="verified", change=f"cores={n}") for n in CORES]
    fleets = [("stops", FLEET, k) for k in STOPS] + [("agents", m, FEW_STOPS) for m in AGENTS]
    known = [
        replace(case, suite=suite, num_agents=m, num_waypoints=k, seed=seed)
        for case in both
        for suite, m, k in fleets
        for seed in range(request.repeats or 1)
    ]
    watched = [replace(both[0], suite="watched", num_agents=FLEET, num_waypoints=k) for k in STOPS]
    batches = [replace(case, suite="batch", instance=str(n)) for case in both for n in BATCHES]
    recordings = [replace(both[0], suite="recordings", instance=str(n)) for n in RECORDINGS]
    worlds = [replace(both[0], suite="world", instance=str(n), variant="roadmap-only") for n in SIDES]
    return [*known, *watched, *batches, *recordings, *worlds]


def run_growth(case: Case, planner: PresetPlanner) -> Trial:
    """Measure one size."""
    planner.num_threads = int(case.change.removeprefix("cores="))
    # What is made once is made before anything is timed.
    planner.plan(supported_problem(replace(case, num_agents=1, num_waypoints=0), planner.models, ROOM))
    return Trial(case, plan=None, figures=_KINDS[case.suite](case, planner))


class Clock:
    """Seconds of each named part of the work, by the clock and by the processor, and its peak of memory."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, float]] = {}

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        """Time a `with` block as a part."""
        with PeakMemory() as memory:
            began, busy = time.perf_counter(), time.process_time()
            yield
            seconds, core_seconds = time.perf_counter() - began, time.process_time() - busy
        self.parts[part] = {"seconds": seconds, "core_seconds": core_seconds, "megabytes": memory.added}


def _plan_fleet(case: Case, planner: PresetPlanner) -> GrowthFigures:
    """Seconds of a plan, the solver's share, and, once, its order's length over that of one solved for
    longer, both by the map."""
    problem, clock, ratio = supported_problem(case, planner.models, ROOM), Clock(), None
    with clock.timing("planning"):
        result = planner.plan(problem, seed=case.seed)
    if case.change == "cores=1":
        lengths, usual = geodesic_matrix(case.maze, problem.anchors), AutoSolver()
        long = replace(usual, num_iterations=LONG * usual.num_iterations)(lengths, problem, None)
        ratio = result.rounds[-1].route.cost(lengths) / long.cost(lengths)
    return GrowthFigures(
        size=case.num_waypoints if case.suite == "stops" else case.num_agents,
        parts=clock.parts,
        is_complete=result.complete,
        num_expanded=result.num_expanded,
        solver_share=result.solver_share,
        first_seconds=result.rounds[0].seconds,
        order_ratio=ratio,
    )


def _watch_fleet(case: Case, planner: PresetPlanner) -> GrowthFigures:
    """Where the time of a plan goes; watching slows Python, so that nothing else is told."""
    problem, watch = supported_problem(case, planner.models, ROOM), Stopwatch(PARTS)
    with watch:
        planner.plan(problem, seed=case.seed)
    return GrowthFigures(case.num_waypoints, shares=watch.shares())


def _plan_batch(case: Case, planner: PresetPlanner) -> GrowthFigures:
    """Seconds for many problems with one goal each."""
    count = int(case.instance)
    problems = [
        supported_problem(replace(case, episode=number), planner.models, ROOM) for number in range(count)
    ]
    clock = Clock()
    with clock.timing("planning"):
        outcomes = planner.plan_many(problems, seeds=range(count))
    complete = sum(isinstance(outcome, PlanResult) and outcome.complete for outcome in outcomes)
    return GrowthFigures(count, clock.parts, num_complete=complete)


def _take_recordings(case: Case, planner: PresetPlanner) -> GrowthFigures:
    """Seconds to import recordings, to fit their density, and to build the roadmap; the world stays the same,
    and so does the distance that was learned in it."""
    count, clock = int(case.instance), Clock()
    corridors = Corridors.of_maze(case.maze)
    tracks = corridors.recordings(count, CELLS_WALKED, np.random.default_rng(case.seed))
    rows = np.indices(tracks.shape[:2]).reshape(2, -1)
    table = pandas.DataFrame(dict(zip(("episode", "time"), rows, strict=True)))
    table[["x", "y"]] = tracks.reshape(-1, 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recordings.csv"
        table.to_csv(path, index=False, float_format="%.3f")
        with clock.timing("importing"):
            import_files([path], Columns(episode="episode", time="time"), ImportParams())
    learned, preset = ground_of(planner.models, planner.params), planner.preset.models
    with clock.timing("density"):
        density = fit_density(tracks, preset.density, preset.world.jump)
    with clock.timing("roadmap"):
        support = Support(density.origin, density.cell, density.support)
        roadmap_of_support(support, replace(learned, density=density, step_length=density.step_length))
    return GrowthFigures(count, clock.parts, num_rows=len(table))


def _grow_world(case: Case, planner: PresetPlanner) -> GrowthFigures:
    """Seconds to fit a density, to build the roadmap, and to plan for an agent with five stops."""
    corridors, clock = Corridors.grown(int(case.instance), case.seed), Clock()
    rng = np.random.default_rng(case.seed)
    tracks = corridors.recordings(WALKS_PER_CELL * len(corridors), WALKS_PER_CELL, rng)
    with clock.timing("density"):
        models = GrownModels(fitted(tracks), planner.models.sampler)
    grown = Planner(models, PlannerParams(), "grown")
    with clock.timing("roadmap"):
        roadmap = grown.prepared(named(case.variant)).roadmap
    chosen = corridors.centres[rng.choice(len(corridors), 7, replace=False)]
    with clock.timing("planning"):
        result = grown.plan(Problem(chosen[:1], chosen[1:2], chosen[2:]), variant=named(case.variant))
    return GrowthFigures(
        len(corridors),
        clock.parts,
        is_complete=result.complete,
        num_places=len(roadmap.position),
        num_hops=len(roadmap.hops),
    )


_KINDS: dict[str, Callable[[Case, PresetPlanner], GrowthFigures]] = {
    "stops": _plan_fleet,
    "agents": _plan_fleet,
    "watched": _watch_fleet,
    "batch": _plan_batch,
    "recordings": _take_recordings,
    "world": _grow_world,
}


TITLES: Mapping[str, tuple[str, str]] = {
    "stops": ("More stops, four agents", "waypoints"),
    "agents": ("More agents, twenty waypoints", "agents"),
    "batch": ("More problems at once, one goal each", "problems"),
    "recordings": ("More recordings of one world", "recordings"),
    "world": ("Larger worlds", "cells of the world"),
}

LEAST_FITTED: Mapping[str, int] = {"stops": 5, "world": 256}
"""The least size that a fit takes in: among the smallest, what every size costs hides how cost grows."""

GIANT, LARGER = 86, 1000
"""Cells of the giant maze that can be reached, and how many times more the world of the last table has."""

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
    label: str
    found: Mapping[int, Sequence[GrowthFigures]]

    def costs(self, name: str) -> dict[int, float]:
        """Medians by size."""
        return {
            size: median([one.parts[self.part][name] for one in found]) for size, found in self.found.items()
        }

    def fit(self, name: str) -> Fit | None:
        """Over the sizes that are fitted."""
        least = LEAST_FITTED.get(self.kind, 1)
        return Fit.to({size: cost for size, cost in self.costs(name).items() if size >= least})


def growth_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """A table and a chart for every kind, the exponents, the shares of the time, and the larger world."""
    kinds = by(trials, lambda trial: trial.case.suite)
    found = {kind: list(_lines(kind, kinds[kind])) for kind in TITLES if kind in kinds}
    exhibits = [shown for kind, lines in found.items() for shown in _of_kind(kind, lines)]
    everything = {f"{line.kind}: {line.label}": line for lines in found.values() for line in lines}
    exponents = Sheet.of(
        "growth-exponents",
        "How fast cost grows",
        "",
        everything,
        {c: partial(_fitted, name=name) for c, name in zip(COLUMNS, COSTS, strict=True)},
        (
            "Cost grows as the size to the power of this, fitted on logarithms of medians.",
            "Fits begin at 5 stops and at 256 cells.",
        ),
    )
    larger = Sheet.of(
        "growth-larger",
        "A world a thousand times as large",
        "",
        {line.part: line for line in found.get("world", [])},
        {
            c: partial(_fitted, name=name, size=LARGER * GIANT)
            for c, name in zip(COLUMNS[1:], COSTS[1:], strict=True)
        },
        (f"On paper: the fits over grown worlds at {LARGER} × the {GIANT} cells of the giant maze.",),
    )
    return [*exhibits, exponents, _shares(kinds.get("watched", [])), larger]


def _lines(kind: str, trials: Sequence[Trial]) -> Iterator[Line]:
    for count in CORES:
        own = [trial for trial in trials if trial.case.change == f"cores={count}"]
        found = sorted(figures_of(own, GrowthFigures), key=lambda one: one.size)
        by_size = {size: list(some) for size, some in groupby(found, key=lambda one: one.size)}
        device = own[0].origin.device if own else ""
        where = f"{count} core{'s' * (count > 1)}{' and a GPU' * device.startswith('cuda')}"
        for part in found[0].parts if found else ():
            yield Line(kind, part, f"{part}, {where}", by_size)


def _of_kind(kind: str, lines: Sequence[Line]) -> Iterator[Exhibit]:
    """A row for every size of every line, and a chart."""
    title, unit = TITLES[kind]
    rows = [
        Row(f"{line.label}, {size} {unit}", _entries(line, size)) for line in lines for size in line.found
    ]
    columns = tuple(dict.fromkeys(name for row in rows for name in row.entries))
    notes = ("Medians; memory is what the part adds to what the process held, at its peak.",)
    yield Sheet(f"growth-{kind}", title, "", columns, tuple(rows), notes)
    series = tuple(
        Series(line.label, tuple(map(float, line.found)), tuple(line.costs("core_seconds").values()))
        for line in lines
    )
    name = f"growth-{kind}-chart"
    yield Chart(name, title, "", unit, "s of a core", series, is_log=True, notes=("Medians.",))


def _entries(line: Line, size: int) -> dict[str, Entry]:
    found = line.found[size]
    values = zip(COLUMNS, (line.costs(name)[size] for name in COSTS), strict=True)
    entries = {column: Entry.of_value(value, len(found), digits=2) for column, value in values}
    shares = [one.solver_share for one in found if one.solver_share is not None]
    if shares:
        entries["solver, %"] = Entry.of_value(100 * median(shares), len(found), digits=1)
        ratios = [one.order_ratio for one in found if one.order_ratio is not None]
        entries[WORST] = Entry.of_value(max(ratios), len(ratios)) if ratios else Entry(None)
        entries["complete"] = Entry.of_share(bool(one.is_complete) for one in found)
    counts = [one.num_complete for one in found if one.num_complete is not None]
    if counts:
        entries["problems per s"] = Entry.of_value(size / line.costs("seconds")[size], len(found), digits=2)
        entries["complete"] = Entry.of_value(median(counts), len(found), digits=0)
    return entries


def _fitted(line: Line, name: str, size: int = 0) -> Entry:
    """The exponent of a fit, or what it says of a size."""
    fit = line.fit(name)
    if fit is None:
        return Entry(None)
    value, digits = (fit.at(size), 0) if size else (fit.exponent, 2)
    return Entry.of_value(value, fit.num_sizes, digits=digits)


def _shares(watched: Sequence[Trial]) -> Sheet:
    found = sorted(figures_of(watched, GrowthFigures), key=lambda one: one.size)
    names = {n: partial(lambda one, n: Entry.of_value(100 * one.shares[n], 1, digits=1), n=n) for n in SHARES}
    notes = ("Watching slows Python down, so parts outside the networks are overstated a little.",)
    title, rows = "Where the time of a plan goes, % of it", {f"{one.size} waypoints": one for one in found}
    return Sheet.of("growth-shares", title, "", rows, names, notes)


SUITE = Suite(
    "growth",
    "how cost grows with all that can be more",
    cases,
    run_growth,
    growth_tables,
    figures=(GrowthFigures,),
)
