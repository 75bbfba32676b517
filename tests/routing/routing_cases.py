"""Instances shared by the routing tests."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from chronoforest.types import FloatArray, JointRoute, Meeting, Pair, Problem


def make_problem(num_agents: int, num_waypoints: int) -> Problem:
    """A problem whose anchors are just distinct; the routing folder looks at costs only."""
    points = np.stack([np.arange(2.0 * num_agents + num_waypoints)] * 2, axis=1)
    return Problem(
        starts=points[:num_agents],
        goals=points[num_agents + num_waypoints :],
        waypoints=points[num_agents : num_agents + num_waypoints],
    )


def random_cost(num_anchors: int, rng: np.random.Generator, is_symmetric: bool) -> FloatArray:
    cost = rng.uniform(1.0, 100.0, (num_anchors, num_anchors))
    cost = (cost + cost.T) / 2 if is_symmetric else cost
    np.fill_diagonal(cost, 0.0)
    return cost


def all_routes(problem: Problem) -> list[JointRoute]:
    """Every joint route once: each order of the waypoints, cut into one part per agent."""
    num_agents, num_waypoints = problem.num_agents, problem.num_waypoints
    cuts = [c for c in product(range(num_waypoints + 1), repeat=num_agents - 1) if list(c) == sorted(c)]
    return [
        JointRoute(
            tuple(
                (problem.start_index(m), *order[low:high], problem.goal_index(m))
                for m, (low, high) in enumerate(zip((0, *cut), (*cut, num_waypoints), strict=True))
            )
        )
        for order in permutations(problem.waypoint_indices)
        for cut in cuts
    ]


def meeting(source: int, target: int, cost: float = 10.0, gap: float = 1.0) -> Meeting:
    return Meeting(Pair(source, target), cost, gap, source_frame=100 + source, target_frame=200 + target)
