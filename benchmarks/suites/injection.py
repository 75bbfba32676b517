"""Appendix B: guidance on the denoised segment against guidance through the network into the noisy one.

The paper argues for the first and reports no figures. Here both are walked, and segments are sampled from
the starts of the official tasks toward their goals, to see what guidance does before anything is pruned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.suites.stitch import task_problem
from chronoforest.bench.case import Case
from chronoforest.bench.protocol import walk_official
from chronoforest.bench.references import geodesics
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial
from chronoforest.envs.mazes import Maze
from chronoforest.peers.choice import PlannerChoice
from chronoforest.types import FloatArray, Query

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

PRESET = "antmaze-giant-stitch-v0"
INJECTIONS = {
    "denoised, ramp (ours)": "online",
    "denoised, last frame (paper)": "sparse-guidance",
    "noisy": "noisy-injection",
}
EPISODES = 10
NUM_SEGMENTS = 48


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
    return _sample(case, planner) if case.suite == "segments" else walk_official(case, planner)


def _sample(case: Case, planner: PresetPlanner) -> Trial:
    problem = task_problem(case)
    sampler = planner.prepared(case.variant).models.sampler
    query = Query(
        boundary=np.repeat(problem.starts, NUM_SEGMENTS, axis=0),
        target=np.repeat(problem.goals, NUM_SEGMENTS, axis=0),
        is_incoming=np.zeros(NUM_SEGMENTS, dtype=np.bool_),
        guidance=np.full(NUM_SEGMENTS, max(planner.params.search.junction.scales)),
    )
    segments = sampler(query, np.random.default_rng(case.seeds[1]))
    return Trial(case, plan=None, measures=measure_segments(segments, problem.goals[0], case.maze))


def measure_segments(segments: FloatArray, goal: FloatArray, maze: Maze) -> dict[str, float]:
    """Means over segments [n, frames, 2] that start in row 0.

    walls: share of frames inside walls; boundary: units between the boundary and the first generated frame,
    beyond the median hop of the segment; hop: the largest between neighbours; gain: units by which the tail
    is nearer to the goal than the boundary is, at any angle round walls, over tails in free space.
    """
    is_free = maze.is_free(segments[:, 1:].reshape(-1, 2)).reshape(len(segments), -1)
    hops = np.linalg.norm(np.diff(segments, axis=1), axis=-1)
    tails = segments[is_free[:, -1], -1]
    lengths = geodesics(maze).matrix(np.concatenate([[goal], segments[:1, 0], tails]))[0]
    return {
        "walls": float(1 - is_free.mean()),
        "boundary": float(np.maximum(hops[:, 0] - np.median(hops, axis=1), 0.0).mean()),
        "hop": float(hops.max(axis=1).mean()),
        "gain": float(np.mean(lengths[1] - lengths[2:])) if len(tails) else 0.0,
    }


SUITE = Suite("injection", "where guidance is injected", cases, run_injection, seconds=5.0)
