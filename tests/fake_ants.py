"""Two ants that glide along a cheating plan with their legs in a fixed stance."""

from __future__ import annotations

import numpy as np
from fake_planner import FakePlanner

from chronoforest.execution.rollout import Rollout
from chronoforest.types import Problem

STANCE = np.array([0.0, 0.0, 0.55, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0])


def gliding_ants():
    """The plan's result and one rollout per agent, in the medium maze."""
    problem = Problem([[0, 0], [0, 20]], [[20, 20], [20, 0]], [[4, 4], [16, 12]])
    result = FakePlanner("antmaze-medium-stitch-v0").plan(problem)
    places = dict(zip(problem.names, problem.anchors, strict=True))
    return result, tuple(_glide(route, places) for route in result.routes)


def _glide(route, places):
    visited = np.array([places[name] for name in route.order[1:-1]]).reshape(-1, 2)
    steps = tuple(int(np.linalg.norm(route.path - place, axis=1).argmin()) for place in visited)
    poses = np.repeat(STANCE[None], len(route.path), axis=0)
    poses[:, :2] = route.path
    return Rollout(
        route.path, "none", (route.path,), (), visited, steps, np.zeros((0, 2)), 1.0, poses=poses[::2]
    )
