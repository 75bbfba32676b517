"""How cost grows: seconds and memory against stops, agents, problems, recordings and the size of the world.

Run it with one worker, and in a folder of its own for each device. On a machine that does other work, the
seconds of the processor tell more than those of the clock; both are kept.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.memory import PeakMemory
from benchmarks.stopwatch import Stopwatch
from benchmarks.worlds.grown import Corridors, GrownModels, fitted
from chronoforest.bench.case import Case
from chronoforest.bench.problems import supported_problem
from chronoforest.bench.references import geodesic_matrix
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial
from chronoforest.data.columns import Columns
from chronoforest.data.imports import ImportParams, import_files
from chronoforest.models.density import GridDensity, fit_density
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.planner import Planner
from chronoforest.planning.preparation import Prepared, ground_of
from chronoforest.planning.result import PlanResult
from chronoforest.planning.variants import PlannerParams
from chronoforest.roadmap.hops import Ground
from chronoforest.roadmap.verify import Checker
from chronoforest.roadmap.ways import Joined, Joiner, build_roadmap
from chronoforest.routing.solver import AutoSolver
from chronoforest.types import FloatArray, JointRoute, Problem, Support

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "pointmaze-giant-stitch-v0"
STOPS = (1, 5, 10, 20, 50, 100, 200)
AGENTS = (1, 2, 4, 8, 16)
BATCHES = (1, 4, 16, 64, 256, 1024)
RECORDINGS = (100, 500, 2500, 10_000, 50_000)
SIDES = (8, 16, 32, 64)
"""Cells along a side of a grown world."""

CORES = (1, 2)
FLEET = 4
"""Agents of the problems with ever more stops."""

FEW_STOPS = 20
"""Stops of the problems with ever more agents."""

ROOM = 1.0
"""Units that random places keep to the edge of the support."""

LONG = 10
"""How many times longer the solver works for the order that others are compared with."""

CELLS_WALKED = 5
"""Of a recording whose number grows."""

WALKS_PER_CELL = 10
"""Recordings in a grown world, of ten cells each."""

PARTS: dict[str, tuple[Callable[..., Any], ...]] = {
    "joining": (Joiner.each,),
    "ways": (Joined.ways_from,),
    "solving": (AutoSolver.__call__,),
    "shortening": (Prepared.shortened,),
    "denoising": (Checker.together,),
}
"""What the time of a plan is split over."""


def cases(request: Request) -> list[Case]:
    """Ever more of one thing, on one core and on two; what gains nothing by a second core runs on one."""
    repeats = range(request.repeats or 1)
    one, two = (Case("", PlannerChoice(PRESET), variant="verified", change=cores(n)) for n in CORES)
    fleets = [replace(case, num_agents=FLEET) for case in (one, two)]
    stops = [
        replace(f, suite="stops", num_waypoints=k, seed=s) for f in fleets for k in STOPS for s in repeats
    ]
    agents = [
        replace(case, suite="agents", num_agents=m, num_waypoints=FEW_STOPS, seed=s)
        for case in (one, two)
        for m in AGENTS
        for s in repeats
    ]
    watched = [replace(fleets[0], suite="watched", num_waypoints=k) for k in STOPS]
    batches = [replace(case, suite="batch", instance=str(n)) for case in (one, two) for n in BATCHES]
    recordings = [replace(one, suite="recordings", instance=str(n)) for n in RECORDINGS]
    worlds = [replace(one, suite="world", instance=str(n), variant="roadmap-only") for n in SIDES]
    return [*stops, *agents, *watched, *batches, *recordings, *worlds]


def cores(count: int) -> str:
    """How a case says on how many cores it runs."""
    return f"cores={count}"


def run_growth(case: Case, planner: PresetPlanner) -> Trial:
    """Measure one size."""
    planner.num_threads = int(case.change.removeprefix("cores="))
    # What is made once is made before anything is timed.
    planner.plan(supported_problem(replace(case, num_agents=1, num_waypoints=0), planner.models, ROOM))
    return Trial(case, plan=None, measures=_KINDS[case.suite](case, planner))


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


def _plan_fleet(case: Case, planner: PresetPlanner) -> dict[str, Any]:
    """Seconds of a plan, the solver's share, and its order against that of a longer solution."""
    problem, clock = supported_problem(case, planner.models, ROOM), Clock()
    with clock.timing("planning"):
        result = planner.plan(problem, seed=case.seed)
    return {
        "size": case.num_waypoints if case.suite == "stops" else case.num_agents,
        "parts": clock.parts,
        "is_complete": result.complete,
        "num_expanded": result.num_expanded,
        "solver_share": result.solver_share,
        "first_seconds": result.rounds[0].seconds,
        "order_ratio": _order_ratio(case, problem, result.rounds[-1].route)
        if case.change == cores(1)
        else None,
    }


