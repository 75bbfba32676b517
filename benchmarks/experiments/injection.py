"""Appendix B: guidance on the denoised segment against guidance through the network into the noisy one, on
walks and on single segments before anything is pruned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.ablations import named
from benchmarks.case import Case
from benchmarks.experiments.protocol import walk_official
from benchmarks.experiments.stitch import task_problem
from benchmarks.mazes import Maze
from benchmarks.metrics import is_within
from benchmarks.references import geodesics
from benchmarks.report.tables import Entry, Sheet
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import Trial, figures_of
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.loading import PresetPlanner
from chronoforest.types import FloatArray, Query

PRESET = "antmaze-giant-stitch-v0"
INJECTIONS = {
    "denoised, ramp (ours)": "online",
    "denoised, last frame (paper)": "sparse-guidance",
    "noisy": "noisy-injection",
}
EPISODES = 10
NUM_SEGMENTS = 48


@dataclass(frozen=True)
class SegmentFigures:
    """Means over segments.

    walls: share of frames inside walls; boundary: units between the boundary and the first generated frame,
    beyond the median hop of the segment; hop: the largest between neighbours; gain: units by which the tail
    is nearer to the goal than the boundary is, at any angle round walls, over tails in free space.
    """

    walls: float
    boundary: float
    hop: float
    gain: float


def cases(request: Request) -> list[Case]:
    """For every way of injecting: walks of the official tasks, and segments sampled at their starts."""
    return [
        Case(suite, PlannerChoice(PRESET), task, episode, variant=variant)
        for suite in ("segments", "stitch")
        for episode in range(request.episodes or EPISODES)
        for task in range(1, 6)
        for variant in INJECTIONS.values()
    ]


def run_injection(case: Case, planner: PresetPlanner) -> Trial:
    """Walk, or sample segments and measure them."""
    if case.suite == "stitch":
        return walk_official(case, planner)
    problem = task_problem(case)
    sampler = planner.prepared(named(case.variant)).models.sampler
    query = Query(
        boundary=np.repeat(problem.starts, NUM_SEGMENTS, axis=0),
        target=np.repeat(problem.goals, NUM_SEGMENTS, axis=0),
        is_incoming=np.zeros(NUM_SEGMENTS, dtype=np.bool_),
        guidance=np.full(NUM_SEGMENTS, max(planner.params.search.junction.scales)),
    )
    segments = sampler(query, np.random.default_rng(case.seeds[1]))
    return Trial(case, plan=None, figures=measure_segments(segments, problem.goals[0], case.maze))


def measure_segments(segments: FloatArray, goal: FloatArray, maze: Maze) -> SegmentFigures:
    """Measure segments [n, frames, 2] that start in row 0."""
    is_free = maze.is_free(segments[:, 1:].reshape(-1, 2)).reshape(len(segments), -1)
    hops = np.linalg.norm(np.diff(segments, axis=1), axis=-1)
    tails = segments[is_free[:, -1], -1]
    lengths = geodesics(maze).matrix(np.concatenate([[goal], segments[:1, 0], tails]))[0]
    return SegmentFigures(
        walls=float(1 - is_free.mean()),
        boundary=float(np.maximum(hops[:, 0] - np.median(hops, axis=1), 0.0).mean()),
        hop=float(hops.max(axis=1).mean()),
        gain=float(np.mean(lengths[1] - lengths[2:])) if len(tails) else 0.0,
    )


CAP = 1000


def injection_table(trials: Sequence[Trial]) -> list[Exhibit]:
    """A row for every way of injecting."""
    groups = {
        label: [trial for trial in trials if trial.case.variant == variant]
        for label, variant in INJECTIONS.items()
    }
    notes = (
        "Success and falls are of walks with the whole planner, which prunes what guidance spoils.",
        f"The other columns are of single segments, {NUM_SEGMENTS} from a start, before pruning; each start "
        "counts once.",
    )
    title = "Where guidance is injected, giant maze"
    return [Sheet.of("injection", title, "appendix B, argued", groups, COLUMNS, notes)]


def _walks(trials: Sequence[Trial], is_so: Callable[[Trial], bool]) -> Entry:
    return Entry.of_share(is_so(trial) for trial in trials if trial.case.suite == "stitch")


def _segments(trials: Sequence[Trial], measure: str, scale: float = 1.0) -> Entry:
    sampled = figures_of(trials, SegmentFigures)
    return Entry.of_mean((scale * getattr(one, measure) for one in sampled), digits=2)


COLUMNS: dict[str, Callable[[Sequence[Trial]], Entry]] = {
    f"success within {CAP}, %": partial(_walks, is_so=lambda trial: is_within(trial, CAP)),
    "plans complete, %": partial(_walks, is_so=lambda t: t.plan is not None and t.plan.is_complete),
    "walks that fell, %": partial(_walks, is_so=lambda t: t.walk is not None and t.walk.num_falls > 0),
    "frames in walls, %": partial(_segments, measure="walls", scale=100.0),
    "boundary error, units": partial(_segments, measure="boundary"),
    "largest hop, units": partial(_segments, measure="hop"),
    "gained on the goal, units": partial(_segments, measure="gain"),
}


SUITE = Suite(
    "injection",
    "where guidance is injected",
    cases,
    run_injection,
    injection_table,
    figures=(SegmentFigures,),
)
