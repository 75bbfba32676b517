"""Figures 1, 3 and 4: rounds of a search, walks beside the shortest ways over cells, routes of three orders.

The plans are those of the first group of every pair of tasks in suite `hamiltonian`, and the walks those of
the first episode of every giant task in suite `stitch`, with the same seeds; here their paths are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chronoforest.bench.metrics import is_sound
from chronoforest.bench.paper.exhibits import Exhibit, Panel, Panels, Way
from chronoforest.bench.paper.hamiltonian import VARIANTS, instance_cases
from chronoforest.bench.paper.instances import find, instance_set
from chronoforest.bench.paper.overview import arrows, moment_panels, outline, record_search, rounded
from chronoforest.bench.paper.suite import Effort, Suite
from chronoforest.bench.references import centre_path
from chronoforest.bench.suites import Case, make_cases
from chronoforest.bench.trials import Trial, attempt, measure_plan, measure_walk, plan_problem, walk_case
from chronoforest.types import Problem, Snapshot, Support

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "antmaze-giant-stitch-v0"
ROWS = ("temporal-fixed", "graph-fixed", "online")
RANKS = ("lowest", "median", "highest")


def cases(effort: Effort) -> list[Case]:
    """One walk of every task and one group of every pair; there is nothing to repeat."""
    walks = make_cases(Case("stitch", PRESET, 0, 0), 1)
    return [*walks, *instance_cases(instance_set(PRESET, "own"), VARIANTS, Effort(1, 1), (2,))]


def run_figures(case: Case, planner: PresetPlanner) -> Trial:
    """Plan or walk, and keep what a picture needs."""
    return attempt(case, lambda: _RUNS[case.suite](case, planner))


def _walk(case: Case, planner: PresetPlanner) -> Trial:
    journey = walk_case(case, planner)
    (rollout,), problem = journey.rollouts, journey.result.problem
    measures = {
        "problem": _problem_values(problem),
        "reference": rounded(centre_path(case.maze, problem.starts[0], problem.goals[0])),
        "planned": [outline(path) for path in rollout.paths],
        "walked": outline(rollout.xy),
    }
    return Trial(case, measure_plan(journey.result, case.maze), measure_walk(rollout), measures=measures)


def _plan(case: Case, planner: PresetPlanner) -> Trial:
    problem = find(case.preset, case.distance, case.instance).problem(case.maze)
    snapshots: list[Snapshot] = []
    result = plan_problem(case, planner, problem, on_snapshot=snapshots.append)
    measures: dict[str, Any] = {
        "problem": _problem_values(problem),
        "paths": [outline(route.path) for route in result.routes],
    }
    if case.variant == "online":
        measures["search"] = record_search(snapshots, result)
    return Trial(case, measure_plan(result, case.maze), measures=measures)


_RUNS = {"stitch": _walk, "hamiltonian": _plan}


def _problem_values(problem: Problem) -> dict[str, Any]:
    parts = {"starts": problem.starts, "goals": problem.goals, "waypoints": problem.waypoints}
    return {name: rounded(points) for name, points in parts.items()}


def exhibits(trials: Sequence[Trial]) -> list[Exhibit]:
    """The three figures, each where there are trials for it."""
    return [*_overview(trials), *_walks(trials), *_routes(trials)]


def _overview(trials: Sequence[Trial]) -> Iterator[Panels]:
    """The search whose route changes most often, the first of them."""
    searches = [trial for trial in trials if "search" in trial.measures]
    if not searches:
        return
    chosen = max(searches, key=lambda trial: int(trial.measures["search"]["num_flips"]))
    search = chosen.measures["search"]
    yield Panels(
        "figures-rounds",
        f"Rounds of a search, tasks {team(chosen)}",
        "Figure 1",
        PRESET,
        moment_panels(search, Problem(**chosen.measures["problem"])),
        support=Support.from_dict(search["support"]),
        notes=(
            "Thin lines are the trees' segments, white discs their meetings; met legs are drawn as their "
            "paths, the others of the tentative route as dashed straight lines. The ground is the data's "
            "support: the planner knows no walls.",
            f"Instance {chosen.case.instance}; of the searches of this suite it is the first whose "
            f"tentative route changes most often, {search['num_flips']} times.",
        ),
    )


def _walks(trials: Sequence[Trial]) -> Iterator[Panels]:
    walked = sorted((t for t in trials if "walked" in t.measures), key=lambda trial: trial.case.task)
    if walked:
        yield Panels(
            "figures-walks",
            "Walks beside the shortest ways over cells, giant maze",
            "Figure 3",
            PRESET,
            tuple(_walk_panel(trial) for trial in walked),
            notes=(
                "Episode 0, seed 0 of every task, as in suite `stitch`. The BFS length is between cells.",
            ),
        )


def _walk_panel(trial: Trial) -> Panel:
    assert trial.plan is not None
    assert trial.walk is not None
    kept = trial.measures
    ways = (
        *(Way("planned", np.array(path)) for path in kept["planned"]),
        Way("reference", np.array(kept["reference"])),
        Way("walked", np.array(kept["walked"])),
    )
    end = f"{trial.walk.steps} steps" + ("" if trial.walk.cause == "none" else f", {trial.walk.cause}")
    note = f"BFS {trial.plan.bfs:.0f}, plan {trial.plan.length:.1f} units, walked in {end}"
    return Panel(f"task {trial.case.task}", note, Problem(**kept["problem"]), ways)


def _routes(trials: Sequence[Trial]) -> Iterator[Panels]:
    pairs = solved_pairs(trials)
    if not pairs:
        return
    ranked = sorted(pairs, key=lambda name: saving(pairs[name]))
    chosen = {ranked[place]: rank for rank, place in zip(RANKS, (0, (len(ranked) - 1) // 2, -1), strict=True)}
    yield Panels(
        "figures-routes",
        "Routes of three orders for two agents",
        "Figure 4",
        PRESET,
        tuple(_route_panel(pairs[name][variant]) for variant in ROWS for name in chosen),
        num_columns=len(chosen),
        headings=tuple(
            f"tasks {name}: {rank} saving, {signed(saving(pairs[name]))} %" for name, rank in chosen.items()
        ),
        notes=(
            "The first group of a pair, planned once. Saving: of online against temporal-fixed in these "
            f"plans, over the {len(pairs)} pairs that all three variants solved; Table 7 is of all groups.",
        ),
    )


def solved_pairs(trials: Sequence[Trial]) -> dict[str, dict[str, Trial]]:
    """Sound plans by pair of tasks and variant, of the pairs that every variant solved."""
    found: dict[str, dict[str, Trial]] = {}
    for trial in trials:
        if "paths" in trial.measures and trial.plan is not None and is_sound(trial.plan):
            found.setdefault(team(trial), {})[trial.case.variant] = trial
    return {name: plans for name, plans in found.items() if set(ROWS) <= set(plans)}


def saving(plans: Mapping[str, Trial]) -> float:
    """Per cent by which online is shorter than temporal-fixed."""
    return 100 * (1 - _length(plans["online"]) / _length(plans["temporal-fixed"]))


def team(trial: Trial) -> str:
    """The tasks of a pair, as in "1-2"."""
    return "-".join(trial.case.instance.split("-")[:-2])


def signed(value: float) -> str:
    """A tenth of precision, with a minus for what is below zero then."""
    return f"{round(value, 1) + 0.0:.1f}".replace("-", "−")


def _length(trial: Trial) -> float:
    assert trial.plan is not None
    return trial.plan.length


def _route_panel(trial: Trial) -> Panel:
    assert trial.plan is not None
    ways = tuple(Way("route", np.array(path), agent) for agent, path in enumerate(trial.measures["paths"]))
    title = f"{trial.case.variant}, {trial.plan.length:.1f} units"
    return Panel(title, arrows(trial.plan.order), Problem(**trial.measures["problem"]), ways)


SUITE = Suite(
    "figures", "rounds, walks and routes in pictures", cases, exhibits, seconds=12.0, run=run_figures
)
