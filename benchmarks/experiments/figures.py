"""Figures 1, 3 and 4: rounds of a search, walks beside the shortest ways over cells, routes of three orders.

The plans are those of the first group of every pair of tasks in suite `hamiltonian`, and the walks those of
the first episode of every giant task in suite `stitch`, with the same seeds; here their paths are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.case import Case
from benchmarks.experiments.hamiltonian import COMPARED, instance_cases, leg_path
from benchmarks.experiments.protocol import task_cases
from benchmarks.instances import find, instance_set
from benchmarks.metrics import is_sound
from benchmarks.references import centre_path
from benchmarks.report.pictures import Panel, Panels, Way
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import Trial, measure_plan, measure_walk, plan_problem, walk_case
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.result import PlanResult
from chronoforest.presets.loading import PresetPlanner
from chronoforest.roadmap.straight import resample
from chronoforest.types import FloatArray, Problem, Snapshot, Support

NUM_KEYFRAMES = 6

SPACING = 1.0
"""Units between the points of a recorded path."""

EVERY_FRAME = 5
"""Of a tree's segment, every so many frames are recorded, and the last."""

CELLS = 3
"""So many of the support's cells, along x and y, make one of a record."""

Orders = list[list[str]]
Points = list[list[float]]


@dataclass(frozen=True)
class Keyframe:
    """A search at one moment: legs are the agent, whether the leg is met, and its path or its two ends;
    meetings: where trees touched; num_segments: of each tree by then; length: of the finished plan."""

    round: int
    orders: Orders
    num_expanded: int
    length: float | None
    num_segments: list[int]
    legs: list[tuple[int, bool, Points]]
    meetings: Points


@dataclass(frozen=True)
class SearchRecord:
    """The keyframes of a search, all segments of its trees, and the support as `Support.to_dict` has it."""

    num_flips: int
    moments: list[Keyframe]
    trees: list[list[Points]]
    support: Mapping[str, Any]


def record_search(snapshots: Sequence[Snapshot], result: PlanResult) -> SearchRecord:
    """The moments worth a picture, all segments, and the ground; the last moment is the finished plan."""
    orders = [snapshot.stats.route.named(result.problem) for snapshot in snapshots]
    orders.append([list(route.order) for route in result.routes])
    last = len(snapshots)
    moments = [
        _finished(result) if moment == last else _keyframe(snapshots[moment])
        for moment in shown_moments(orders, NUM_KEYFRAMES)
    ]
    return SearchRecord(
        len(flips(orders)),
        moments,
        [_thinned(tree.segments) for tree in result.trees],
        _coarse(result.support).to_dict(),
    )


def flips(orders: Sequence[Orders]) -> list[int]:
    """The moments whose route is another one than the moment before."""
    return [k for k, (before, after) in enumerate(pairwise(orders), start=1) if before != after]


