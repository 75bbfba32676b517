"""Figures 1, 3 and 4: maps of a search, of walks and of routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.report.moments import arrows, moment_panels
from benchmarks.report.panels import Panel, Panels, Way
from benchmarks.suites.figures import PRESET
from chronoforest.bench.metrics import is_sound
from chronoforest.bench.trials import Trial
from chronoforest.report.contents import Exhibit
from chronoforest.types import Problem, Support

if TYPE_CHECKING:
    pass


ROWS = ("temporal-fixed", "graph-fixed", "online")
RANKS = ("lowest", "median", "highest")


def figure_maps(trials: Sequence[Trial]) -> list[Exhibit]:
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
