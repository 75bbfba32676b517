"""First joint routes: waypoints are put in one by one, the one that costs most of a detour first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chronoforest.types import FloatArray, IntArray, JointRoute, Problem


def straight_home(problem: Problem) -> JointRoute:
    """Every agent from its start to its goal, without any waypoint."""
    agents = range(problem.num_agents)
    return JointRoute(tuple((problem.start_index(m), problem.goal_index(m)) for m in agents))


def insert(costs: FloatArray, route: JointRoute, waypoints: Sequence[int]) -> JointRoute:
    """A route with further waypoints in it, on finite costs [A, A], or [M, A, A] where they are not the same
    for all agents: each goes in where it costs least, the most expensive first. Those that decide who goes
    where come early, those on an agent's way last."""
    cost = np.broadcast_to(costs, (len(route.orders), *costs.shape[-2:]))
    left = np.array(waypoints, dtype=np.int64)
    follower, owner = np.full((2, cost.shape[-1]), -1, dtype=np.int64)
    for agent, order in enumerate(route.orders):
        owner[list(order)] = agent
    leaving = np.array([leg.source for leg in route.legs], dtype=np.int64)
    follower[leaving] = [leg.target for leg in route.legs]
    extra = _extra(cost, left, leaving, follower, owner)
    while len(left):
        row = int(extra.min(axis=1).argmax())
        leg, waypoint = int(extra[row].argmin()), int(left[row])
        follower[waypoint], follower[leaving[leg]] = follower[leaving[leg]], waypoint
        owner[waypoint] = owner[leaving[leg]]
        leaving = np.append(leaving, waypoint)
        left, extra = np.delete(left, row), np.delete(extra, row, axis=0)
        changed = _extra(cost, left, leaving[[leg, -1]], follower, owner)
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


def _extra(
    cost: FloatArray, waypoints: IntArray, leaving: IntArray, follower: IntArray, owner: IntArray
) -> FloatArray:
    """[waypoints, legs] what the detour over a waypoint adds to a leg."""
    arriving, agent = follower[leaving], owner[leaving]
    out, back = cost[agent, leaving, waypoints[:, None]], cost[agent, waypoints[:, None], arriving]
    return np.asarray(out + back - cost[agent, leaving, arriving])


def _order(start: int, goal: int, follower: IntArray) -> tuple[int, ...]:
    order = [start]
    while order[-1] != goal:
        order.append(int(follower[order[-1]]))
    return tuple(order)


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
        numbers = {agent: number for number, agent in enumerate(agents)}
        rules = [problem.rules[row - first] for row in some]
        part = Problem(
            problem.starts[list(agents)],
            problem.goals[list(agents)],
            problem.waypoints[[row - first for row in some]],
            fix=[(owner if owner is None else numbers.get(owner, -1), place) for owner, place in rules],
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
