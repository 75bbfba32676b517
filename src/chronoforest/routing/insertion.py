"""First joint routes: waypoints are put in one by one, the one that costs most of a detour first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chronoforest.types import FloatArray, IntArray, JointRoute, Problem


def straight_home(problem: Problem) -> JointRoute:
    """Every agent from its start to its goal, without any waypoint."""
    agents = range(problem.num_agents)
    return JointRoute(tuple((problem.start_index(m), problem.goal_index(m)) for m in agents))


def insert(cost: FloatArray, route: JointRoute, waypoints: Sequence[int]) -> JointRoute:
    """A route with further waypoints in it, on finite [A, A] costs: each goes in where it costs least, the
    most expensive first. Those that decide who goes where come early, those on an agent's way last."""
    left = np.array(waypoints, dtype=np.int64)
    follower = np.full(len(cost), -1, dtype=np.int64)
    leaving = np.array([leg.source for leg in route.legs], dtype=np.int64)
    follower[leaving] = [leg.target for leg in route.legs]
    extra = _extra(cost, left, leaving, follower)
    while len(left):
        row = int(extra.min(axis=1).argmax())
        leg, waypoint = int(extra[row].argmin()), int(left[row])
        follower[waypoint], follower[leaving[leg]] = follower[leaving[leg]], waypoint
        leaving = np.append(leaving, waypoint)
        left, extra = np.delete(left, row), np.delete(extra, row, axis=0)
        changed = _extra(cost, left, leaving[[leg, -1]], follower)
        extra[:, leg] = changed[:, 0]
        extra = np.column_stack([extra, changed[:, 1]])
    return JointRoute(tuple(_order(order[0], order[-1], follower) for order in route.orders))


def far_apart_first(cost: FloatArray, problem: Problem) -> list[int]:
    """The waypoints, each as far as can be from those before it and from every start and goal."""
    waypoints = np.array(problem.waypoint_indices, dtype=np.int64)
    ends = np.setdiff1d(np.arange(problem.num_anchors), waypoints)
    apart = np.minimum(cost, cost.T)
    gap = apart[np.ix_(waypoints, ends)].min(axis=1)
    found: list[int] = []
    while len(found) < len(waypoints):
        row = int(gap.argmax())
        found.append(int(waypoints[row]))
        gap = np.minimum(gap, apart[waypoints, waypoints[row]])
        gap[row] = -np.inf
    return found


def _extra(cost: FloatArray, waypoints: IntArray, leaving: IntArray, follower: IntArray) -> FloatArray:
    """[waypoints, legs] what the detour over a waypoint adds to a leg."""
    arriving = follower[leaving]
    out, back = cost[np.ix_(leaving, waypoints)].T, cost[np.ix_(waypoints, arriving)]
    return np.asarray(out + back - cost[leaving, arriving])


def _order(start: int, goal: int, follower: IntArray) -> tuple[int, ...]:
    order = [start]
    while order[-1] != goal:
        order.append(int(follower[order[-1]]))
    return tuple(order)
