"""Problems with some of the agents and waypoints, and routes without what cannot be visited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.types import FloatArray, JointRoute, Problem


@dataclass(frozen=True, eq=False)
class Part:
    """A problem with some of the agents and waypoints; cost: among its anchors; rows: of these in the whole
    problem."""

    cost: FloatArray
    problem: Problem
    rows: list[int]

    @classmethod
    def of(cls, cost: FloatArray, problem: Problem, agents: Sequence[int], waypoints: Iterable[int]) -> Part:
        """The part with these agents, by number, and waypoints, by their rows."""
        some, first = sorted(waypoints), problem.num_agents
        goals = [problem.goal_index(agent) for agent in agents]
        rows = [*(problem.start_index(agent) for agent in agents), *some, *goals]
        part = Problem(
            problem.starts[list(agents)],
            problem.goals[list(agents)],
            problem.waypoints[[row - first for row in some]],
        )
        return cls(cost[np.ix_(rows, rows)], part, rows)

    def inner(self, route: JointRoute) -> JointRoute:
        """Those orders of a route of the whole problem that begin in the part, with the part's rows; they
        must visit nothing else."""
        own = {row: number for number, row in enumerate(self.rows)}
        orders = (order for order in route.orders if order[0] in own)
        return JointRoute(tuple(tuple(own[row] for row in order) for order in orders))

    def outer(self, route: JointRoute) -> JointRoute:
        """A route of the part with the rows of the whole problem."""
        return JointRoute(tuple(tuple(self.rows[row] for row in order) for order in route.orders))


def finite_chains(route: JointRoute, cost: FloatArray) -> JointRoute:
    """A route without the fewest visits that leave no infinite leg on [A, A]; an agent that cannot get to its
    goal even so ends with the leg there."""
    return JointRoute(tuple(_finite_chain(order, cost) for order in route.orders))


def _finite_chain(order: Sequence[int], cost: FloatArray) -> tuple[int, ...]:
    """The longest chain of finite legs from the first anchor of an order to its last, or else to wherever; of
    two as long the cheaper."""
    steps = cost[np.ix_(order, order)]
    ranks: list[tuple[float, float]] = [(0.0, 0.0)]  # visits up to each anchor, and less what they cost
    before = [-1]
    for here in range(1, len(order)):
        come = [(count + 1.0, paid - steps[k, here]) for k, (count, paid) in enumerate(ranks)]
        come = [rank if np.isfinite(rank[1]) else (-np.inf, -np.inf) for rank in come]
        ranks.append(max(come))
        before.append(come.index(ranks[-1]))
    is_home = np.isfinite(ranks[-1][1])
    chain = [len(order) - 1 if is_home else ranks.index(max(ranks[:-1]))]
    while chain[-1] > 0:
        chain.append(before[chain[-1]])
    ends = () if is_home else (order[-1],)
    return (*(order[k] for k in reversed(chain)), *ends)
