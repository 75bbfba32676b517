"""Dynamic programming over subsets of waypoints: the best joint routes of a small problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from chronoforest.types import FloatArray, IntArray, JointRoute, Problem


@dataclass(frozen=True)
class Tables:
    """Dynamic programming over waypoint subsets, agent by agent; R best costs are kept in each cell.

    done: [M + 1, 2^K, R], the first m agents are home and have visited the subset.
    reach: [M, 2^K, K, R], agent m stands at a waypoint, the subset is visited by then.
    Every joint route is exactly one path through the tables.
    """

    done: FloatArray
    reach: FloatArray


def tabulate(cost: FloatArray, problem: Problem, num_best: int) -> Tables:
    """The tables of a problem on [A, A]."""
    num_agents, num_waypoints = problem.num_agents, problem.num_waypoints
    done = np.full((num_agents + 1, 1 << num_waypoints, num_best), np.inf)
    reach = np.full((num_agents, 1 << num_waypoints, num_waypoints, num_best), np.inf)
    done[0, 0, 0] = 0.0
    for agent in range(num_agents):
        out, between, home, idle = _agent_costs(cost, problem, agent)
        for visits in _visits_by_size(num_waypoints):
            _visit_one_more(reach[agent], done[agent], visits, out, between)
        arrived = reach[agent] + home[:, None]
        done[agent + 1] = _best_of([done[agent] + idle, *np.moveaxis(arrived, 1, 0)], num_best)
    return Tables(done, reach)


def _visit_one_more(
    reach: FloatArray, done: FloatArray, visits: _Visits, out: FloatArray, between: FloatArray
) -> None:
    """Fill reach at subsets of one size from those that lack the waypoint stood at."""
    come = reach[visits.without] + between.T[visits.last][..., None]
    leave = done[visits.without] + out[visits.last, None]
    reach[visits.subset, visits.last] = _best_of([leave, *np.moveaxis(come, 1, 0)], reach.shape[-1])


def _best_of(candidates: Sequence[FloatArray], num_best: int) -> FloatArray:
    """The R smallest over several [n, R] arrays, sorted."""
    return np.sort(np.concatenate(candidates, axis=1))[:, :num_best]


class _Visits(NamedTuple):
    """Every subset [n] of some size with each of its waypoints as the last one [n], and without that."""

    subset: IntArray
    last: IntArray
    without: IntArray


@cache
def _visits_by_size(num_waypoints: int) -> tuple[_Visits, ...]:
    """Small subsets first; at most twelve waypoints are tabulated, so few are kept."""
    subset, last = np.nonzero(np.arange(1 << num_waypoints)[:, None] >> np.arange(num_waypoints) & 1)
    sizes = np.array([row.bit_count() for row in subset.tolist()])
    every = _Visits(subset, last, subset ^ (1 << last))
    return tuple(_Visits(*(part[sizes == size] for part in every)) for size in range(1, num_waypoints + 1))


def _agent_costs(
    cost: FloatArray, problem: Problem, agent: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """start → waypoint [K], waypoint → waypoint [K, K], waypoint → goal [K], start → goal."""
    start, goal, waypoints = problem.start_index(agent), problem.goal_index(agent), problem.waypoint_indices
    cost = np.where(problem.may_travel(agent), cost, np.inf) if problem.fix else cost
    between = cost[np.ix_(waypoints, waypoints)]
    return cost[start, waypoints], between, cost[waypoints, goal], float(cost[start, goal])


def trace(tables: Tables, cost: FloatArray, problem: Problem) -> JointRoute:
    """Walk back through the tables, last agent first."""
    subset, orders = (1 << problem.num_waypoints) - 1, []
    for agent in reversed(range(problem.num_agents)):
        visits, subset = _trace_agent(tables, cost, problem, agent, subset)
        orders.append((problem.start_index(agent), *visits, problem.goal_index(agent)))
    return JointRoute(tuple(reversed(orders)))


def _trace_agent(
    tables: Tables, cost: FloatArray, problem: Problem, agent: int, subset: int
) -> tuple[list[int], int]:
    """The agent's visits and the subset its predecessors have visited."""
    out, between, onward, leave = _agent_costs(cost, problem, agent)
    done, reach = tables.done[agent, :, 0], tables.reach[agent, :, :, 0]
    visits: list[int] = []
    while True:
        come = reach[subset] + onward
        if done[subset] + leave <= come.min(initial=np.inf):
            return [problem.waypoint_indices[k] for k in reversed(visits)], subset
        last = int(come.argmin())
        visits.append(last)
        subset ^= 1 << last
        onward, leave = between[:, last], out[last]