def _order_ratio(case: Case, problem: Problem, route: JointRoute) -> float | None:
    """The order's length over that of an order solved for longer, both by the map; once is enough."""
    if case.change != cores(1):
        return None
    lengths = geodesic_matrix(case.maze, problem.anchors)
    usual = AutoSolver()
    long = replace(usual, num_iterations=LONG * usual.num_iterations)(lengths, problem, None)
    return route.cost(lengths) / long.cost(lengths)


def _watch_fleet(case: Case, planner: PresetPlanner) -> dict[str, Any]:
    """Where the time of a plan goes; watching slows Python, so that nothing else is told."""
    problem, watch = supported_problem(case, planner.models, ROOM), Stopwatch(PARTS)
    with watch:
        planner.plan(problem, seed=case.seed)
    return {"size": case.num_waypoints, "shares": watch.shares()}


def _plan_batch(case: Case, planner: PresetPlanner) -> dict[str, Any]:
    """Seconds for many problems with one goal each."""
    count = int(case.instance)
    problems = [
        supported_problem(replace(case, episode=number), planner.models, ROOM) for number in range(count)
    ]
    clock = Clock()
    with clock.timing("planning"):
        outcomes = planner.plan_many(problems, seeds=range(count))
    complete = sum(isinstance(outcome, PlanResult) and outcome.complete for outcome in outcomes)
    return {"size": count, "parts": clock.parts, "num_complete": complete}


def _take_recordings(case: Case, planner: PresetPlanner) -> dict[str, Any]:
    """Seconds to import recordings, to fit their density, and to build the roadmap; the world stays the same,
    and so does the distance that was learned in it."""
    count, clock = int(case.instance), Clock()
    corridors = Corridors.of_maze(case.maze)
    tracks = corridors.recordings(count, CELLS_WALKED, np.random.default_rng(case.seed))
    with tempfile.TemporaryDirectory() as folder:
        path = _written(tracks, Path(folder) / "recordings.csv")
        with clock.timing("importing"):
            import_files([path], Columns(episode="episode", time="time"), ImportParams())
    models, params = planner.models, planner.params
    with clock.timing("density"):
        density = fit_density(tracks, planner.preset.models.density, planner.preset.models.world.jump)
    with clock.timing("roadmap"):
        support = Support(density.origin, density.cell, density.support)
        build_roadmap(support, _ground(density, ground_of(models, params)))
    return {"size": count, "parts": clock.parts, "num_rows": int(tracks.shape[0] * tracks.shape[1])}


def _ground(density: GridDensity, learned: Ground) -> Ground:
    """Another density on what was learned of the same world."""
    return replace(learned, density=density, step_length=density.step_length)


def _written(tracks: FloatArray, path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("episode", "time", "x", "y"))
        for number, track in enumerate(np.round(tracks, 3).tolist()):
            writer.writerows((number, second, x, y) for second, (x, y) in enumerate(track))
    return path


def _grow_world(case: Case, planner: PresetPlanner) -> dict[str, Any]:
    """Seconds to fit a density, to build the roadmap, and to plan for an agent with five stops."""
    corridors, clock = Corridors.grown(int(case.instance), case.seed), Clock()
    rng = np.random.default_rng(case.seed)
    tracks = corridors.recordings(WALKS_PER_CELL * len(corridors), WALKS_PER_CELL, rng)
    with clock.timing("density"):
        models = GrownModels(fitted(tracks), planner.models.sampler)
    grown = Planner(models, PlannerParams(), "grown")
    with clock.timing("roadmap"):
        roadmap = grown.prepared(case.variant).roadmap
    chosen = corridors.centres[rng.choice(len(corridors), 7, replace=False)]
    with clock.timing("planning"):
        result = grown.plan(Problem(chosen[:1], chosen[1:2], chosen[2:]), variant=case.variant)
    return {
        "size": len(corridors),
        "parts": clock.parts,
        "is_complete": result.complete,
        "num_places": len(roadmap.places),
        "num_hops": len(roadmap.hops),
    }


_KINDS: dict[str, Callable[[Case, PresetPlanner], dict[str, Any]]] = {
    "stops": _plan_fleet,
    "agents": _plan_fleet,
    "watched": _watch_fleet,
    "batch": _plan_batch,
    "recordings": _take_recordings,
    "world": _grow_world,
}

SUITE = Suite("growth", "how cost grows with all that can be more", cases, run_growth, seconds=6.0)
