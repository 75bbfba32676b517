"""Figures 1, 3 and 4 from plans and walks of `hamiltonian` and `stitch`, run again with their paths kept."""

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

SPACING, EVERY_FRAME, CELLS = 1.0, 5, 3
"""A record keeps points so many units apart of a path, every so many frames of a segment, and so many cells
of the support, along x and y, as one."""

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
    *moments, _ = shown_moments(orders, NUM_KEYFRAMES)
    keyframes = [_keyframe(snapshots[moment]) for moment in moments]
    anchors, names = result.problem.anchors, result.problem.names
    finished = Keyframe(
        round=result.num_rounds,
        orders=orders[-1],
        num_expanded=result.num_expanded,
        length=round(result.length, 2),
        num_segments=[len(tree.segments) for tree in result.trees],
        legs=[
            (agent, True, outline(leg_path(route, number)))
            if leg.is_met
            else (agent, False, rounded(anchors[[names.index(leg.chain[end]) for end in (0, -1)]]))
            for agent, route in enumerate(result.routes)
            for number, leg in enumerate(route.legs)
        ],
        meetings=rounded(result.meetings),
    )
    segments = []
    for tree in result.trees:
        frames = np.arange(tree.segments.shape[1])
        kept = np.unique(np.append(frames[::EVERY_FRAME], frames[-1:]))
        segments.append([rounded(one) for one in tree.segments[:, kept]])
    support, size = result.support, CELLS
    width, height = (count // size for count in support.mask.shape)
    blocks = support.mask[: width * size, : height * size].reshape(width, size, height, size)
    origin = support.origin + (size - 1) / 2 * support.cell
    ground = Support(origin, size * support.cell, blocks.mean(axis=(1, 3)) >= 0.5)
    return SearchRecord(len(flips(orders)), [*keyframes, finished], segments, ground.to_dict())


def flips(orders: Sequence[Orders]) -> list[int]:
    """The moments whose route is another one than the moment before."""
    return [k for k, (before, after) in enumerate(pairwise(orders), start=1) if before != after]


def shown_moments(orders: Sequence[Orders], limit: int) -> list[int]:
    """First, last, and both sides of every flip; fewer where those are too many, more where there is room."""
    first, last, changed = 0, len(orders) - 1, flips(orders)
    wanted = {first, last, *changed, *(k - 1 for k in changed)}
    if len(wanted) > limit:
        spread = np.linspace(len(changed) - 1, 0, min(limit - 2, len(changed))).round().astype(int)
        wanted = {first, last, *(changed[row] for row in spread)}
    while len(wanted) < min(limit, len(orders)):
        start, end = max(pairwise(sorted(wanted)), key=lambda stretch: stretch[1] - stretch[0])
        wanted.add((start + end) // 2)
    return sorted(wanted)


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
        legs=[
            (agent, True, outline(paths[leg]))
            if leg in paths
            else (agent, False, rounded(problem.anchors[list(leg)]))
            for agent, leg in legs
        ],
        meetings=rounded(np.array(list(meetings.values())).reshape(-1, 2)),
    )


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
    title = f"round {moment.round}" + (", another order" if is_new else "")
    if moment.length is not None:
        title = f"plan after {moment.round} rounds, {moment.length:.1f} units"
    elif moment.round == 0:
        title = "before the first round"
    meetings = np.array(moment.meetings).reshape(-1, 2)
    return Panel(title, arrows(moment.orders), problem, (*grown, *legs), meetings)


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

    @classmethod
    def of(cls, problem: Problem) -> ProblemPoints:
        """With so many digits as a picture shows."""
        return cls(rounded(problem.starts), rounded(problem.goals), rounded(problem.waypoints))

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
    if case.suite == "stitch":
        journey = walk_case(case, planner)
        (rollout,), problem = journey.rollouts, journey.result.problem
        way = rounded(centre_path(case.maze, problem.starts[0], problem.goals[0]))
        plans, walked = [outline(path) for path in rollout.paths], outline(rollout.xy)
        kept = WalkedFigures(ProblemPoints.of(problem), way, plans, walked)
        return Trial(case, measure_plan(journey.result, case.maze), measure_walk(rollout), figures=kept)
    problem = find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    snapshots: list[Snapshot] = []
    result = plan_problem(case, planner, problem, on_snapshot=snapshots.append)
    search = record_search(snapshots, result) if case.variant == "online" else None
    paths = [outline(route.path) for route in result.routes]
    figures = RouteFigures(ProblemPoints.of(problem), paths, search)
    return Trial(case, measure_plan(result, case.maze), figures=figures)


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
    panels = []
    for trial in sorted(trials, key=lambda trial: trial.case.task):
        kept, plan, walk = trial.figures, trial.plan, trial.walk
        if not isinstance(kept, WalkedFigures) or plan is None or walk is None:
            continue
        planned = (Way("planned", np.array(path)) for path in kept.planned)
        ways = (*planned, Way("reference", np.array(kept.reference)), Way("walked", np.array(kept.walked)))
        end = f"{walk.steps} steps" + ("" if walk.cause == "none" else f", {walk.cause}")
        note = f"BFS {plan.bfs:.0f}, plan {plan.length:.1f} units, walked in {end}"
        panels.append(Panel(f"task {trial.case.task}", note, kept.problem.problem, ways))
    title = "Walks beside the shortest ways over cells, giant maze"
    notes = ("Episode 0, seed 0 of every task, as in suite `stitch`. The BFS length is between cells.",)
    if panels:
        yield Panels("figures-walks", title, "Figure 3", PRESET, tuple(panels), notes=notes)


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
        tuple(pairs[name][variant].panel for variant in ROWS for name in chosen),
        num_columns=len(chosen),
        headings=tuple(
            f"tasks {name}: {rank} saving, {round(saving(pairs[name]), 1) + 0.0:.1f} %".replace("-", "−")
            for name, rank in chosen.items()
        ),
        notes=(
            "The first group of a pair, planned once. Saving: of online against temporal-fixed in these "
            f"plans, over the {len(pairs)} pairs that all three variants solved; Table 7 is of all groups.",
        ),
    )


@dataclass(frozen=True)
class SolvedRoute:
    """The map of a sound plan, and its length."""

    panel: Panel
    length: float


def solved_pairs(trials: Sequence[Trial]) -> dict[str, dict[str, SolvedRoute]]:
    """Sound plans by pair of tasks and variant, of the pairs that every variant solved."""
    found: dict[str, dict[str, SolvedRoute]] = {}
    for trial in trials:
        kept, plan, variant = trial.figures, trial.plan, trial.case.variant
        if isinstance(kept, RouteFigures) and plan is not None and is_sound(plan):
            ways = tuple(Way("route", np.array(path), agent) for agent, path in enumerate(kept.paths))
            title = f"{variant}, {plan.length:.1f} units"
            panel = Panel(title, arrows(plan.order), kept.problem.problem, ways)
            found.setdefault(team(trial), {})[variant] = SolvedRoute(panel, plan.length)
    return {name: plans for name, plans in found.items() if set(ROWS) <= set(plans)}


def saving(plans: Mapping[str, SolvedRoute]) -> float:
    """Per cent by which online is shorter than temporal-fixed."""
    return 100 * (1 - plans["online"].length / plans["temporal-fixed"].length)


def team(trial: Trial) -> str:
    """The tasks of a pair, as in "1-2"."""
    return "-".join(trial.case.instance.split("-")[:-2])


SUITE = Suite(
    "figures",
    "rounds, walks and routes in pictures",
    cases,
    run_figures,
    figure_maps,
    figures=(WalkedFigures, RouteFigures),
)