def shown_moments(orders: Sequence[Orders], limit: int) -> list[int]:
    """First, last, and both sides of every flip; fewer where those are too many, more where there is room."""
    first, last, changed = 0, len(orders) - 1, flips(orders)
    wanted = {first, last, *changed, *(k - 1 for k in changed)}
    if len(wanted) > limit:
        wanted = {first, last, *_spread(changed, limit - 2)}
    while len(wanted) < min(limit, len(orders)):
        start, end = max(pairwise(sorted(wanted)), key=lambda stretch: stretch[1] - stretch[0])
        wanted.add((start + end) // 2)
    return sorted(wanted)


def _spread(values: Sequence[int], count: int) -> list[int]:
    """At most so many of the values, evenly over them, the last included."""
    rows = np.linspace(len(values) - 1, 0, min(count, len(values))).round().astype(int)
    return [values[row] for row in rows]


def outline(path: FloatArray) -> Points:
    """A path [T, 2] with fewer points and digits, for a record."""
    return rounded(resample(path, SPACING) if len(path) else path)


def rounded(points: FloatArray) -> Points:
    """Hundredths of a unit are enough for a picture."""
    values: Points = np.round(points, 2).tolist()
    return values


def _keyframe(snapshot: Snapshot) -> Keyframe:
    stats, problem = snapshot.stats, snapshot.problem
    legs = [(agent, leg) for agent, order in enumerate(stats.route.orders) for leg in pairwise(order)]
    paths = {(leg.source, leg.target): path for leg, path in snapshot.paths.items()}
    # A pair and the pair back meet in one place, told by the frame of either tree.
    meetings = {frozenset((pair.source, pair.target)): place for pair, place in snapshot.meetings.items()}
    return Keyframe(
        round=stats.round_index + 1,
        orders=stats.route.named(problem),
        num_expanded=stats.num_expanded,
        length=None,
        num_segments=[len(tree.segments) for tree in snapshot.trees],
        legs=[(agent, *_leg(paths.get(leg), problem.anchors[list(leg)])) for agent, leg in legs],
        meetings=rounded(np.array(list(meetings.values())).reshape(-1, 2)),
    )


def _finished(result: PlanResult) -> Keyframe:
    legs = [
        (agent, *_leg(leg_path(route, number) if leg.is_met else None, _ends(result.problem, leg.chain)))
        for agent, route in enumerate(result.routes)
        for number, leg in enumerate(route.legs)
    ]
    return Keyframe(
        round=result.num_rounds,
        orders=[list(route.order) for route in result.routes],
        num_expanded=result.num_expanded,
        length=round(result.length, 2),
        num_segments=[len(tree.segments) for tree in result.trees],
        legs=legs,
        meetings=rounded(result.meetings),
    )


def _leg(path: FloatArray | None, ends: FloatArray) -> tuple[bool, Points]:
    """Whether it is met, and its path or its two ends."""
    return (False, rounded(ends)) if path is None else (True, outline(path))


def _ends(problem: Problem, chain: Sequence[str]) -> FloatArray:
    return problem.anchors[[problem.names.index(chain[0]), problem.names.index(chain[-1])]]


def _coarse(support: Support) -> Support:
    """Larger cells, supported where at least half of what they hold is."""
    size = CELLS
    width, height = (count // size for count in support.mask.shape)
    blocks = support.mask[: width * size, : height * size].reshape(width, size, height, size)
    origin = support.origin + (size - 1) / 2 * support.cell
    return Support(origin, size * support.cell, blocks.mean(axis=(1, 3)) >= 0.5)


def _thinned(segments: FloatArray) -> list[Points]:
    rows = np.unique(np.append(np.arange(0, segments.shape[1], EVERY_FRAME), segments.shape[1] - 1))
    return [rounded(segment) for segment in segments[:, rows]]


def keyframe_panels(recorded: SearchRecord, problem: Problem) -> tuple[Panel, ...]:
    """A map for every keyframe."""
    before = [None, *(moment.orders for moment in recorded.moments[:-1])]
    return tuple(
        _panel(moment, recorded.trees, problem, is_new=previous not in (None, moment.orders))
        for moment, previous in zip(recorded.moments, before, strict=True)
    )


def _panel(moment: Keyframe, trees: Sequence[Sequence[Points]], problem: Problem, is_new: bool) -> Panel:
    grown = [
        Way("tree", np.array(segment))
        for segments, count in zip(trees, moment.num_segments, strict=True)
        for segment in segments[:count]
    ]
    legs = [
        Way("route" if is_met else "tentative", np.array(points), agent)
        for agent, is_met, points in moment.legs
    ]
    meetings = np.array(moment.meetings).reshape(-1, 2)
    return Panel(_title(moment, is_new), arrows(moment.orders), problem, (*grown, *legs), meetings)


def _title(moment: Keyframe, is_new: bool) -> str:
    if moment.length is not None:
        return f"plan after {moment.round} rounds, {moment.length:.1f} units"
    if moment.round == 0:
        return "before the first round"
    return f"round {moment.round}" + (", another order" if is_new else "")


def arrows(orders: Iterable[Sequence[str]]) -> str:
    """Who visits what, in words: S1 → W2 → G1."""
    return "    ".join(" → ".join(order) for order in orders)


PRESET = "antmaze-giant-stitch-v0"


@dataclass(frozen=True)
class ProblemPoints:
    """A problem, rounded."""

    starts: Points
    goals: Points
    waypoints: Points

    @property
    def problem(self) -> Problem:
        """As the planner takes it."""
        return Problem(self.starts, self.goals, self.waypoints)


@dataclass(frozen=True)
class WalkedFigures:
    """A walk beside its plans and the shortest way over cells."""

    problem: ProblemPoints
    reference: Points
    planned: list[Points]
    walked: Points


@dataclass(frozen=True)
class RouteFigures:
    """The paths of a plan, and its search, of an online one."""

    problem: ProblemPoints
    paths: list[Points]
    search: SearchRecord | None = None


def cases(_request: Request) -> list[Case]:
    """One walk of every task and one group of every pair; there is nothing to repeat."""
    walks = task_cases(Case("stitch", PlannerChoice(PRESET)), 1)
    return [*walks, *instance_cases(instance_set(PRESET, "own"), COMPARED, Request(1, 1), (2,))]


def run_figures(case: Case, planner: PresetPlanner) -> Trial:
    """Plan or walk, and keep what a picture needs."""
    return _KINDS[case.suite](case, planner)


def _walk(case: Case, planner: PresetPlanner) -> Trial:
    journey = walk_case(case, planner)
    (rollout,), problem = journey.rollouts, journey.result.problem
    figures = WalkedFigures(
        _problem_values(problem),
        rounded(centre_path(case.maze, problem.starts[0], problem.goals[0])),
        [outline(path) for path in rollout.paths],
        outline(rollout.xy),
    )
    return Trial(case, measure_plan(journey.result, case.maze), measure_walk(rollout), figures=figures)


def _plan(case: Case, planner: PresetPlanner) -> Trial:
    problem = find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    snapshots: list[Snapshot] = []
    result = plan_problem(case, planner, problem, on_snapshot=snapshots.append)
    search = record_search(snapshots, result) if case.variant == "online" else None
    paths = [outline(route.path) for route in result.routes]
    figures = RouteFigures(_problem_values(problem), paths, search)
    return Trial(case, measure_plan(result, case.maze), figures=figures)


_KINDS = {"stitch": _walk, "hamiltonian": _plan}


def _problem_values(problem: Problem) -> ProblemPoints:
    return ProblemPoints(rounded(problem.starts), rounded(problem.goals), rounded(problem.waypoints))


ROWS = ("temporal-fixed", "graph-fixed", "online")
RANKS = ("lowest", "median", "highest")


def figure_maps(trials: Sequence[Trial]) -> list[Exhibit]:
    """The three figures, each where there are trials for it."""
    return [*_overview(trials), *_walks(trials), *_routes(trials)]


def _overview(trials: Sequence[Trial]) -> Iterator[Panels]:
    """The search whose route changes most often, the first of them."""
    routes = [(trial, trial.figures) for trial in trials if isinstance(trial.figures, RouteFigures)]
    searches = [(trial, found.problem, found.search) for trial, found in routes if found.search]
    if not searches:
        return
    chosen, points, search = max(searches, key=lambda known: known[2].num_flips)
    yield Panels(
        "figures-rounds",
        f"Rounds of a search, tasks {team(chosen)}",
        "Figure 1",
        PRESET,
        keyframe_panels(search, points.problem),
        support=Support.from_dict(search.support),
        notes=(
            "Thin lines are the trees' segments, white discs their meetings; met legs are drawn as their "
            "paths, the others of the tentative route as dashed straight lines. The ground is the data's "
            "support: the planner knows no walls.",
            f"Instance {chosen.case.instance}; of the searches of this suite it is the first whose "
            f"tentative route changes most often, {search.num_flips} times.",
        ),
    )


def _walks(trials: Sequence[Trial]) -> Iterator[Panels]:
    walked = [(trial, trial.figures) for trial in trials if isinstance(trial.figures, WalkedFigures)]
    if walked:
        yield Panels(
            "figures-walks",
            "Walks beside the shortest ways over cells, giant maze",
            "Figure 3",
            PRESET,
            tuple(_walk_panel(*pair) for pair in sorted(walked, key=lambda pair: pair[0].case.task)),
            notes=(
                "Episode 0, seed 0 of every task, as in suite `stitch`. The BFS length is between cells.",
            ),
        )


def _walk_panel(trial: Trial, kept: WalkedFigures) -> Panel:
    assert trial.plan is not None
    assert trial.walk is not None
    ways = (
        *(Way("planned", np.array(path)) for path in kept.planned),
        Way("reference", np.array(kept.reference)),
        Way("walked", np.array(kept.walked)),
    )
    end = f"{trial.walk.steps} steps" + ("" if trial.walk.cause == "none" else f", {trial.walk.cause}")
    note = f"BFS {trial.plan.bfs:.0f}, plan {trial.plan.length:.1f} units, walked in {end}"
    return Panel(f"task {trial.case.task}", note, kept.problem.problem, ways)


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
        if isinstance(trial.figures, RouteFigures) and trial.plan is not None and is_sound(trial.plan):
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
    assert isinstance(trial.figures, RouteFigures)
    ways = tuple(Way("route", np.array(path), agent) for agent, path in enumerate(trial.figures.paths))
    title = f"{trial.case.variant}, {trial.plan.length:.1f} units"
    return Panel(title, arrows(trial.plan.order), trial.figures.problem.problem, ways)


SUITE = Suite(
    "figures",
    "rounds, walks and routes in pictures",
    cases,
    run_figures,
    figure_maps,
    figures=(WalkedFigures, RouteFigures),
)
